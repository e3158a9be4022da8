// fails: not declared|undeclared identifier
int broken_control = undeclared;
