#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/model_width.hpp"
#include "elbowroom/base/provenance.hpp"
#include "elbowroom/base/quantities.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/base/time.hpp"
#include "elbowroom/model/device_limits.hpp"

namespace elbowroom {

class Launcher;
struct Capabilities;
struct ComputeFacts;
struct Program;
struct Scenario;
struct Step;
struct Timeline;

/// One device that a backend can use.
struct DeviceInfo {
  int index = 0;
  std::string name;  ///< as the driver gives it
  DeviceLimits limits;
  Bytes memory;                                    ///< total
  std::optional<ModelWidth> model = std::nullopt;  ///< of a simulated device; a real one has none
  std::optional<std::string> bus_id = {};          ///< "0000:1b:00.0"; absent: simulated, or the driver does not say
};

/// A step made ready on a backend: memory, streams, communicators. Owns everything it needs; destroying it frees all of it.
/// Calls on one Workload must not overlap in time.
class Workload {
 public:
  virtual ~Workload() = default;
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;

  [[nodiscard]] virtual const Step& step() const = 0;

  /// Of a computation of the step, by index.
  [[nodiscard]] virtual const ComputeFacts& compute(int operation) const = 0;

  /// What this machine and its libraries have of what controls act through.
  [[nodiscard]] virtual const Capabilities& capabilities() const = 0;

  /// Whether every setting of the program's launches can act here; the reason otherwise. What runs a program refuses it for the
  /// same reason. Programs are of the step, as lower() makes them.
  [[nodiscard]] virtual Status accepts(const Program& program) const = 0;

  /// Runs the program once and returns the slowest device's time from its first operation's start to its last one's end.
  /// A setting that cannot act here is an error, never ignored. Blocks until the devices are idle or the backend's
  /// time limit has passed; after a timeout the workload answers only errors.
  virtual Result<Microseconds> run(const Program& program) = 0;

  /// The same run under a kernel recorder, which slows it: never use its length as a time. `unavailable` without a recorder.
  virtual Result<Timeline> record(const Program& program) = 0;

  /// The same run on poisoned outputs, each then compared with a reference. A wrong or unwritten result is `failed`.
  virtual Status verify(const Program& program) = 0;

  // Where a step's ranks are several processes, rank 0 calls bootstrap() before each run, recording or verification. All ranks
  // join() with what it gave before they do the same. Alone, nothing is to be given.

  /// What must be the same on all ranks and is made on one: ids of the communicators that the program is the first to use.
  virtual Result<std::string> bootstrap(const Program&) { return std::string(); }
  virtual Status join(const Program&, std::string_view /*bootstrap*/) { return {}; }

 protected:
  Workload() = default;
};

/// The only thing that acts on devices. Implementations are leaves: nothing includes them, the registry names them.
class ELBOWROOM_API Backend {
 public:
  virtual ~Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual Provenance provenance() const = 0;
  [[nodiscard]] virtual const std::vector<DeviceInfo>& devices() const = 0;
  /// Software that shapes the figures: {"nccl", "2.28.3"}, ...
  [[nodiscard]] virtual const std::vector<std::pair<std::string, std::string>>& versions() const = 0;

  /// What this machine and its libraries have of what controls act through, as far as nothing need run to know it. A workload's
  /// may lack more. `unavailable` without a communication library.
  [[nodiscard]] virtual Result<Capabilities> capabilities() const = 0;

  /// Allocates and initialises everything that `step` needs on as many devices as it has ranks. Takes seconds on real devices
  /// (communicators). `invalid_input` when the step cannot run here, `failed` when a device call went wrong. `step` is valid.
  virtual Result<std::unique_ptr<Workload>> prepare(const Step& step) = 0;

  /// The same for the step that a scenario is; `invalid_input` when it is not valid.
  Result<std::unique_ptr<Workload>> prepare(const Scenario& scenario);

  /// For an application's own kernels (launcher.hpp), with streams of its own on the first `gpus` devices, which may be none;
  /// `unavailable` where a backend only runs scenarios.
  virtual Result<std::unique_ptr<Launcher>> launcher(int gpus);

 protected:
  Backend() = default;
};

}  // namespace elbowroom
