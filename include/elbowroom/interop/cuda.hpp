#pragma once

#include "elbowroom/interop/typed.hpp"

/// CUDA's streams and functions as Elbowroom's, and back. Needs no toolkit: CUDA's handles are pointers to types that its headers
/// declare and never define, and declaring them again is allowed. The application includes CUDA's own headers for its own calls.
struct CUstream_st;
struct CUfunc_st;

namespace elbowroom::interop {

/// `handle` is a cudaStream_t or CUstream of the device. `invalid_input` for the null stream: it waits for all others, and they for
/// it, so that nothing overlaps.
inline Result<Stream> stream(DeviceIndex device, CUstream_st* handle) { return detail::stream_of("cuda", device, handle); }

/// The cudaStream_t or CUstream of a session's stream, for the application's own calls. `invalid_input` for another vendor's.
inline Result<CUstream_st*> cuda_stream(const Stream& of) { return detail::native_of<CUstream_st>("cuda", of); }

/// `function` is a CUfunction of that kernel: what cudaGetFuncBySymbol gives, or cuModuleGetFunction. It is of the device that was
/// current when it was looked up. Parameters by hand: kernel<float*, int>(function).
template <class... Parameters>
Result<KernelOf<Parameters...>> kernel(CUfunc_st* function) {
  return detail::kernel_of<Parameters...>("cuda", function);
}

/// Parameters of a `__global__` function: kernel(scale, function).
template <class... Parameters>
Result<KernelOf<Parameters...>> kernel(void (* /*symbol*/)(Parameters...), CUfunc_st* function) {
  return detail::kernel_of<Parameters...>("cuda", function);
}

}  // namespace elbowroom::interop
