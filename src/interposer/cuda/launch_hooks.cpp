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

template <auto Ours, DefaultStream kDefault>
[[gnu::noinline]] int decide(cu::Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                             unsigned block_y, unsigned block_z, unsigned shared_bytes, cu::Stream stream, void** parameters,
                             void** extra) {
  return launch({plain_config(grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream), function, parameters, extra,
                 kDefault},
                &original_kernel<Ours>);
}

// What needs no decision goes on with its arguments where they lie: both calls are jumps.
template <auto Ours, DefaultStream kDefault, class... Rest>
int launch_kernel(cu::Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, Rest... rest) {
  const auto known = reinterpret_cast<decltype(Ours)>(hook_state<Ours>.real.load(std::memory_order_acquire));
  const std::uint64_t blocks = std::uint64_t{grid_x} * grid_y * grid_z;
  return known != nullptr && driver::fast_path.take(driver::id_of(function), blocks)
             ? known(function, grid_x, grid_y, grid_z, rest...)
             : decide<Ours, kDefault>(function, grid_x, grid_y, grid_z, rest...);
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

int cuLaunchKernel(cu::Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                   unsigned block_z, unsigned shared_bytes, cu::Stream stream, void** parameters, void** extra) {
  return launch_kernel<&cuLaunchKernel, kLegacy>(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream,
                                                 parameters, extra);
}

int cuLaunchKernel_ptsz(cu::Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, cu::Stream stream, void** parameters,
                        void** extra) {
  return launch_kernel<&cuLaunchKernel_ptsz, kPerThread>(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes,
                                                         stream, parameters, extra);
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
