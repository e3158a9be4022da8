#include "plan_command.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "console.hpp"
#include "device_option.hpp"
#include "elbowroom/model/comm_catalog.hpp"
#include "elbowroom/model/device_catalog.hpp"
#include "elbowroom/model/size.hpp"
#include "elbowroom/report/kernels_report.hpp"
#include "elbowroom/report/pad_ranges_page.hpp"
#include "elbowroom/report/plan_report.hpp"
#include "exit_code.hpp"
#include "kernel_source.hpp"
#include "output.hpp"
#include "report/schemas.hpp"
#include "terminal.hpp"

namespace elbowroom {
namespace {

constexpr const char* kDeviceWithoutGpu = "h200";

struct PlanArguments {
  std::string device = "auto";
  // Present but with --page.
  std::optional<std::int64_t> threads;
  std::optional<std::int64_t> registers;
  std::string static_shared = "0";
  std::string dynamic_shared = "0";
  std::string file;                 ///< empty: a footprint is given
  std::optional<std::string> comm;  ///< absent: the kernel that is the device's default
  std::optional<std::string> json;  ///< where the document goes; absent: a table is shown
  bool page = false;
  bool wide = false;
};

/// `notice`: what to say of it with the plan.
Result<DeviceLimits> device_of(const PlanArguments& arguments, const Result<LiveMachine>& live,
                               std::optional<std::string>& notice) {
  if (Result<std::optional<DeviceLimits>> described = described_device(arguments.device); !described || *described) {
    return described ? Result<DeviceLimits>(std::move(**described)) : described.error();
  }
  if (live) { return live->device; }
  notice =
      fmt::format("{} (elbowroom doctor says why): planning for {}, --device chooses", live.error().message, kDeviceWithoutGpu);
  return find_device(kDeviceWithoutGpu);
}

Error in_option(std::string_view option, const Error& error) { return {error.kind, fmt::format("{}: {}", option, error.message)}; }

Result<KernelFootprint> kernel_of(const PlanArguments& arguments) {
  const std::int64_t threads = *arguments.threads;
  const std::int64_t registers = *arguments.registers;
  if (threads < 1) { return invalid_input(fmt::format("--threads: {}, expected 1 or more", threads)); }
  if (registers < 1) { return invalid_input(fmt::format("--registers: {}, expected 1 or more", registers)); }
  const Result<Bytes> static_shared = parse_size(arguments.static_shared);
  if (!static_shared) { return in_option("--static-shared", static_shared.error()); }
  const Result<Bytes> dynamic_shared = parse_size(arguments.dynamic_shared);
  if (!dynamic_shared) { return in_option("--dynamic-shared", dynamic_shared.error()); }
  return KernelFootprint{Threads(threads), Registers(registers), *static_shared, *dynamic_shared, 1};
}

struct Beside {
  DeviceLimits device;
  CommKernel comm;
  bool comm_is_here = false;  ///< of the library that is here
};

/// What the kernels are planned for.
Result<Beside> beside(const PlanArguments& arguments, const LiveDevice& live_device, std::optional<std::string>& notice) {
  // Neither is asked for where both are named: looking takes a second where there is a GPU.
  const bool named = arguments.device != "auto" && arguments.comm;
  const Result<LiveMachine> live = named ? Result<LiveMachine>(unavailable("not looked for")) : live_device();
  const Result<DeviceLimits> device = device_of(arguments, live, notice);
  if (!device) { return device.error(); }
  const std::optional<CommRelease> there = live ? live->comm : std::nullopt;
  const Result<CommKernel> comm = find_comm_kernel(arguments.comm.value_or(default_comm_kernel(*device, there)), *device);
  if (!comm) { return in_option("--comm", comm.error()); }
  return Beside{*device, *comm, !arguments.comm && there && device->vendor == Vendor::nvidia};
}

Result<PlanReport> report_of(const PlanArguments& arguments, const LiveDevice& live_device) {
  const Result<KernelFootprint> kernel = kernel_of(arguments);
  if (!kernel) { return kernel.error(); }
  std::optional<std::string> notice;
  const Result<Beside> on = beside(arguments, live_device, notice);
  if (!on) { return on.error(); }
  Result<PlanReport> report = make_plan_report(on->device, *kernel, on->comm);
  if (report) {
    report->comm_is_default = !arguments.comm;
    report->comm_is_here = on->comm_is_here;
  }
  if (report && notice) { print_notice(*notice); }
  return report;
}

/// Threads of a launch stand in few files; `--threads` says them of the kernels that have none.
Result<KernelsReport> kernels_report_of(const PlanArguments& arguments, const LiveDevice& live_device) {
  if (arguments.threads && *arguments.threads < 1) {
    return invalid_input(fmt::format("--threads: {}, expected 1 or more", *arguments.threads));
  }
  const Result<std::vector<KernelRecord>> found = kernels_of(arguments.file);
  if (!found) { return found.error(); }
  std::optional<std::string> notice;
  const Result<Beside> on = beside(arguments, live_device, notice);
  if (!on) { return on.error(); }
  const Result<std::vector<KernelRecord>> records = runnable_on(on->device, *found);
  if (!records) { return invalid_input(fmt::format("{}: {}", arguments.file, records.error().message)); }
  KernelsReport report{on->device, on->comm, !arguments.comm, on->comm_is_here, {}};
  for (const KernelRecord& record : *records) {
    if (!record.threads && !arguments.threads) {
      return invalid_input(
          fmt::format("--threads: missing, expected a number: {} does not say with how many threads {} is launched", arguments.file,
                      record.name));
    }
    const KernelFootprint block{record.threads ? *record.threads : Threads(*arguments.threads), record.registers,
                                record.static_shared, record.dynamic_shared, 1};
    report.kernels.push_back({record.name, record.architecture, block, plan_residencies(on->device, block, on->comm.footprint)});
  }
  if (notice) { print_notice(*notice); }
  return report;
}

constexpr std::string_view kPlan = "elbowroom plan";

int show(const std::string& text, bool wide) {
  const Status written = print_table(text, wide);
  return written ? exit_ok : complain(kPlan, written.error());
}

/// The document where `--json` says, or the table.
int show(const PlanArguments& arguments, std::string_view schema, const std::string& document, const std::string& table) {
  if (!arguments.json) { return show(table, arguments.wide); }
  const Status written = write_document(*arguments.json, schema, document);
  return written ? exit_ok : complain(kPlan, written.error());
}

Status check_plan_files(const PlanArguments& arguments, std::string_view schema) {
  const NamedFile written("--json", arguments.json);
  const std::optional<std::string_view> file =
      arguments.file.empty() ? std::nullopt : std::optional<std::string_view>(arguments.file);
  if (Status distinct = check_distinct(std::array{NamedFile("FILE", file), written}); !distinct) { return distinct; }
  return check_outputs(std::array{OutputFile{written, schema}});
}

int run_plan(const PlanArguments& arguments, const LiveDevice& live_device) {
  if (arguments.page) { return show(pad_ranges_page(), true); }
  const std::size_t columns = table_columns(arguments.wide);
  const std::string_view schema = arguments.file.empty() ? kPlanSchema : kKernelsSchema;
  if (Status files = check_plan_files(arguments, schema); !files) { return complain(kPlan, files.error()); }
  if (!arguments.file.empty()) {
    const Result<KernelsReport> report = kernels_report_of(arguments, live_device);
    if (!report) { return complain(kPlan, report.error()); }
    return show(arguments, schema, kernels_json(*report), kernels_table(*report, columns));
  }
  const Result<PlanReport> report = report_of(arguments, live_device);
  if (!report) { return complain(kPlan, report.error()); }
  return show(arguments, schema, plan_json(*report), plan_table(*report, columns));
}

}  // namespace

void add_plan_command(CLI::App& app, LiveDevice live_device, std::function<int()>& chosen) {
  CLI::App* command = app.add_subcommand("plan", "Which pads give which residency, and what a communication block finds beside it");
  const auto arguments = std::make_shared<PlanArguments>();
  CLI::Option* file =
      command->add_option("FILE", arguments->file,
                          "Kernels of a cubin, fatbin, library, program, AMD code object, log of ptxas -v, output of "
                          "cuobjdump -res-usage, or folder of Triton's cache");
  command->add_option("--device", arguments->device, "Name, device file, or auto: the device that is here")->capture_default_str();
  CLI::Option* threads = command->add_option("--threads", arguments->threads, "Threads per block");
  CLI::Option* registers = command->add_option("--registers", arguments->registers, "Registers per thread (VGPRs on AMD)");
  command->add_option("--static-shared", arguments->static_shared, "Static shared memory per block (LDS on AMD)")
      ->capture_default_str();
  command->add_option("--dynamic-shared", arguments->dynamic_shared, "Dynamic shared memory per block, without padding")
      ->capture_default_str();
  command->add_option("--comm", arguments->comm,
                      "Communication kernel: a catalog name or threads,registers,static,dynamic,cluster; "
                      "absent: the all-reduce kernel of the NCCL that is here, else of the newest known");
  // Without a file it is standard output.
  CLI::Option* json = command->add_option("--json", arguments->json,
                                          "Write JSON to this file instead of a table; - or nothing for standard output");
  json->expected(0, 1)->type_name("[FILE]");
  command->add_flag("--wide", arguments->wide, "All columns on a terminal that has fewer");
  CLI::Option* page = command->add_flag("--page", arguments->page, "Write docs/pad-ranges.md for the whole catalog");
  file->excludes(registers);
  for (CLI::Option* option : command->get_options()) {
    if (option != page && option->get_name() != "--help") { page->excludes(option); }
  }
  command->footer("FILE goes without --registers, --page without any other option.");
  command->callback([=, &chosen, live_device = std::move(live_device)] {
    const bool footprint = !arguments->page && arguments->file.empty();
    if (footprint && (threads->empty() || registers->empty())) { throw CLI::RequiredError("FILE, or --threads with --registers,"); }
    if (!json->empty() && (!arguments->json || arguments->json->empty())) { arguments->json = "-"; }
    chosen = [arguments, live_device] { return run_plan(*arguments, live_device); };
  });
}

}  // namespace elbowroom
