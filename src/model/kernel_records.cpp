#include "model/kernel_records.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <tuple>

namespace elbowroom {
namespace {

constexpr Bytes kReservedByDriver{1'024};
constexpr int kFirstThatCounts = 90;

/// Takes the next line off `text`.
std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) { line.remove_suffix(1); }
  return line;
}

/// The text between two marks; absent where one is missing.
std::optional<std::string_view> between(std::string_view line, std::string_view before, std::string_view after) {
  const std::size_t begin = line.find(before);
  if (begin == std::string_view::npos) { return std::nullopt; }
  line.remove_prefix(begin + before.size());
  const std::size_t end = after.empty() ? line.size() : line.find(after);
  return end == std::string_view::npos ? std::nullopt : std::optional(line.substr(0, end));
}

/// A whole number of a size that a kernel can have.
std::optional<std::int64_t> number_in(std::optional<std::string_view> text) {
  constexpr std::int64_t most = 1 << 30;
  std::int64_t number = -1;
  if (text) { std::from_chars(text->data(), text->data() + text->size(), number); }
  return number >= 0 && number <= most ? std::optional(number) : std::nullopt;
}

/// The digits right before `mark`: 14 of "Used 14 registers,".
std::optional<std::int64_t> number_before(std::string_view line, std::string_view mark) {
  std::size_t end = line.find(mark);
  if (end == std::string_view::npos) { return std::nullopt; }
  std::size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') { --begin; }
  return number_in(line.substr(begin, end - begin));
}

/// 90 of "sm_90a"; 0 for another name.
int number_of(std::string_view architecture) {
  int number = 0;
  if (architecture.starts_with("sm_")) {
    std::from_chars(architecture.data() + 3, architecture.data() + architecture.size(), number);
  }
  return number;
}

/// How well a device runs code: its own first, then what any device of the family runs, then the older. Absent: not at all.
std::optional<std::pair<int, int>> preference(const DeviceLimits& device, std::string_view code) {
  if (code.empty() || code == device.architecture) { return std::pair(1'000, 0); }
  const int own = number_of(device.architecture);
  const int other = number_of(code);
  if (other == 0 || own / 10 != other / 10 || other > own) { return std::nullopt; }
  if (code.back() == 'a') { return other == own ? std::optional(std::pair(other, 2)) : std::nullopt; }
  return std::pair(other, code.back() == 'f' ? 1 : 0);
}

}  // namespace

Result<std::vector<KernelRecord>> parse_resource_usage(std::string_view text, std::string_view architecture) {
  std::vector<KernelRecord> records;
  std::string_view code = architecture;
  std::string_view function;
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    if (line.starts_with("arch = ")) {
      code = line.substr(7);
    } else if (const auto name = between(line, " Function ", ":"); name && line.starts_with(" ")) {
      function = *name;
    } else if (const auto registers = number_in(between(line, "REG:", " ")); registers && !function.empty()) {
      Bytes shared(number_in(between(line, "SHARED:", " ")).value_or(0));
      if (number_of(code) >= kFirstThatCounts && shared >= kReservedByDriver) { shared -= kReservedByDriver; }
      if (*registers > 0) {
        records.push_back({std::string(function), std::string(code), Registers(*registers), shared, Bytes(0), std::nullopt});
      }
      function = {};
    }
  }
  if (records.empty()) { return invalid_input("no kernel, expected what cuobjdump -res-usage prints"); }
  return records;
}

Result<std::vector<KernelRecord>> parse_ptxas_log(std::string_view text) {
  std::vector<KernelRecord> records;
  std::string_view name;
  std::string_view code;
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    if (const auto compiled = between(line, "Compiling entry function '", "'")) {
      name = *compiled;
      code = between(line, "' for '", "'").value_or("");
    } else if (const auto registers = number_before(line, " registers");
               registers && !name.empty() && line.find("Used ") != line.npos) {
      // Two numbers where some of it is not the kernel's own: "4096+16 bytes smem" in old logs.
      const Bytes shared(number_before(line, " bytes smem").value_or(0));
      records.push_back({std::string(name), std::string(code), Registers(*registers), shared, Bytes(0), std::nullopt});
      name = {};
    }
  }
  if (records.empty()) { return invalid_input("no kernel, expected what ptxas -v prints"); }
  return records;
}

Result<std::vector<KernelRecord>> runnable_on(const DeviceLimits& device, const std::vector<KernelRecord>& records) {
  std::map<std::string_view, std::pair<int, int>> best;
  std::set<std::string_view> architectures;
  for (const KernelRecord& record : records) {
    architectures.insert(record.architecture);
    if (const auto how = preference(device, record.architecture)) {
      const auto [place, is_new] = best.emplace(record.name, *how);
      if (!is_new) { place->second = std::max(place->second, *how); }
    }
  }
  std::vector<KernelRecord> runnable;
  std::set<std::tuple<std::string_view, Registers, Bytes, Bytes, Threads>> taken;  // a library may hold a kernel several times
  for (const KernelRecord& record : records) {
    const auto how = preference(device, record.architecture);
    if (!how || best.at(record.name) != *how) { continue; }
    if (taken
            .emplace(record.name, record.registers, record.static_shared, record.dynamic_shared,
                     record.threads.value_or(Threads(0)))
            .second) {
      runnable.push_back(record);
    }
  }
  if (!runnable.empty()) { return runnable; }
  return invalid_input(fmt::format("code for {}, expected some that {} ({}) runs", fmt::join(architectures, ", "), device.name,
                                   device.architecture));
}

}  // namespace elbowroom
