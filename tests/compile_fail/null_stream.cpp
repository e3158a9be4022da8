// fails: (use of deleted function|call to deleted function)
#include "elbowroom/interop/cuda.hpp"

using namespace elbowroom;

#ifdef CONTROL
Result<Stream> made(CUstream_st* stream) { return interop::stream(DeviceIndex{0}, stream); }
#else
Result<Stream> made() { return interop::stream(DeviceIndex{0}, nullptr); }
#endif
