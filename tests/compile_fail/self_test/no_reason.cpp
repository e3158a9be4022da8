int no_reason = 0;
