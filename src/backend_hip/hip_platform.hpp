#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend_gpu/module_files.hpp"
#include "backend_gpu/platform.hpp"
#include "backend_hip/device_code.hpp"
#include "backend_hip/hip_library.hpp"

namespace elbowroom::hip {

/// AMD's GPUs through HIP.
class HipPlatform : public gpu::Platform {
 public:
  /// `targets` as LiveDevices has them, one for each device.
  HipPlatform(std::shared_ptr<const HipLibrary> hip, std::vector<DeviceInfo> devices, std::vector<std::string> targets);

  [[nodiscard]] std::string_view name() const override { return "hip"; }
  [[nodiscard]] std::string_view title() const override { return "HIP"; }
  /// Measures once whether priorities act: all devices have one driver, what holds on the first holds on all.
  Status get_ready() override;
  Result<gpu::OwnFunction> function(const std::string& name, int device) override;
  Result<gpu::Function> module_function(const std::string& file, const std::string& name, int device) override;
  [[nodiscard]] std::int64_t most_blocks(Threads threads) const override;
  [[nodiscard]] Result<std::unique_ptr<gpu::BlasLibrary>> blas() const override;
  Result<std::unique_ptr<gpu::StartLine>> start_line(const std::vector<int>& devices) override;
  [[nodiscard]] Capabilities capabilities(const gpu::CommLibrary& comm) const override;
  /// An SM partition is a CU mask here; the SM target of a library's kernel acts through one as well.
  [[nodiscard]] Result<std::optional<Sms>> left_out(const Lane& lane, const ComputeSettings& settings) const override;
  [[nodiscard]] Result<gpu::SmPartition> partition(Sms left_out, int device) const override;
  [[nodiscard]] Status observes_launches() const override;
  [[nodiscard]] Status launch_observed(const std::vector<gpu::StreamHandle>& streams, const std::vector<gpu::EventHandle>& events,
                                       const std::function<Status()>& launches) const override;
  [[nodiscard]] Result<Timeline> record(const std::function<Status()>& work) const override;

  [[nodiscard]] const HipLibrary& hip() const { return *hip_; }
  [[nodiscard]] DeviceCode& code() { return code_; }

 private:
  std::shared_ptr<const HipLibrary> hip_;
  DeviceCode code_;
  gpu::ModuleFiles modules_;
  bool probed_ = false;
  Status priority_acts_;  ///< why a stream's priority has no effect here
};

}  // namespace elbowroom::hip
