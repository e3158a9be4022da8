// fails: no match for .operator\+|invalid operands to binary expression
#include "elbowroom/base/quantities.hpp"

using namespace elbowroom;

#ifdef CONTROL
auto sum = BlocksPerSm(1) + BlocksPerSm(2);
#else
auto sum = Bytes(1) + BlocksPerSm(2);
#endif
