#include "interposer/cuda/hooked_functions.hpp"
#include "interposer/cuda/interposer.hpp"
#include "interposer/cuda/launch.hpp"
#include "interposer/cuda/launch_gate.hpp"
#include "interposer/driver/passing.hpp"

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

/// The driver's function, where the program is left alone and the kernel needs nobody's attention; otherwise null.
template <auto Ours>
[[gnu::always_inline]] inline decltype(Ours) function_at_rest(cu::Function function) {
  const std::atomic<std::uint64_t>* const known = launch_gate.rest.known.load(std::memory_order_acquire);
  if (known == nullptr) { return nullptr; }
  if (known[RestGate::place(id_of(function))].load(std::memory_order_relaxed) != id_of(function)) { return nullptr; }
  void* const real = hook_state<Ours>.real.load(std::memory_order_acquire);
  if (real != nullptr) { launch_gate.rest.launches.fetch_add(1, std::memory_order_relaxed); }
  return reinterpret_cast<decltype(Ours)>(real);
}

/// The driver's function, where the launch takes the short way to it; otherwise null.
template <auto Ours>
[[gnu::always_inline]] inline decltype(Ours) short_way(PassingThread& thread, const LaunchShape& shape, StreamId stream) {
  void* const real = hook_state<Ours>.real.load(std::memory_order_acquire);
  const bool taken = real != nullptr && thread.take(launch_gate.pass, shape, stream, ticks());
  return taken ? reinterpret_cast<decltype(Ours)>(real) : nullptr;
}

// Only where the thread was told something, and so after the driver was found.
StreamId stream_of(cu::Stream stream, DefaultStream default_stream) {
  if (!driver::is_default_stream<Driver>(stream)) { return id_of(stream); }
  cu::Context current = nullptr;
  if (launch_gate.current_context(&current) != cu::kSuccess) { current = nullptr; }
  return driver::default_stream_id<Driver>(stream, default_stream, Driver::context_id(current));
}

/// The hook of an entry that takes the launch in its arguments. It hands them on as they lie. What is called last takes the place
/// of the caller, and the short way keeps nothing on the stack.
template <auto Ours, DefaultStream kDefault>
struct KernelHook {
  [[gnu::always_inline]] static int call(cu::Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                         unsigned block_y, unsigned block_z, unsigned shared_bytes, cu::Stream stream,
                                         void** parameters, void** extra) {
    if (const auto real = function_at_rest<Ours>(function)) {
      return real(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, parameters, extra);
    }
    PassingThread* const thread = driver::told_thread<Driver>();
    if (thread == nullptr) {
      return long_way(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, parameters, extra);
    }
    if (driver::is_default_stream<Driver>(stream)) {
      return on_default_stream(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, parameters,
                               extra);
    }
    const LaunchShape shape{id_of(function), {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes};
    const auto real = short_way<Ours>(*thread, shape, id_of(stream));
    if (real == nullptr) {
      return long_way(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, parameters, extra);
    }
    return real(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, parameters, extra);
  }

  /// Of a thread that was told something.
  [[gnu::noinline]] static int on_default_stream(cu::Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                                 unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                                 cu::Stream stream, void** parameters, void** extra) {
    const StreamId id = stream_of(stream, kDefault);
    const LaunchShape shape{id_of(function), {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes};
    const auto real = short_way<Ours>(driver::OwnThread<Driver>::thread, shape, id);
    if (real != nullptr) {
      return real(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, parameters, extra);
    }
    return launch({plain_config(grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream), function, parameters,
                   extra, kDefault, false, id},
                  {&original_kernel<Ours>});
  }

  [[gnu::noinline]] static int long_way(cu::Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                        unsigned block_y, unsigned block_z, unsigned shared_bytes, cu::Stream stream,
                                        void** parameters, void** extra) {
    return launch({plain_config(grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream), function, parameters,
                   extra, kDefault},
                  {&original_kernel<Ours>});
  }
};

// A null configuration is the driver's to refuse.
template <auto Ours>
int launch_ex(const cu::LaunchConfig* config, cu::Function function, void** parameters, void** extra,
              DefaultStream default_stream) {
  if (config == nullptr) { return call_real<Ours>(config, function, parameters, extra); }
  if (const auto real = function_at_rest<Ours>(function)) { return real(config, function, parameters, extra); }
  LaunchRequest request{*config, function, parameters, extra, default_stream};
  PassingThread* const thread = driver::told_thread<Driver>();
  const std::uint32_t cluster = thread == nullptr ? 0 : config->attribute_count == 0 ? 1 : cluster_in_order(*config);
  if (cluster != 0) {
    request.stream = stream_of(config->stream, default_stream);
    const LaunchShape shape{id_of(function),
                            {config->grid_x, config->grid_y, config->grid_z},
                            {config->block_x, config->block_y, config->block_z},
                            config->shared_bytes,
                            cluster};
    const auto real = short_way<Ours>(*thread, shape, request.stream);
    if (real != nullptr) { return real(config, function, parameters, extra); }
  }
  return launch(request, {&original_kernel_ex<Ours>});
}

}  // namespace
}  // namespace elbowroom::interposer::cuda

using namespace elbowroom::interposer::cuda;

int cuLaunchKernel(cu::Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                   unsigned block_z, unsigned shared_bytes, cu::Stream stream, void** parameters, void** extra) {
  return KernelHook<&cuLaunchKernel, DefaultStream::kLegacy>::call(function, grid_x, grid_y, grid_z, block_x, block_y, block_z,
                                                                   shared_bytes, stream, parameters, extra);
}

int cuLaunchKernel_ptsz(cu::Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, cu::Stream stream, void** parameters,
                        void** extra) {
  return KernelHook<&cuLaunchKernel_ptsz, DefaultStream::kPerThread>::call(function, grid_x, grid_y, grid_z, block_x, block_y,
                                                                           block_z, shared_bytes, stream, parameters, extra);
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
                {&original_cooperative<&cuLaunchCooperativeKernel>});
}

int cuLaunchCooperativeKernel_ptsz(cu::Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                   unsigned block_y, unsigned block_z, unsigned shared_bytes, cu::Stream stream,
                                   void** parameters) {
  return launch({plain_config(grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream), function, parameters,
                 nullptr, DefaultStream::kPerThread, true},
                {&original_cooperative<&cuLaunchCooperativeKernel_ptsz>});
}
