#include "run_reports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "output.hpp"
#include "preload/xla_buffers.hpp"
#include "run/process_report.hpp"
#include "run_backend.hpp"
#include "run_python.hpp"

namespace elbowroom {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> sorted_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code unknown;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, unknown)) { files.push_back(entry.path()); }
  std::ranges::sort(files);
  return files;
}

void add_process(const fs::path& file, bool hooked, RunReport& report) {
  const Result<std::string> text = read_file(file.string());
  Result<ProcessReport> process = text ? parse_process_report(*text, file.filename().string()) : text.error();
  if (!process) { return report.damaged.push_back(process.error().message); }
  if (hooked) {
    process->symmetric_memory = symmetric_memory_of(file.parent_path(), *process);
    process->jax = imported_jax(file.parent_path(), process->pid);
  }
  report.processes.push_back(*std::move(process));
}

std::vector<std::string> settings_of(const RunRequest& request) {
  std::vector<std::string> settings;
  if (!request.xla.empty()) { settings.push_back(fmt::format("{}=1", preload::kXlaBuffers)); }
  for (const auto& [variable, value] : request.given.controls.comm_library) {
    settings.push_back(fmt::format("{}={}", variable, value));
  }
  return settings;
}

}  // namespace

RunReport read_reports(const fs::path& folder, const RunRequest& request) {
  RunReport report;
  report.command = request.command;
  report.policy = text(request.policy);
  report.backend = name(request.backend);
  report.settings = settings_of(request);
  report.same_bits = request.given.same_bits;
  const std::vector<fs::path> files = sorted_files(folder);
  for (const fs::path& file : files) {
    const fs::path suffix = file.extension();
    if (suffix == run::kUnfinishedReportSuffix) {
      report.damaged.push_back(file.filename().string() + ": the process ended while it wrote");
    } else if (suffix == run::kProcessReportSuffix) {
      add_process(file, request.given.hook.has_value(), report);
    }
  }
  std::ranges::stable_sort(report.processes, {}, &ProcessReport::pid);
  report.without_driver = documents_without_report(files, report.processes);
  report.driver_found = !report.processes.empty() || driver_can_be_loaded(request.backend);
  return report;
}

}  // namespace elbowroom
