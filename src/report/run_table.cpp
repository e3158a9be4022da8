#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "elbowroom/report/run_report.hpp"
#include "report/comm_library.hpp"
#include "report/counts.hpp"
#include "report/symmetric_memory.hpp"

namespace elbowroom {
namespace {

// A run has hundreds of kernels; those most often beside a collective come first, the JSON report has them all.
constexpr std::size_t kShownKernels = 20;
constexpr std::size_t kNameWidth = 42;

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? std::string(text.get()) : name;
}

/// One line of printable text, cut where the column ends.
std::string name_cell(const std::string& name) {
  std::string text = demangled(name);
  if (text.starts_with("void ")) { text.erase(0, 5); }
  std::ranges::replace_if(text, [](unsigned char byte) { return byte < 0x20 || byte == 0x7f; }, '?');
  if (text.size() > kNameWidth) { text = text.substr(0, kNameWidth - 3) + "..."; }
  return text;
}

std::string time_cell(std::optional<Microseconds> time) { return time ? fmt::format("{:.1f}", time->count()) : "-"; }

std::string command_line(const std::vector<std::string>& command) {
  std::string line;
  for (const std::string& argument : command) {
    const bool plain = !argument.empty() && argument.find_first_of(" \t\n\"'\\$") == std::string::npos;
    line += line.empty() ? "" : " ";
    line += plain ? argument : fmt::format("'{}'", argument);
  }
  std::ranges::replace_if(line, [](unsigned char byte) { return byte < 0x20; }, ' ');
  return line;
}

/// Only what may be true of this run.
std::string why_none(const RunReport& report, std::string_view driver) {
  if (report.unseen_because) { return *report.unseen_because; }
  if (!report.driver_found) { return fmt::format("the {} is not installed here", driver); }
  if (report.exit_code != 0) {
    return fmt::format("the command ended with {}, and what is killed or ends by _exit writes no report", report.exit_code);
  }
  return fmt::format("none used the {}, or those that did are setuid or ended by _exit or exec", driver);
}

std::string processes_line(const RunReport& report) {
  const std::string_view driver = report.backend == "hip" ? "HIP runtime" : "CUDA driver";
  if (report.processes.empty()) { return fmt::format("# no process reported: {}\n", why_none(report, driver)); }
  return fmt::format("# {} {} used the {}\n", report.processes.size(), report.processes.size() == 1 ? "process" : "processes",
                     driver);
}

std::string summary_lines(const RunActivity& total) {
  const RunActivity::Launches& launches = total.launches;
  const double share =
      launches.total > 0 ? 100.0 * static_cast<double>(launches.in_window) / static_cast<double>(launches.total) : 0;
  const RunActivity::Overhead& overhead = total.overhead;
  std::string lines =
      fmt::format("launches    {} ({} captured), {} graph launches\n", launches.total, launches.captured, launches.graph_launches);
  if (launches.at_rest > 0) {
    lines += fmt::format("at rest     {} launches left alone, auto had found nothing to gain\n", launches.at_rest);
  }
  lines += fmt::format("in a window {} ({:.2f} %), {} more by order alone\n", launches.in_window, share, launches.in_order_only);
  if (launches.untracked > 0 || launches.collectives_forgotten > 0) {
    lines += fmt::format("lost        {} launches not tracked, {} collectives forgotten while they may have run\n",
                         launches.untracked, launches.collectives_forgotten);
  }
  lines += fmt::format("applied     priority {}, gate {}, shape {}, sm_target {}; relaunched as asked {}\n", total.applied.priority,
                       total.applied.gate, total.applied.shape, total.applied.sm_target, total.relaunched);
  lines += fmt::format("inside      {:.3f} ms in {} calls: {:.0f} ns a launch outside windows, {:.0f} ns inside\n",
                       static_cast<double>(overhead.time.count()) / 1e6, overhead.calls,
                       detail::nanoseconds_of(overhead.per_launch_outside), detail::nanoseconds_of(overhead.per_launch_inside));
  return lines;
}

std::string trial_lines(const std::vector<ProcessReport>& processes) {
  std::string lines;
  for (const ProcessReport& process : processes) {
    const ProcessReport::Trial& trial = process.trial;
    if (!trial.state || trial.state == TrialState::off) { continue; }
    lines += fmt::format("trial       process {}: {}, goes on with {}", process.pid, trial.state->text(), trial.arm.text());
    if (trial.decides == Decider::another_process) { lines += ", as another process decided for all"; }
    if (trial.decides == Decider::this_process) { lines += ", decided for all"; }
    if (trial.why_alone) { lines += fmt::format(", decided alone: {}", *trial.why_alone); }
    if (trial.remembered) { lines += fmt::format(" (remembered: {})", trial.remembered->text()); }
    for (const ProcessReport::Trial::Arm& arm : trial.arms) {
      lines += fmt::format("; {} {}", arm.controls.text(), time_cell(arm.step));
      if (&arm != &trial.arms.front()) { lines += fmt::format(" us, {:.2f} % less ({:.2f}..{:.2f})", arm.gain, arm.low, arm.high); }
      if (&arm == &trial.arms.front()) { lines += " us a step"; }
    }
    lines += '\n';
  }
  return lines;
}

std::string same_bits_lines(const RunReport& report) {
  if (!report.same_bits) { return {}; }
  return fmt::format("same bits   because of {}: no SM targets and blocks of a profile, no symmetric memory\n", *report.same_bits);
}

std::string symmetric_memory_lines(const std::vector<ProcessReport>& processes) {
  std::string lines;
  for (const ProcessReport& process : processes) {
    const detail::SymmetricMemory memory = detail::symmetric_memory_of(process);
    for (const detail::SymmetricBuffers& part : memory.parts) {
      const std::string compared = detail::compared_in_words(part);
      lines += fmt::format("symmetric   process {}: {} {}, {} buffers, {} MiB{}{}{}{}\n", process.pid, part.what, part.state,
                           part.buffers, part.bytes >> 20, compared.empty() ? "" : ", ", compared, part.reason.empty() ? "" : ": ",
                           part.reason);
    }
    for (const detail::LeftOut& left : memory.left_out) {
      lines += fmt::format("symmetric   process {}: without {}: {}\n", process.pid, left.part, left.reason);
    }
    for (const std::string& reason : memory.refused) { lines += fmt::format("symmetric   process {}: {}\n", process.pid, reason); }
  }
  return lines;
}

std::string size_cell(std::optional<std::int64_t> size_class) { return size_class ? fmt::format("2^{} B", *size_class) : "-"; }

std::string collective_lines(const std::vector<CollectiveActivity>& collectives) {
  if (collectives.empty()) { return {}; }
  std::string lines = fmt::format("\n{:<{}} {:>10} {:>9}\n", "collective", kNameWidth, "size", "count");
  for (const CollectiveActivity& collective : collectives) {
    lines += fmt::format("{:<{}} {:>10} {:>9}\n", name_cell(collective.name), kNameWidth, size_cell(collective.size_class),
                         collective.count);
  }
  return lines;
}

std::string kernel_lines(const std::vector<KernelActivity>& kernels) {
  if (kernels.empty()) { return {}; }
  std::string lines =
      fmt::format("\n{:<{}} {:>7} {:>9} {:>8} {:>7} {:>9} {:>9} {:>6} {:>6} {:>9}\n", "kernel beside collectives", kNameWidth,
                  "threads", "registers", "shared", "cluster", "launches", "in window", "gate", "shape", "sm_target");
  for (const KernelActivity& kernel : std::span(kernels).first(std::min(kernels.size(), kShownKernels))) {
    const KernelFootprint& footprint = kernel.footprint;
    lines += fmt::format("{:<{}} {:>7} {:>9} {:>8} {:>7} {:>9} {:>9} {:>6} {:>6} {:>9}\n", name_cell(kernel.name), kNameWidth,
                         footprint.threads.count(), footprint.registers_per_thread.count(),
                         (footprint.static_shared + footprint.dynamic_shared).count(), footprint.cluster, kernel.launches,
                         kernel.in_window, kernel.applied.gate, kernel.applied.shape, kernel.applied.sm_target);
  }
  if (kernels.size() > kShownKernels) { lines += fmt::format("# and {} more\n", kernels.size() - kShownKernels); }
  return lines;
}

std::string count_lines(std::string_view title, const std::map<std::string, std::int64_t>& counts) {
  if (counts.empty()) { return {}; }
  std::vector<std::pair<std::string, std::int64_t>> rows(counts.begin(), counts.end());
  std::ranges::stable_sort(rows, std::ranges::greater(), &std::pair<std::string, std::int64_t>::second);
  std::string lines = fmt::format("\n{}\n", title);
  for (const auto& [reason, count] : rows) { lines += fmt::format("{:>9}  {}\n", count, reason); }
  return lines;
}

}  // namespace

std::string to_table(const RunReport& report) {
  const RunActivity total = total_activity(report.processes);
  std::string table =
      fmt::format("# elbowroom run: {}policy {}, exit code {}, {:.1f} s\n# {}\n", report.processes.empty() ? "" : "measured, ",
                  report.policy, report.exit_code, report.wall.count(), command_line(report.command));
  table += processes_line(report);
  for (const std::string& line : report.damaged) { table += fmt::format("# damaged report: {}\n", line); }
  if (report.energy) { table += fmt::format("# {}\n", in_words(*report.energy)); }
  if (report.processes.empty()) { return table; }
  table += summary_lines(total);
  table += trial_lines(report.processes);
  table += same_bits_lines(report);
  table += symmetric_memory_lines(report.processes);
  table += detail::lines_of(total.library);
  table += collective_lines(total.collectives);
  table += kernel_lines(total.kernels);
  table += count_lines("refused (launches: why)", total.refused);
  return table + count_lines("passed through (processes: function and why)", total.passed_through);
}

}  // namespace elbowroom
