// fails: (cannot convert|no viable conversion|no matching|no known conversion)
#include "elbowroom/interop/cuda.hpp"

using namespace elbowroom;

Result<Stream> made(CUstream_st* stream) {
#ifdef CONTROL
  return interop::stream(DeviceIndex{1}, stream);
#else
  return interop::stream(1, stream);
#endif
}
