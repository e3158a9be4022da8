#include "backend_cuda/cuda_platform.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

#include "backend_cuda/compiled_kernels.hpp"
#include "backend_cuda/cublas_library.hpp"
#include "backend_cuda/cuda_calls.hpp"
#include "backend_cuda/cuda_start_line.hpp"
#include "backend_cuda/green_context.hpp"
#include "backend_cuda/kernel_recorder.hpp"
#include "backend_cuda/launch_completion.hpp"
#include "backend_cuda/nccl_environment.hpp"
#include "backend_cuda/user_modules.hpp"
#include "elbowroom/plan/capabilities.hpp"
#include "elbowroom/plan/launch_settings.hpp"

namespace elbowroom::cuda {
namespace {

/// Whether collectives can use memory that all ranks know.
Status symmetric_memory(const gpu::CommLibrary& nccl) {
  if (Status allowed = peers_allowed(); !allowed) { return allowed; }
  if (nccl.has_symmetric_memory()) { return {}; }
  return unavailable(fmt::format("NCCL {} has no such collectives, expected 2.28 or later", nccl.version()));
}

}  // namespace

CudaPlatform::CudaPlatform(const gpu::RuntimeCalls& calls, std::vector<DeviceInfo> devices, Status launches_observed)
    : Platform(calls, std::move(devices)), launches_observed_(std::move(launches_observed)) {
  for (const auto* kernels : {&tiled_gemm_kernels(), &elementwise_kernels(), &data_kernels()}) {
    for (const CompiledKernel& kernel : *kernels) {
      // The symbol is handed back to the runtime that is linked in, which writes nothing there.
      auto* const symbol = const_cast<void*>(kernel.symbol);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
      auto* const function = static_cast<gpu::Function>(symbol);
      functions_.emplace(kernel.name, gpu::OwnFunction{function, kernel.threads});
    }
  }
}

Result<std::shared_ptr<CudaPlatform>> CudaPlatform::make(std::vector<DeviceInfo> devices, Status launches_observed) {
  gpu::RuntimeCalls calls = linked_runtime().calls;
  if (Status found = find_application_calls(calls.application); !found) { return found.error(); }
  return std::shared_ptr<CudaPlatform>(new CudaPlatform(calls, std::move(devices), std::move(launches_observed)));
}

Result<gpu::OwnFunction> CudaPlatform::function(const std::string& name, int device) {
  if (Status used = runtime().use_device(device); !used) { return used.error(); }
  const auto found = functions_.find(name);
  if (found == functions_.end()) { return failed(fmt::format("no kernel {} was compiled", name)); }
  return found->second;
}

Result<gpu::Function> CudaPlatform::module_function(const std::string& file, const std::string& name, int device) {
  if (Status used = runtime().use_device(device); !used) { return used.error(); }
  if (!modules_) {
    Result<gpu::ModuleFiles> modules = user_modules();
    if (!modules) { return modules.error(); }
    modules_ = std::move(*modules);
  }
  return modules_->function(file, name, device);
}

Result<std::unique_ptr<gpu::BlasLibrary>> CudaPlatform::blas() const { return load_cublas(); }

Result<std::unique_ptr<gpu::StartLine>> CudaPlatform::start_line(const std::vector<int>&) { return make_start_line(); }

Capabilities CudaPlatform::capabilities(const gpu::CommLibrary& comm) const {
  Capabilities can = capabilities_of(devices().front().limits);
  can.begun_events = launches_observed_;
  can.symmetric = can.copy_engines = symmetric_memory(comm);
  can.comm_release = comm.release();
  return can;
}

Status CudaPlatform::accepts(const CommSettings& settings) const { return comm_threads_possible(settings); }

Result<gpu::SmPartition> CudaPlatform::partition(Sms left_out, int device) const { return green_context(left_out, device); }

Status CudaPlatform::observes_launches() const { return launches_observed_; }

Status CudaPlatform::launch_observed(const std::vector<gpu::StreamHandle>& streams, const std::vector<gpu::EventHandle>& events,
                                     const std::function<Status()>& launches) const {
  LaunchCompletion begun(streams, events);
  if (Status launched = launches(); !launched) { return launched; }
  return begun.every_stream_launched();
}

Result<Timeline> CudaPlatform::record(const std::function<Status()>& work) const { return record_kernels(work); }

}  // namespace elbowroom::cuda
