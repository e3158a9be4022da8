#include "interposer/hip/hooked_functions.hpp"
#include "interposer/hip/launch.hpp"

namespace elbowroom::interposer::hip {
namespace {

LaunchRequest of_host_function(const void* function, hip::Dim3 grid, hip::Dim3 block, void** arguments, std::size_t shared_bytes,
                               hip::Stream stream) {
  return {
      .function = function, .grid = grid, .block = block, .shared_bytes = shared_bytes, .stream = stream, .parameters = arguments};
}

LaunchRequest of_module(hip::Function function, hip::Dim3 grid, hip::Dim3 block, std::size_t shared_bytes, hip::Stream stream,
                        void** parameters, void** extra) {
  LaunchRequest request = of_host_function(function, grid, block, parameters, shared_bytes, stream);
  request.host_function = false;
  request.extra = extra;
  return request;
}

// HIP's declarations do not say const of what they only read.
template <class Pointee>
Pointee* as_declared(const Pointee* pointer) {
  return const_cast<Pointee*>(pointer);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
}

hip::Function function_of(const LaunchRequest& request) { return reinterpret_cast<hip::Function>(as_declared(request.function)); }

// In blocks, rounded up as the last block may be cut short.
hip::Dim3 blocks_of(const hip::Dim3& work, const hip::Dim3& block) {
  const auto divide = [](std::uint32_t threads, std::uint32_t by) {
    return by == 0 ? threads : threads / by + (threads % by == 0 ? 0 : 1);
  };
  return {divide(work.x, block.x), divide(work.y, block.y), divide(work.z, block.z)};
}

template <auto Ours>
int original_kernel(const LaunchRequest& r) {
  return call_real<Ours>(r.function, r.grid, r.block, r.parameters, r.shared_bytes, r.stream);
}

template <auto Ours>
int original_cooperative(const LaunchRequest& r) {
  return call_real<Ours>(r.function, r.grid, r.block, r.parameters, static_cast<unsigned>(r.shared_bytes), r.stream);
}

int original_ext(const LaunchRequest& r) {
  return call_real<&hipExtLaunchKernel>(r.function, r.grid, r.block, r.parameters, r.shared_bytes, r.stream, r.start, r.stop,
                                        static_cast<int>(r.flags));
}

int original_config(const LaunchRequest& r) {
  const hip::LaunchConfig config{r.grid, r.block, r.shared_bytes, r.stream, r.attributes, r.attribute_count};
  return call_real<&hipLaunchKernelExC>(&config, r.function, r.parameters);
}

int original_module(const LaunchRequest& r) {
  return call_real<&hipModuleLaunchKernel>(function_of(r), r.grid.x, r.grid.y, r.grid.z, r.block.x, r.block.y, r.block.z,
                                           static_cast<unsigned>(r.shared_bytes), r.stream, r.parameters, r.extra);
}

int original_module_cooperative(const LaunchRequest& r) {
  return call_real<&hipModuleLaunchCooperativeKernel>(function_of(r), r.grid.x, r.grid.y, r.grid.z, r.block.x, r.block.y, r.block.z,
                                                      static_cast<unsigned>(r.shared_bytes), r.stream, r.parameters);
}

int original_module_config(const LaunchRequest& r) {
  const hip::ModuleLaunchConfig config{
      r.grid.x, r.grid.y,     r.grid.z,         r.block.x, r.block.y, r.block.z, static_cast<unsigned>(r.shared_bytes),
      r.stream, r.attributes, r.attribute_count};
  return call_real<&hipDrvLaunchKernelEx>(&config, function_of(r), r.parameters, r.extra);
}

template <auto Ours>
int original_ext_module(const LaunchRequest& r) {
  return call_real<Ours>(function_of(r), r.work.x, r.work.y, r.work.z, r.block.x, r.block.y, r.block.z, r.shared_bytes, r.stream,
                         r.parameters, r.extra, r.start, r.stop, r.flags);
}

LaunchRequest of_work(hip::Function function, hip::Dim3 work, hip::Dim3 block, std::size_t shared_bytes, hip::Stream stream,
                      void** parameters, void** extra, hip::Event start, hip::Event stop, unsigned flags) {
  LaunchRequest request = of_module(function, blocks_of(work, block), block, shared_bytes, stream, parameters, extra);
  request.work = work;
  request.start = start;
  request.stop = stop;
  request.flags = flags;
  return request;
}

template <auto Ours>
int real_several(const hip::LaunchParams* launches, int count, unsigned flags) {
  return call_real<Ours>(as_declared(launches), count, flags);
}

template <auto Ours>
int original_one(const LaunchRequest& r) {
  hip::LaunchParams one{as_declared(r.function), r.grid, r.block, r.parameters, r.shared_bytes, r.stream};
  return call_real<Ours>(&one, 1, r.flags);
}

// One launch is a launch like any other: older RCCLs make theirs so.
template <auto Ours>
int launch_list(const hip::LaunchParams* launches, int count, unsigned flags, bool cooperative) {
  if (launches == nullptr || count != 1) { return launch_several(launches, count, &real_several<Ours>, flags); }
  LaunchRequest request = of_host_function(launches->function, launches->grid, launches->block, launches->arguments,
                                           launches->shared_bytes, launches->stream);
  request.cooperative = cooperative;
  request.flags = flags;
  return launch(request, &original_one<Ours>);
}

}  // namespace
}  // namespace elbowroom::interposer::hip

