// fails: no match
int accepted = 0;
