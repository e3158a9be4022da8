#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "recorder/recording.hpp"

namespace elbowroom::recorder {

/// Reads SM clocks by NVML, which the driver brings. Where it is missing, or knows a device by no bus address, nothing is read.
class Clocks {
 public:
  /// As it is now, at `now`. The first call of a device opens NVML, which takes some milliseconds.
  std::optional<ClockReading> read(std::uint32_t device, Time now);

 private:
  using Handle = struct NvmlDeviceTag*;

  struct Calls {
    int (*init)() = nullptr;
    int (*handle)(const char* bus_id, Handle* device) = nullptr;
    int (*clock)(Handle device, unsigned which, unsigned* mhz) = nullptr;
    int (*greatest_clock)(Handle device, unsigned which, unsigned* mhz) = nullptr;
    int (*reasons)(Handle device, unsigned long long* reasons) = nullptr;
  };

  struct Known {
    Handle handle = nullptr;
    unsigned most_mhz = 0;
  };

  void open();
  [[nodiscard]] Known known(std::uint32_t device) const;

  bool opened_ = false;
  std::optional<Calls> calls_;
  std::map<std::uint32_t, Known> devices_;
};

}  // namespace elbowroom::recorder
