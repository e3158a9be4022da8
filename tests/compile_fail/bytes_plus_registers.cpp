// fails: no match for .operator\+|invalid operands to binary expression
#include "elbowroom/base/quantities.hpp"

using namespace elbowroom;

#ifdef CONTROL
auto sum = Bytes(1) + Bytes(2);
#else
auto sum = Bytes(1) + Registers(2);
#endif
