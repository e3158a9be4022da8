// fails: no match for .operator<|invalid operands to binary expression
#include "elbowroom/base/quantities.hpp"

using namespace elbowroom;

#ifdef CONTROL
bool fewer = Blocks(1) < Blocks(2);
#else
bool fewer = Blocks(1) < BlocksPerSm(2);
#endif
