// fails: no match for .operator<|invalid operands to binary expression
#include "headroom/base/quantities.hpp"

using namespace headroom;

#ifdef CONTROL
bool fewer = Blocks(1) < Blocks(2);
#else
bool fewer = Blocks(1) < BlocksPerSm(2);
#endif
