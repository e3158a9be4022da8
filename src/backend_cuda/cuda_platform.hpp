#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend_gpu/module_files.hpp"
#include "backend_gpu/platform.hpp"

namespace elbowroom::cuda {

/// NVIDIA's GPUs through CUDA.
class CudaPlatform final : public gpu::Platform {
 public:
  /// `launches_observed` as NcclLibrary has it. `unavailable` where the driver lacks what launches are made with.
  static Result<std::shared_ptr<CudaPlatform>> make(std::vector<DeviceInfo> devices, Status launches_observed);

  [[nodiscard]] std::string_view name() const override { return "cuda"; }
  [[nodiscard]] std::string_view title() const override { return "CUDA"; }
  Result<gpu::OwnFunction> function(const std::string& name, int device) override;
  Result<gpu::Function> module_function(const std::string& file, const std::string& name, int device) override;
  [[nodiscard]] std::int64_t most_blocks(Threads) const override { return INT32_MAX; }
  [[nodiscard]] Result<std::unique_ptr<gpu::BlasLibrary>> blas() const override;
  Result<std::unique_ptr<gpu::StartLine>> start_line(const std::vector<int>& devices) override;
  [[nodiscard]] Capabilities capabilities(const gpu::CommLibrary& comm) const override;
  [[nodiscard]] Status accepts(const CommSettings& settings) const override;
  /// As a green context. An SM target is no partition here: it acts through cuBLAS.
  [[nodiscard]] Result<gpu::SmPartition> partition(Sms left_out, int device) const override;
  [[nodiscard]] Status observes_launches() const override;
  [[nodiscard]] Status launch_observed(const std::vector<gpu::StreamHandle>& streams, const std::vector<gpu::EventHandle>& events,
                                       const std::function<Status()>& launches) const override;
  [[nodiscard]] Result<Timeline> record(const std::function<Status()>& work) const override;

 private:
  CudaPlatform(const gpu::RuntimeCalls& calls, std::vector<DeviceInfo> devices, Status launches_observed);

  Status launches_observed_;
  std::map<std::string, gpu::OwnFunction> functions_;
  std::optional<gpu::ModuleFiles> modules_;
};

}  // namespace elbowroom::cuda
