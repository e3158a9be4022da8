#include "elbowroom/report/run_energy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <optional>
#include <ranges>
#include <string_view>

#include "elbowroom/report/run_report.hpp"

namespace elbowroom {
namespace {

// Ranks of one job repeat the same as often, but for those that are under way at either end.
constexpr double kSameRate = 0.02;

/// "00000000:1B:00.0" and "0000:1b:00.0" are one GPU.
std::string plain_bus_id(std::string_view bus_id) {
  std::string plain;
  for (const char letter : bus_id) { plain += static_cast<char>(std::tolower(static_cast<unsigned char>(letter))); }
  const std::size_t domain = plain.find(':');
  constexpr std::size_t digits = 4;
  const bool padded = domain != std::string::npos && domain > digits && plain.find_first_not_of('0') >= domain - digits;
  return padded ? plain.substr(domain - digits) : plain;
}

/// A process of the command and its steps.
struct Counting {
  std::int64_t pid;
  ProcessReport::Steps steps;
};

std::optional<Counting> longest_steps(std::span<const ProcessReport> processes) {
  const auto length = [](const ProcessReport::Steps& steps) { return steps.end - steps.begin; };
  std::optional<Counting> longest;
  for (const ProcessReport& process : processes) {
    if (process.steps && (!longest || length(*process.steps) > length(longest->steps))) { longest = {process.pid, *process.steps}; }
  }
  return longest;
}

/// The GPUs that processes named, and how many of the processes did.
std::map<std::string, int> named_gpus(std::span<const ProcessReport> processes) {
  std::map<std::string, int> named;
  for (const ProcessReport& process : processes) {
    for (const std::string& bus_id : process.gpus) { ++named[plain_bus_id(bus_id)]; }
  }
  return named;
}

double rate(const ProcessReport::Steps& steps) {
  return static_cast<double>(steps.repetitions) / (steps.end - steps.begin).count();
}

void note_other_steps(std::span<const ProcessReport> processes, const Counting& counting, RunEnergy& energy) {
  for (const ProcessReport& process : processes) {
    if (!process.steps || process.steps->end <= process.steps->begin) { continue; }
    const double faster = rate(*process.steps) / rate(counting.steps);
    if (std::abs(faster - 1) <= kSameRate) { continue; }
    energy.notes.push_back(fmt::format("process {} took {:.2f} steps in the time of one of process {}, whose steps are counted",
                                       process.pid, faster, counting.pid));
  }
}

void note_gpu(const RunEnergy::Gpu& gpu, RunEnergy& energy) {
  if (gpu.conditions.processes <= gpu.own_processes) { return; }
  energy.notes.push_back(
      fmt::format("GPU {} had {} processes with work on it, of which {} reported: the joules are those of all of them", gpu.bus_id,
                  gpu.conditions.processes, gpu.own_processes));
}

Result<Counting> fill_span(std::span<const ProcessReport> processes, RunEnergy& energy) {
  if (processes.empty()) { return unavailable("no process of the command reported"); }
  const std::optional<Counting> counting = longest_steps(processes);
  if (!counting) { return unavailable("no steps were seen: no process repeated a sequence of collectives"); }
  energy.span = counting->steps.end - counting->steps.begin;
  energy.steps = counting->steps.repetitions;
  energy.collectives_per_step = counting->steps.collectives;
  energy.counted_by = counting->pid;
  note_other_steps(processes, *counting, energy);
  return *counting;
}

const WatchedGpu* find(const std::vector<WatchedGpu>& watched, const std::string& bus_id) {
  const auto found = std::ranges::find(watched, bus_id, [](const WatchedGpu& gpu) { return plain_bus_id(gpu.bus_id); });
  return found == watched.end() ? nullptr : &*found;
}

/// Of all GPUs that were named, or why of one there is nothing.
Result<std::vector<const WatchedGpu*>> watched_gpus(const std::map<std::string, int>& named,
                                                    const std::vector<WatchedGpu>& watched) {
  if (named.empty()) {
    return unavailable("no process of the command named its GPUs: the driver does not say where on the bus they are");
  }
  std::vector<const WatchedGpu*> gpus;
  for (const auto& [bus_id, processes] : named) {
    const WatchedGpu* gpu = find(watched, bus_id);
    if (gpu == nullptr) { return unavailable(fmt::format("GPU {}: not one of those that NVML names here", bus_id)); }
    if (gpu->trouble) { return unavailable(*gpu->trouble); }
    gpus.push_back(gpu);
  }
  return gpus;
}

void fill_gpus(const std::map<std::string, int>& named, const std::vector<const WatchedGpu*>& gpus, Microseconds begin,
               Microseconds end, RunEnergy& energy) {
  for (const WatchedGpu* gpu : gpus) {
    RunEnergy::Gpu one{plain_bus_id(gpu->bus_id), {}, gpu->history.conditions(begin, end), 0};
    one.own_processes = named.at(one.bus_id);
    if (const Result<Joules> counted = counted_between(gpu->history.moves(), begin, end)) {
      one.joules = Joules{counted->value / static_cast<double>(energy.steps)};
    }
    note_gpu(one, energy);
    energy.gpus.push_back(std::move(one));
  }
}

/// From the first reading of all GPUs to the first call that any process makes of the driver.
Result<Joules> idle_joules(std::span<const ProcessReport> processes, std::span<const Samples> first_moves, Microseconds step) {
  Microseconds begin{0};
  for (const Samples& moves : first_moves) { begin = std::max(begin, moves.front().at); }
  Microseconds end = Microseconds::max();
  for (const ProcessReport& process : processes) {
    if (process.begun) { end = std::min(end, *process.begun); }
  }
  for (const Samples& moves : first_moves) { end = std::min(end, moves.back().at); }
  if (end <= begin) { return unavailable("the command used a GPU before the first reading"); }
  if (const Result<Microseconds> period = longest_period(first_moves, begin, end); !period) {
    return unavailable(fmt::format("before the command used a GPU {}", period.error().message));
  }
  const Result<Watts> power = mean_power(first_moves, begin, end);
  if (!power) { return power.error(); }
  return *power * step;
}

void measure(std::span<const ProcessReport> processes, const std::vector<const WatchedGpu*>& gpus, Microseconds begin,
             Microseconds end, RunEnergy& energy) {
  std::vector<Samples> moves;
  std::vector<Samples> first_moves;
  for (const WatchedGpu* gpu : gpus) {
    moves.push_back(gpu->history.moves());
    first_moves.push_back(gpu->history.first_moves());
    energy.counter = gpu->counter;
    energy.period = std::max(energy.period, period_of(first_moves.back()));  // an absent one is less than any
  }
  energy.per_step = joules_per_iteration(moves, static_cast<double>(energy.steps), begin, end);
  energy.idle = idle_joules(processes, first_moves, (end - begin) / static_cast<double>(energy.steps));
}

}  // namespace

RunEnergy energy_of_run(std::span<const ProcessReport> processes, const Result<std::vector<WatchedGpu>>& watched) {
  RunEnergy energy;
  const auto without = [&](const Error& why) {
    energy.per_step = why;
    energy.idle = why;
    return energy;
  };
  if (!watched) { return without(watched.error()); }
  const Result<Counting> counting = fill_span(processes, energy);
  if (!counting) { return without(counting.error()); }
  const std::map<std::string, int> named = named_gpus(processes);
  const Result<std::vector<const WatchedGpu*>> gpus = watched_gpus(named, *watched);
  if (!gpus) { return without(gpus.error()); }
  fill_gpus(named, *gpus, counting->steps.begin, counting->steps.end, energy);
  measure(processes, *gpus, counting->steps.begin, counting->steps.end, energy);
  return energy;
}

std::string in_words(const RunEnergy& energy) {
  if (!energy.per_step) { return fmt::format("energy: not known: {}", energy.per_step.error().message); }
  const JoulesPerIteration& one = *energy.per_step;
  std::string line = fmt::format("energy: {:.4g} J a step ({:.4g}..{:.4g})", one.joules.value, one.low.value, one.high.value);
  if (energy.idle) { line += fmt::format(", of which {:.4g} J idle", energy.idle->value); }
  line += fmt::format("; {} GPU{}, {} steps of {} collectives in {:.1f} s", energy.gpus.size(), energy.gpus.size() == 1 ? "" : "s",
                      energy.steps, energy.collectives_per_step, energy.span.count() / 1e6);
  std::vector<std::string> reasons;
  for (const RunEnergy::Gpu& gpu : energy.gpus) {
    for (const std::string& reason : gpu.conditions.below_greatest_clock) {
      if (std::ranges::find(reasons, reason) == reasons.end()) { reasons.push_back(reason); }
    }
  }
  if (!reasons.empty()) { line += fmt::format("; clocks fell by {}", fmt::join(reasons, ", ")); }
  for (const std::string& note : energy.notes) { line += "; " + note; }
  return line;
}

}  // namespace elbowroom
