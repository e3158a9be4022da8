#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>

#include "elbowroom/report/run_report.hpp"
#include "page/reading.hpp"
#include "page/run_energy_view.hpp"

namespace elbowroom::page {
namespace {

/// An array of texts as one word of a shell's line each.
std::string command_words(Members& members) {
  std::string line;
  for (const std::string& word : members.texts("command")) {
    const bool plain = !word.empty() && word.find_first_of(" \t\n\"'\\$`;&|<>()*?[]{}~#!") == std::string::npos;
    line += fmt::format("{}{}", line.empty() ? "" : " ", plain ? word : fmt::format("'{}'", word));
  }
  return line;
}

Table named_counts(std::string title, std::string name, const std::string& tag, Members& members, const char* member) {
  Table table{std::move(title), {{std::move(name), "", tag, ""}, {"count", "", tag, ""}}, {}, {}};
  for (const auto& [key, count] : members.counts(member)) { table.rows.push_back({key, count}); }
  return table;
}

/// The columns that every table of kernels ends with.
constexpr const char* kControls[] = {"priority", "gate", "shape", "sm_target"};

Table kernels_of(Members& members) {
  Table table{"Kernels that could run beside a collective",
              {{"kernel", "", "name", ""},
               {"launches", "", "launches", ""},
               {"beside", "", "in_window", "launches in order and in time with a collective"},
               {"threads", "", "footprint.threads", "of a block"},
               {"registers", "", "footprint.registers", "of a thread"},
               {"shared", "B", "footprint.dynamic_shared", "dynamic shared memory of a block"}},
              {},
              {}};
  for (const char* control : kControls) {
    table.columns.push_back({control, "", fmt::format("applied.{}", control), "launches it acted on"});
  }
  members.each("kernels", [&](Members kernel) {
    Members footprint = kernel.object("footprint");
    std::vector<Value> row{kernel.text("name"),        kernel.exact("launches"),     kernel.exact("in_window"),
                           footprint.exact("threads"), footprint.exact("registers"), footprint.exact("dynamic_shared")};
    Members applied = kernel.object("applied");
    for (const char* control : kControls) { row.emplace_back(applied.exact(control)); }
    table.rows.push_back(std::move(row));
  });
  return table;
}

Table collectives_of(Members& members) {
  Table table{"Collectives",
              {{"kernel", "", "name", ""},
               {"size class", "", "size_class", "binary logarithm of the bytes; 0: not known"},
               {"count", "", "count", ""}},
              {},
              {}};
  members.each("collectives",
               [&](Members one) { table.rows.push_back({one.text("name"), one.exact("size_class"), one.exact("count")}); });
  return table;
}

/// Steps with each set of controls, as `auto` compared them.
void add_trial(Members& process, Section& section) {
  if (!process.has("ab")) { return; }
  Members trial = process.object("ab");
  Times gains{"What auto compared: gain over a plain step", "%", {}, {}, "kept"};
  Table table{"Steps compared by auto",
              {{"controls", "", "ab.arms.arm", ""},
               {"step", "us", "ab.arms.us", "geometric mean over rounds"},
               {"gain", "%", "ab.arms.gain_percent", "less time than a plain step"},
               {"low", "%", "ab.arms.low", ""},
               {"high", "%", "ab.arms.high", ""}},
              {},
              {}};
  const std::string kept = text_or_none(trial, "arm");
  trial.each("arms", [&](Members arm) {
    Timed gain;
    gain.label = arm.text("arm");
    gain.marked = gain.label == kept;
    gain.median = arm.exact("gain_percent");
    gain.low = arm.exact("low");
    gain.high = arm.exact("high");
    if (gain.marked) { table.marked = table.rows.size(); }
    table.rows.push_back({gain.label, arm.exact("us"), gain.median, gain.low, gain.high});
    if (!gain.median.is_null()) { gains.rows.push_back(std::move(gain)); }
  });
  if (table.rows.empty()) { return; }
  if (!gains.rows.empty()) { section.views.emplace_back(std::move(gains)); }
  section.views.emplace_back(std::move(table));
}

void add_symmetric_memory(Members& process, Section& section) {
  if (!process.has("symmetric_memory")) { return; }
  Members memory = process.object("symmetric_memory");
  Table table{"Buffers on symmetric memory",
              {{"what", "", "what", ""},
               {"state", "", "state", ""},
               {"buffers", "", "buffers", ""},
               {"bytes", "B", "bytes", ""},
               {"reason", "", "reason", ""}},
              {},
              {}};
  memory.each("buffers", [&](Members part) {
    table.rows.push_back({text_or_none(part, "what"), text_or_none(part, "state"), part.exact("buffers"), part.exact("bytes"),
                          text_or_none(part, "reason")});
  });
  for (const std::string& reason : memory.texts("refused")) { table.rows.push_back({"", "refused", Value(), Value(), reason}); }
  if (!table.rows.empty()) { section.views.emplace_back(std::move(table)); }
}

/// Steps that were compared.
bool has_times(Members& process) {
  Members trial = process.object("ab");
  bool timed = false;
  const auto look = [&](const char* name) { return [&timed, name](const Members& one) { timed = timed || one.has(name); }; };
  trial.each("arms", look("us"));
  process.object("symmetric_memory").each("buffers", look("ordinary_ms"));
  return timed;
}

void add_activity(Members& members, Section& section) {
  for (Table table :
       {named_counts("Launches", "of them", "launches", members, "launches"),
        named_counts("Launches that each control acted on", "control", "applied", members, "applied"),
        named_counts("Refused", "reason", "refused", members, "refused"), collectives_of(members), kernels_of(members)}) {
    if (!table.rows.empty()) { section.views.emplace_back(std::move(table)); }
  }
}

Section process_section(Members process) {
  Section section;
  const Value pid = process.exact("pid");
  section.title = fmt::format("process {}", pid.is_number() ? pid.dump() : "?");
  std::string line = text_or_none(process, "program");
  if (const std::string device = text_or_none(process, "device"); !device.empty()) { line += ", " + device; }
  if (!line.empty()) { section.line = std::move(line); }
  add_trial(process, section);
  add_symmetric_memory(process, section);
  return section;
}

}  // namespace

Result<Document> read_run(std::string_view text, const std::string& source) {
  return read_members(text, source, kRunSchema, [](Members& members, Document& document) {
    read_origin(members, document);
    add_fact(document, "command", command_words(members));
    add_fact(document, "closing line", text_or_none(members, "closing"));
    add_fact(document, "policy", text_or_none(members, "policy"));
    add_fact(document, "exit code", members.exact("exit_code"));
    add_fact(document, "seconds", members.exact("wall_s"));
    members.need("processes", "an array");
    members.need("total", "an object");
    add_run_energy(members, document);
    Section total{"all processes", std::nullopt, {}};
    Members activity = members.object("total");
    add_activity(activity, total);
    Table damaged{"Reports that could not be read", {{"report", "", "damaged_reports", ""}}, {}, {}};
    for (std::string& line : members.texts("damaged_reports")) { damaged.rows.push_back({std::move(line)}); }
    if (!damaged.rows.empty()) { total.views.emplace_back(std::move(damaged)); }
    std::size_t processes = 0;
    bool measured = members.has("energy") && members.object("energy").has("joules_per_step");
    members.each("processes", [&](Members process) {
      ++processes;
      measured = measured || has_times(process);
      Section section = process_section(std::move(process));
      if (!section.views.empty()) { document.sections.push_back(std::move(section)); }
    });
    total.line = fmt::format("{} reported{}", processes == 0 ? "no process" : std::to_string(processes),
                             measured ? "" : "; nothing was measured");
    if (!measured) { document.provenance = "nothing measured"; }
    document.sections.push_back(std::move(total));
  });
}

}  // namespace elbowroom::page
