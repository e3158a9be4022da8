#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/energy/history.hpp"
#include "elbowroom/energy/meter.hpp"

namespace elbowroom {

/// A GPU of this machine, with its counter alone or why there is none.
struct MeteredGpu {
  std::string bus_id;  ///< "0000:1b:00.0"
  Result<std::unique_ptr<EnergyMeter>> meter;
};
using OpenMeters = std::function<Result<std::vector<MeteredGpu>>()>;

/// What a watch saw of one GPU.
struct WatchedGpu {
  std::string bus_id;
  std::optional<std::string> counter;  ///< "nvml"; absent: none was opened
  EnergyHistory history;
  std::optional<std::string> trouble;  ///< why nothing was read, or nothing more; absent: all went well
};

/// Reads the counters of all GPUs of a machine while something else runs there, however long that takes, in a thread of its own. It
/// opens them in that thread too, so that nobody waits for a driver. A GPU that fails ends with its trouble, the others go on.
class EnergyWatch {
 public:
  ELBOWROOM_API EnergyWatch(OpenMeters open, Microseconds every);
  ELBOWROOM_API ~EnergyWatch();
  EnergyWatch(const EnergyWatch&) = delete;
  EnergyWatch& operator=(const EnergyWatch&) = delete;

  /// Waits until each counter has moved once more, so that what came before this call lies between moves, but no longer than
  /// kLongestWait. The error is that of `open`.
  ELBOWROOM_API Result<std::vector<WatchedGpu>> stop();

  static constexpr Microseconds kLongestWait{400'000};

 private:
  struct Gpu;
  void watch(const OpenMeters& open);
  void read(Gpu& gpu, bool with_state);
  [[nodiscard]] bool all_moved_since(Microseconds time) const;

  Microseconds every_;
  std::atomic<bool> over_{false};
  Status opened_;
  std::vector<Gpu> gpus_;
  std::thread thread_;  ///< last: it uses the others
};

}  // namespace elbowroom
