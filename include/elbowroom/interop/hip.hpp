#pragma once

#include "elbowroom/interop/typed.hpp"

/// HIP's streams and functions as Elbowroom's, and back. Needs no ROCm: HIP's handles are pointers to types that its headers
/// declare and never define, and declaring them again is allowed. The application includes HIP's own headers for its own calls.
struct ihipStream_t;
struct ihipModuleSymbol_t;

namespace elbowroom::interop {

/// `handle` is a hipStream_t of the device. `invalid_input` for the null stream: it waits for all others, and they for it, so that
/// nothing overlaps.
inline Result<Stream> stream(DeviceIndex device, ihipStream_t* handle) { return detail::stream_of("hip", device, handle); }

/// The hipStream_t of a session's stream, for the application's own calls. `invalid_input` for another vendor's.
inline Result<ihipStream_t*> hip_stream(const Stream& of) { return detail::native_of<ihipStream_t>("hip", of); }

/// `function` is a hipFunction_t of that kernel: what hipGetFuncBySymbol or hipModuleGetFunction gives. It is of the device that
/// was current when it was looked up. Parameters by hand: kernel<float*, int>(function).
template <class... Parameters>
Result<KernelOf<Parameters...>> kernel(ihipModuleSymbol_t* function) {
  return detail::kernel_of<Parameters...>("hip", function);
}

/// Parameters of a `__global__` function: kernel(scale, function).
template <class... Parameters>
Result<KernelOf<Parameters...>> kernel(void (* /*symbol*/)(Parameters...), ihipModuleSymbol_t* function) {
  return detail::kernel_of<Parameters...>("hip", function);
}

}  // namespace elbowroom::interop
