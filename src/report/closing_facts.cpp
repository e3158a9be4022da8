#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "elbowroom/report/run_closing.hpp"
#include "report/closing_controls.hpp"
#include "report/symmetric_memory.hpp"

namespace elbowroom {
namespace {

using detail::SymmetricBuffers;
using detail::SymmetricMemory;
using Kept = ClosingFacts::Kept;

constexpr const char* kSameBits = "--same-bits";  // who gives the option knows what it does
constexpr const char* kXlaOption = "XLA's collectives: --set xla_symmetric_buffers=1";

/// All ranks register the same or none does: the first process that says something speaks for all.
SymmetricMemory speaking_for_all(const RunReport& report) {
  SymmetricMemory first;
  const auto take = [&](const SymmetricMemory& memory) {
    if (first.parts.empty()) { first.parts = memory.parts; }
    if (first.refused.empty()) { first.refused = memory.refused; }
    if (first.left_out.empty()) { first.left_out = memory.left_out; }
  };
  for (const ProcessReport& process : report.processes) { take(detail::symmetric_memory_of(process)); }
  for (const std::string& document : report.without_driver) { take(detail::symmetric_memory_in(document)); }
  return first;
}

/// Steps on ordinary memory came first, those on symmetric memory after them. Of several sets the largest speaks.
std::optional<ClosingFacts::Steps> steps_of(const std::vector<SymmetricBuffers>& parts) {
  const SymmetricBuffers* largest = nullptr;
  for (const SymmetricBuffers& part : parts) {
    const bool compared = part.ordinary_ms > 0 && part.symmetric_ms > 0;
    if (compared && (largest == nullptr || part.bytes > largest->bytes)) { largest = &part; }
  }
  if (largest == nullptr) { return std::nullopt; }
  constexpr double per_millisecond = 1'000;
  return ClosingFacts::Steps{Microseconds(largest->ordinary_ms * per_millisecond),
                             Microseconds(largest->symmetric_ms * per_millisecond)};
}

void add_registered(const std::vector<SymmetricBuffers>& parts, ClosingFacts& facts) {
  if (parts.empty()) { return; }
  std::vector<std::string> names;
  std::int64_t extra = 0;
  for (const SymmetricBuffers& part : parts) {
    if (std::ranges::find(names, part.what) == names.end()) { names.push_back(part.what); }
    extra += part.extra_bytes;
  }
  Kept kept{.what = fmt::format("{} on symmetric memory", fmt::join(names, " and ")),
            .steps = steps_of(parts),
            .may_change = ClosingFacts::Bits::sums,
            .extra_bytes = extra};
  const auto reasoned = std::ranges::find_if(parts, [](const auto& part) { return part.compared.starts_with("not compared"); });
  if (!kept.steps) { kept.why_not_compared = reasoned != parts.end() ? reasoned->compared : "not compared: it ended before"; }
  facts.kept.push_back(std::move(kept));
}

std::string why_not_registered(const SymmetricBuffers& part) {
  if (part.state == "waiting") { return fmt::format("{}: it ended before they were registered", part.what); }
  if (part.state == "given back") { return fmt::format("{} gave symmetric memory back: {}", part.what, part.reason); }
  return fmt::format("{}: {}", part.what, part.reason);
}

void add_symmetric_memory(const RunReport& report, ClosingFacts& facts) {
  const SymmetricMemory memory = speaking_for_all(report);
  std::vector<SymmetricBuffers> registered;
  for (const SymmetricBuffers& part : memory.parts) {
    if (part.state == "registered") {
      registered.push_back(part);
    } else {
      facts.left_alone.push_back(why_not_registered(part));
    }
  }
  add_registered(registered, facts);
  // What a process could not do at all matters where it did none of it.
  if (memory.parts.empty()) { std::ranges::copy(memory.refused, std::back_inserter(facts.left_alone)); }
  if (!memory.parts.empty() || memory.refused.empty()) {
    for (const auto& [part, reason] : memory.left_out) { facts.left_alone.push_back(fmt::format("without {}: {}", part, reason)); }
  }
}

bool has_collectives(const RunReport& report) {
  return std::ranges::any_of(report.processes, [](const auto& process) { return !process.activity.collectives.empty(); });
}

void add_settings(const RunReport& report, ClosingFacts& facts) {
  if (report.settings.empty() || !has_collectives(report)) { return; }
  facts.kept.push_back({.what = fmt::format("{}", fmt::join(report.settings, ", ")),
                        .why_not_compared = "as asked",
                        .may_change = ClosingFacts::Bits::sums});
}

void add_what_bits_forbid(const RunReport& report, ClosingFacts& facts) {
  if (report.same_bits && *report.same_bits != kSameBits && has_collectives(report)) {
    facts.left_alone.push_back(fmt::format("no symmetric memory: {}", *report.same_bits));
  }
}

/// No process used a driver, or none could say so.
void add_absence(const RunReport& report, ClosingFacts& facts) {
  if (!report.processes.empty()) { return; }
  const bool hip = report.backend == "hip";
  facts.unknown = report.exit_code != 0 && !report.unseen_because && report.driver_found;
  if (report.unseen_because) {
    facts.left_alone.push_back(*report.unseen_because);
  } else if (!report.driver_found) {
    facts.left_alone.push_back(hip ? "no HIP runtime here" : "no CUDA driver here (libcuda.so.1)");
  } else if (facts.unknown) {
    facts.left_alone.push_back(fmt::format("no process left a report, exit code {}", report.exit_code));
  } else {
    facts.left_alone.push_back(fmt::format("no process reported a use of {}", hip ? "HIP's runtime" : "CUDA's driver"));
  }
}

/// XLA has buffers on symmetric memory of its own, which are off by default.
void add_option(const RunReport& report, ClosingFacts& facts) {
  const auto asked = [](const std::string& setting) { return setting.starts_with("xla_symmetric_buffers"); };
  if (std::ranges::any_of(report.settings, asked)) { return; }
  const auto is_jax = [](const ProcessReport& process) { return process.jax && !process.activity.collectives.empty(); };
  if (std::ranges::any_of(report.processes, is_jax)) { facts.option = kXlaOption; }
}

/// The greatest gain first. What was not compared stands last, in its order.
void sort_by_gain(std::vector<Kept>& kept) {
  std::ranges::stable_sort(kept, [](const Kept& one, const Kept& other) {
    if (!one.steps || !other.steps) { return one.steps.has_value() && !other.steps; }
    return one.steps->change() < other.steps->change();
  });
}

}  // namespace

bool speaks_for_job(const RunReport& report) {
  return report.exit_code != 0 || total_activity(report.processes).library.rank.value_or(0) == 0;
}

ClosingFacts closing_facts(const RunReport& report) {
  ClosingFacts facts;
  if (report.policy == "observe") {
    facts.left_alone.emplace_back("--policy observe");
    return facts;
  }
  add_absence(report, facts);
  add_symmetric_memory(report, facts);
  add_settings(report, facts);
  detail::add_controls(report, facts);
  add_what_bits_forbid(report, facts);
  add_option(report, facts);
  sort_by_gain(facts.kept);
  return facts;
}

}  // namespace elbowroom
