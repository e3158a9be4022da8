// fails: could not convert|cannot convert|no viable conversion|no matching function
#include "headroom/base/quantities.hpp"

using namespace headroom;

Bytes pad_of(Bytes dynamic_shared) { return dynamic_shared; }

#ifdef CONTROL
Bytes pad = pad_of(Bytes(56));
#else
Bytes pad = pad_of(Registers(56));
#endif
