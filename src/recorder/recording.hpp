#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

/// What CUPTI's activity records said, as values. Times are nanoseconds on CUPTI's clock.
namespace elbowroom::recorder {

using Time = std::uint64_t;
using NameId = std::uint32_t;

/// What all that runs on a device has.
struct OnDevice {
  Time begin = 0, end = 0;
  std::uint32_t device = 0, context = 0, stream = 0, correlation = 0;
};

struct Kernel : OnDevice {
  NameId name = 0;  ///< of Recording::names
  std::array<std::int32_t, 3> grid{}, block{};
  std::uint32_t cluster = 1;  ///< blocks
  std::int32_t registers = 0, static_shared = 0, dynamic_shared = 0;
  bool in_graph = false;
};

/// A copy, or a memory set where `to` alone is set.
struct Copy : OnDevice {
  std::uint64_t bytes = 0;
  std::uint8_t kind = 0;          ///< of CUpti_ActivityMemcpyKind; 0: a memory set
  std::uint8_t from = 0, to = 0;  ///< of CUpti_ActivityMemoryKind
  std::int32_t from_device = -1;  ///< of copies between devices
  std::int32_t to_device = -1;
};

/// A call of the host.
struct Call {
  Time begin = 0, end = 0;
  std::uint32_t correlation = 0, thread = 0;
  NameId name = 0;
  bool driver = false;  ///< of the driver, not of the runtime
};

/// An event was recorded on a stream.
struct EventMark {
  std::uint32_t correlation = 0, context = 0, stream = 0, event = 0;
};

/// A stream was told to wait for an event.
struct Wait {
  Time begin = 0, end = 0;
  std::uint32_t correlation = 0, context = 0, stream = 0, event = 0;
};

/// The SM clock of a device at one time.
struct ClockReading {
  Time at = 0;
  std::uint32_t device = 0;
  unsigned mhz = 0, most_mhz = 0;
  bool at_power_limit = false;  ///< which keeps the clock down
};

struct Device {
  int id = 0;
  std::string name;
  int sms = 0;
};

class Names {
 public:
  NameId id_of(std::string_view name) {
    const auto [found, fresh] = ids_.try_emplace(std::string(name), static_cast<NameId>(names_.size()));
    if (fresh) { names_.emplace_back(name); }
    return found->second;
  }
  [[nodiscard]] const std::string& operator[](NameId id) const { return names_[id]; }

 private:
  std::unordered_map<std::string, NameId> ids_;
  std::vector<std::string> names_;
};

struct Recording {
  Names names;
  std::vector<Kernel> kernels;
  std::vector<Copy> copies;
  std::vector<Call> calls;
  std::vector<EventMark> marks;
  std::vector<Wait> waits;
  std::vector<ClockReading> clocks;
  std::size_t dropped = 0;  ///< records that had no room in CUPTI's buffers
  std::size_t unended = 0;  ///< kernels and copies that ran when the recording ended

  [[nodiscard]] std::size_t size() const { return kernels.size() + copies.size() + calls.size() + marks.size() + waits.size(); }
};

}  // namespace elbowroom::recorder