using namespace elbowroom::interposer::hip;

int hipLaunchKernel(const void* function, hip::Dim3 grid, hip::Dim3 block, void** arguments, std::size_t shared_bytes,
                    hip::Stream stream) {
  return launch(of_host_function(function, grid, block, arguments, shared_bytes, stream), &original_kernel<&hipLaunchKernel>);
}

int hipLaunchKernel_spt(const void* function, hip::Dim3 grid, hip::Dim3 block, void** arguments, std::size_t shared_bytes,
                        hip::Stream stream) {
  LaunchRequest request = of_host_function(function, grid, block, arguments, shared_bytes, stream);
  request.default_stream = DefaultStream::kPerThread;
  return launch(request, &original_kernel<&hipLaunchKernel_spt>);
}

int hipExtLaunchKernel(const void* function, hip::Dim3 grid, hip::Dim3 block, void** arguments, std::size_t shared_bytes,
                       hip::Stream stream, hip::Event start, hip::Event stop, int flags) {
  LaunchRequest request = of_host_function(function, grid, block, arguments, shared_bytes, stream);
  request.start = start;
  request.stop = stop;
  request.flags = static_cast<unsigned>(flags);
  return launch(request, &original_ext);
}

int hipLaunchCooperativeKernel(const void* function, hip::Dim3 grid, hip::Dim3 block, void** arguments, unsigned shared_bytes,
                               hip::Stream stream) {
  LaunchRequest request = of_host_function(function, grid, block, arguments, shared_bytes, stream);
  request.cooperative = true;
  return launch(request, &original_cooperative<&hipLaunchCooperativeKernel>);
}

int hipLaunchCooperativeKernel_spt(const void* function, hip::Dim3 grid, hip::Dim3 block, void** arguments,
                                   std::uint32_t shared_bytes, hip::Stream stream) {
  LaunchRequest request = of_host_function(function, grid, block, arguments, shared_bytes, stream);
  request.cooperative = true;
  request.default_stream = DefaultStream::kPerThread;
  return launch(request, &original_cooperative<&hipLaunchCooperativeKernel_spt>);
}

// A null configuration is the runtime's to refuse.
int hipLaunchKernelExC(const hip::LaunchConfig* config, const void* function, void** arguments) {
  if (config == nullptr) { return call_real<&hipLaunchKernelExC>(config, function, arguments); }
  LaunchRequest request = of_host_function(function, config->grid, config->block, arguments, config->shared_bytes, config->stream);
  request.attributes = config->attributes;
  request.attribute_count = config->attribute_count;
  return launch(request, &original_config);
}

int hipLaunchCooperativeKernelMultiDevice(hip::LaunchParams* launches, int count, unsigned flags) {
  return launch_list<&hipLaunchCooperativeKernelMultiDevice>(launches, count, flags, true);
}

int hipExtLaunchMultiKernelMultiDevice(hip::LaunchParams* launches, int count, unsigned flags) {
  return launch_list<&hipExtLaunchMultiKernelMultiDevice>(launches, count, flags, false);
}

int hipModuleLaunchKernel(hip::Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                          unsigned block_y, unsigned block_z, unsigned shared_bytes, hip::Stream stream, void** parameters,
                          void** extra) {
  return launch(of_module(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, stream, parameters, extra),
                &original_module);
}

int hipModuleLaunchCooperativeKernel(hip::Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                     unsigned block_y, unsigned block_z, unsigned shared_bytes, hip::Stream stream,
                                     void** parameters) {
  LaunchRequest request =
      of_module(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, stream, parameters, nullptr);
  request.cooperative = true;
  return launch(request, &original_module_cooperative);
}

int hipDrvLaunchKernelEx(const hip::ModuleLaunchConfig* config, hip::Function function, void** parameters, void** extra) {
  if (config == nullptr) { return call_real<&hipDrvLaunchKernelEx>(config, function, parameters, extra); }
  LaunchRequest request =
      of_module(function, {config->grid_x, config->grid_y, config->grid_z}, {config->block_x, config->block_y, config->block_z},
                config->shared_bytes, config->stream, parameters, extra);
  request.attributes = config->attributes;
  request.attribute_count = config->attribute_count;
  return launch(request, &original_module_config);
}

int hipExtModuleLaunchKernel(hip::Function function, std::uint32_t work_x, std::uint32_t work_y, std::uint32_t work_z,
                             std::uint32_t block_x, std::uint32_t block_y, std::uint32_t block_z, std::size_t shared_bytes,
                             hip::Stream stream, void** parameters, void** extra, hip::Event start, hip::Event stop,
                             std::uint32_t flags) {
  return launch(of_work(function, {work_x, work_y, work_z}, {block_x, block_y, block_z}, shared_bytes, stream, parameters, extra,
                        start, stop, flags),
                &original_ext_module<&hipExtModuleLaunchKernel>);
}

int elbowroom_ext_module_launch(hip::Function function, std::uint32_t work_x, std::uint32_t work_y, std::uint32_t work_z,
                                std::uint32_t block_x, std::uint32_t block_y, std::uint32_t block_z, std::size_t shared_bytes,
                                hip::Stream stream, void** parameters, void** extra, hip::Event start, hip::Event stop,
                                std::uint32_t flags) {
  return launch(of_work(function, {work_x, work_y, work_z}, {block_x, block_y, block_z}, shared_bytes, stream, parameters, extra,
                        start, stop, flags),
                &original_ext_module<&elbowroom_ext_module_launch>);
}
