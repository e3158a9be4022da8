#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/time.hpp"
#include "elbowroom/model/device_rates.hpp"
#include "elbowroom/model/step.hpp"

namespace elbowroom {

/// Parts of a device that all operations share.
enum class DevicePart { sms, memory, link };

ELBOWROOM_API std::string_view to_string(DevicePart part);

/// The least time in which a device can do a step's work, whatever the schedule, the algorithms and the controls.
struct HardwareLimit {
  struct Busiest {
    DevicePart part = DevicePart::sms;
    bool of_peak = false;      ///< its rate is the data sheet's, because no greater one was measured
    Microseconds busy{0};      ///< that it needs for all of its work
    Microseconds unhidden{0};  ///< least time before its first and after its last work
  };
  Microseconds time{0};
  std::optional<Busiest> busiest;  ///< what takes the time; absent: what operations wait for does
};

/// An operation takes at least the time that its part with most work needs. Work is floating-point operations, operands read and
/// results written once, and bytes sent once by the algorithm that sends least. On the rank with most work the least time is the
/// greatest over the parts. Of a part it is the least time before its first work, all of its work, and the least time after its
/// last work. It is the head-body-tail bound of one machine (J. Carlier, Operations Research 11, 1982). Repeats of an operation
/// follow each other, since they use the same memory; what waits for what is the step's. `alone`: isolated times of one launch, by
/// operation; a part that was faster there (operands that stay in a cache) takes no more than that. Empty: none is known. `step` is
/// valid. A recorded kernel, of which nothing else is known, counts as SM time with the shortest of its times.
ELBOWROOM_API HardwareLimit hardware_limit(const Step& step, const DeviceRates& rates, std::span<const Microseconds> alone = {});

/// The same where the rate of each product's type is known of the device; absent otherwise.
ELBOWROOM_API std::optional<HardwareLimit> hardware_limit(const Step& step, const DeviceLimits& device,
                                                          std::span<const Microseconds> alone);

/// The same of a scenario with isolated totals over all iterations.
ELBOWROOM_API std::optional<HardwareLimit> hardware_limit(const Scenario& scenario, const DeviceLimits& device,
                                                          Microseconds compute, Microseconds comm);

/// "link, best rate reached": what takes the limit's time.
ELBOWROOM_API std::string in_words(const HardwareLimit& limit);

}  // namespace elbowroom
