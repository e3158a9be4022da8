// fails: could not convert|cannot convert|no viable conversion|no matching function
#include "elbowroom/base/quantities.hpp"

using namespace elbowroom;

Bytes pad_of(Bytes dynamic_shared) { return dynamic_shared; }

#ifdef CONTROL
Bytes pad = pad_of(Bytes(56));
#else
Bytes pad = pad_of(Registers(56));
#endif
