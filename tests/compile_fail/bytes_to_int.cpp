// fails: cannot convert .*Quantity.* to .*long|no viable conversion from .*Quantity|no viable conversion from .Bytes
#include <cstdint>

#include "elbowroom/base/quantities.hpp"

using namespace elbowroom;

#ifdef CONTROL
std::int64_t pad = Bytes(1024).count();
#else
std::int64_t pad = Bytes(1024);
#endif
