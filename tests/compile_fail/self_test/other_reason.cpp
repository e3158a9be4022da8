// fails: no match for .operator
#ifdef CONTROL
int other_reason = 0;
#else
int other_reason = undeclared;
#endif
