#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "elbowroom/model/device_limits.hpp"
#include "explain/trace.hpp"

namespace elbowroom::explain {

/// "12.3 ms", "840 us": three digits.
std::string duration(Time time);
/// "64 MiB", "1.5 MiB", "300 B".
std::string size_words(std::int64_t bytes);

/// A kernel's name as people say it: without namespaces, template arguments and parameters, in 48 characters at most.
std::string short_name(std::string_view name);
std::string kernel_words(const Trace& trace, std::size_t row);
std::string stream_words(const Trace& trace, std::uint32_t stream);

/// The driver's name of the device that has the rows; empty where the trace does not say.
std::string device_name(const Trace& trace);
/// What the catalog knows of that device: the entry whose name is a word of the driver's and whose SMs are as many.
std::optional<DeviceLimits> catalog_device(const Trace& trace);

}  // namespace elbowroom::explain
