#include "interposer/cuda/hooked_functions.hpp"
#include "interposer/cuda/interposer.hpp"
#include "interposer/cuda/launch.hpp"

namespace elbowroom::interposer::cuda {
namespace {

template <auto Ours>
int original_kernel(const LaunchRequest& request) {
  const cu::LaunchConfig& c = request.config;
  return call_real<Ours>(request.function, c.grid_x, c.grid_y, c.grid_z, c.block_x, c.block_y, c.block_z, c.shared_bytes, c.stream,
                         request.parameters, request.extra);
}

template <auto Ours>
int original_kernel_ex(const LaunchRequest& request) {
  return call_real<Ours>(&request.config, request.function, request.parameters, request.extra);
}

template <auto Ours>
int original_cooperative(const LaunchRequest& request) {
  const cu::LaunchConfig& c = request.config;
  return call_real<Ours>(request.function, c.grid_x, c.grid_y, c.grid_z, c.block_x, c.block_y, c.block_z, c.shared_bytes, c.stream,
                         request.parameters);
}

cu::LaunchConfig plain_config(unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                              unsigned block_z, unsigned shared_bytes, cu::Stream stream) {
  return {grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, nullptr, 0};
}

/// The arguments that x86-64 passes on the stack, as one object, which lies where they do.
struct OnStack {
  unsigned block_z;
  alignas(8) unsigned shared_bytes;
  alignas(8) cu::Stream stream;
  void** parameters;
  void** extra;
};

template <auto Ours, DefaultStream kDefault, class... Rest>
int decide(cu::Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
           Rest... rest) {
  const OnStack last{rest...};
  return launch({plain_config(grid_x, grid_y, grid_z, block_x, block_y, last.block_z, last.shared_bytes, last.stream), function,
                 last.parameters, last.extra, kDefault},
                &original_kernel<Ours>);
}

// A null configuration is the driver's to refuse.
template <auto Ours>
int launch_ex(const cu::LaunchConfig* config, cu::Function function, void** parameters, void** extra,
              DefaultStream default_stream) {
  if (config == nullptr) { return call_real<Ours>(config, function, parameters, extra); }
  return launch({*config, function, parameters, extra, default_stream}, &original_kernel_ex<Ours>);
}

}  // namespace
}  // namespace elbowroom::interposer::cuda

using namespace elbowroom::interposer::cuda;

#if defined(__x86_64__)
// What needs no decision goes on to the driver with its arguments where they lie: the call is a jump. One by one, compilers load
// and store those on the stack, which costs as much as all the rest of a launch at rest.
extern "C" [[gnu::visibility("default")]] int elbowroom_launch_kernel(cu::Function, unsigned, unsigned, unsigned, unsigned,
                                                                      unsigned, OnStack) __asm__("cuLaunchKernel");
int elbowroom_launch_kernel(cu::Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                            unsigned block_y, OnStack rest) {
  namespace driver = elbowroom::interposer::driver;
  const auto known = reinterpret_cast<decltype(&elbowroom_launch_kernel)>(hook_state<&cuLaunchKernel>.real.load());
  const bool goes_on = known != nullptr && driver::fast_path.take_at_rest(driver::id_of(function));
  return (goes_on ? known : &decide<&cuLaunchKernel, kLegacy, OnStack>)(function, grid_x, grid_y, grid_z, block_x, block_y, rest);
}
#else
int cuLaunchKernel(cu::Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                   unsigned block_z, unsigned shared_bytes, cu::Stream stream, void** parameters, void** extra) {
  return decide<&cuLaunchKernel, kLegacy>(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream,
                                          parameters, extra);
}
#endif

int cuLaunchKernel_ptsz(cu::Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, cu::Stream stream, void** parameters,
                        void** extra) {
  return decide<&cuLaunchKernel_ptsz, kPerThread>(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream,
                                                  parameters, extra);
}

int cuLaunchKernelEx(const cu::LaunchConfig* config, cu::Function function, void** parameters, void** extra) {
  return launch_ex<&cuLaunchKernelEx>(config, function, parameters, extra, DefaultStream::kLegacy);
}

int cuLaunchKernelEx_ptsz(const cu::LaunchConfig* config, cu::Function function, void** parameters, void** extra) {
  return launch_ex<&cuLaunchKernelEx_ptsz>(config, function, parameters, extra, DefaultStream::kPerThread);
}

int cuLaunchCooperativeKernel(cu::Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                              unsigned block_y, unsigned block_z, unsigned shared_bytes, cu::Stream stream, void** parameters) {
  return launch({plain_config(grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream), function, parameters,
                 nullptr, DefaultStream::kLegacy, true},
                &original_cooperative<&cuLaunchCooperativeKernel>);
}

int cuLaunchCooperativeKernel_ptsz(cu::Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                   unsigned block_y, unsigned block_z, unsigned shared_bytes, cu::Stream stream,
                                   void** parameters) {
  return launch({plain_config(grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream), function, parameters,
                 nullptr, DefaultStream::kPerThread, true},
                &original_cooperative<&cuLaunchCooperativeKernel_ptsz>);
}
