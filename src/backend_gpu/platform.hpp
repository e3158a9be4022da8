#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend_gpu/blas_library.hpp"
#include "backend_gpu/comm_library.hpp"
#include "backend_gpu/handles.hpp"
#include "backend_gpu/runtime.hpp"
#include "backend_gpu/start_line.hpp"
#include "elbowroom/backend/backend.hpp"
#include "elbowroom/base/quantities.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/step.hpp"
#include "elbowroom/trace/timeline.hpp"

namespace elbowroom {

struct Capabilities;
struct CommSettings;
struct ComputeSettings;
struct Lane;

}  // namespace elbowroom

namespace elbowroom::gpu {

/// A kernel of this project on one device.
struct OwnFunction {
  Function function = nullptr;
  Threads threads;  ///< of a block, as it was compiled for
};

/// Some SMs of one device, and a stream whose kernels run on them alone. What is launched on other streams may run on any.
struct SmPartition {
  std::shared_ptr<void> context;  ///< what the stream lives in, where that is more than the device
  Stream stream;                  // after its context: it goes first
};

/// One vendor's GPUs in this process: the runtime's table, and what differs by more than a call. Used by one thread at a time.
class Platform {
 public:
  virtual ~Platform() = default;
  Platform(const Platform&) = delete;
  Platform& operator=(const Platform&) = delete;

  [[nodiscard]] const Runtime& runtime() const { return runtime_; }
  /// Those that this process' ranks run on, one of each; at least one.
  [[nodiscard]] const std::vector<DeviceInfo>& devices() const { return devices_; }

  /// The one of them with that number.
  [[nodiscard]] const DeviceInfo& device(int number) const { return *std::ranges::find(devices_, number, &DeviceInfo::index); }

  /// "cuda" and "CUDA"
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual std::string_view title() const = 0;

  /// What is to be known before the first workload; called before each.
  virtual Status get_ready() { return {}; }

  /// The kernel of this project with that name, which ends in the type of its elements ("fill_uniform_f32"). Makes `device`
  /// current.
  virtual Result<OwnFunction> function(const std::string& name, int device) = 0;
  /// The kernel of that name in a user's module, for `calls.application`. Makes `device` current. `invalid_input` that names the
  /// member of the scenario.
  virtual Result<Function> module_function(const std::string& file, const std::string& name, int device) = 0;
  /// How many blocks a grid of such blocks may have in x.
  [[nodiscard]] virtual std::int64_t most_blocks(Threads threads) const = 0;

  /// `unavailable` without it.
  [[nodiscard]] virtual Result<std::unique_ptr<BlasLibrary>> blas() const = 0;

  /// A start line for streams of these devices; at least one.
  virtual Result<std::unique_ptr<StartLine>> start_line(const std::vector<int>& devices) = 0;

  /// What these devices and `comm` have of what controls act through.
  [[nodiscard]] virtual Capabilities capabilities(const CommLibrary& comm) const = 0;

  /// What else speaks against a collective's settings in this process.
  [[nodiscard]] virtual Status accepts(const CommSettings& /*settings*/) const { return {}; }

  /// How many SMs of each device the stream of such a computation must leave free; absent: none. `invalid_input` when that cannot
  /// be.
  [[nodiscard]] virtual Result<std::optional<Sms>> left_out(const Lane& lane, const ComputeSettings& settings) const;
  /// The others of `device`, which must be current; `left_out` may be rounded up.
  [[nodiscard]] virtual Result<SmPartition> partition(Sms left_out, int device) const = 0;

  /// Whether launch_observed() can see launches of the communication library; the reason otherwise.
  [[nodiscard]] virtual Status observes_launches() const = 0;
  /// Enqueues `launches` so that a launch of the communication library on streams[i] records events[i] once all its blocks have
  /// begun. An error where no launch can be observed, or a stream saw none.
  [[nodiscard]] virtual Status launch_observed(const std::vector<StreamHandle>& streams, const std::vector<EventHandle>& events,
                                               const std::function<Status()>& launches) const = 0;

  /// Runs `work`, which leaves the devices idle, under a recorder of kernels and copies; `unavailable` without one.
  [[nodiscard]] virtual Result<Timeline> record(const std::function<Status()>& work) const = 0;

 protected:
  Platform(const RuntimeCalls& calls, std::vector<DeviceInfo> devices) : runtime_(calls), devices_(std::move(devices)) {}

 private:
  Runtime runtime_;
  std::vector<DeviceInfo> devices_;
};

}  // namespace elbowroom::gpu
