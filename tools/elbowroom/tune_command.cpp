#include "tune_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "case_options.hpp"
#include "console.hpp"
#include "elbowroom/experiment/tune_case.hpp"
#include "elbowroom/experiment/tune_report.hpp"
#include "elbowroom/report/result_table.hpp"
#include "elbowroom/report/scenario_line.hpp"
#include "elbowroom/tune/profile_file.hpp"
#include "energy_options.hpp"
#include "exit_code.hpp"
#include "interruption.hpp"
#include "output.hpp"
#include "profile_option.hpp"
#include "progress_line.hpp"
#include "rank_session.hpp"
#include "report/schemas.hpp"
#include "terminal.hpp"

namespace elbowroom {
namespace {

struct TuneArguments {
  CaseOptions cases;
  double time_limit_s = 60;
  int candidates = 24;
  bool without_prior = false;
  std::vector<std::string> left_out;
  bool for_run = false;
  std::optional<std::string> profile;
  std::optional<std::string> json_file;
  std::string objective = "time";
  EnergySpanOption energy_span;
  bool wide = false;
  bool dry_run = false;
};

/// What a search makes least, and what that is measured with.
struct ObjectiveRequest {
  Objective objective = Objective::time;
  EnergySettings energy;
};

Result<ObjectiveRequest> objective_of(const TuneArguments& arguments) {
  const Result<Objective> objective = parse_objective(arguments.objective);
  if (!objective) { return invalid_input(fmt::format("--objective: {}", objective.error().message)); }
  Result<EnergySettings> energy = energy_settings(arguments.energy_span);
  if (!energy) { return energy.error(); }
  if (*objective == Objective::time && arguments.energy_span.seconds) {
    return invalid_input("--energy-span: given, expected only with --objective energy or product");
  }
  return ObjectiveRequest{*objective, *std::move(energy)};
}

constexpr std::string_view kTune = "elbowroom tune";

std::vector<std::string> left_out(const TuneArguments& arguments) {
  std::vector<std::string> names = arguments.left_out;
  if (arguments.for_run) { std::ranges::copy(controls_beyond_run(), std::back_inserter(names)); }
  std::ranges::sort(names);
  const auto repeated = std::ranges::unique(names);
  names.erase(repeated.begin(), repeated.end());
  return names;
}

Status check(const TuneArguments& arguments) {
  // Written so that NaN is refused.
  if (!(arguments.time_limit_s >= 0.001 && arguments.time_limit_s <= 86'400)) {
    return invalid_input(fmt::format("--budget: {}, expected 0.001 to 86400 seconds", arguments.time_limit_s));
  }
  if (arguments.candidates < 4 || arguments.candidates > 1000) {
    return invalid_input(fmt::format("--candidates: {}, expected 4 to 1000", arguments.candidates));
  }
  const Status known = check_controls(arguments.left_out);
  if (!known) { return invalid_input(fmt::format("--without: {}", known.error().message)); }
  const std::array outputs{OutputFile{NamedFile("--json", arguments.json_file), kTuneSchema}};
  if (Status writable = check_outputs(outputs); !writable) { return writable; }
  const std::optional<std::string> profile = profile_path(arguments.profile);
  const Status storable = profile ? can_store_in(*profile) : Status();
  if (!storable) { return invalid_input(fmt::format("--profile: {}", storable.error().message)); }
  const std::array files{NamedFile("--scenario", arguments.cases.scenario_file), NamedFile("--profile", profile),
                         NamedFile("--json", arguments.json_file)};
  return check_distinct(files);
}

/// Beside the search, a quarter of its time for caps that it left out, and half of it for the rounds that confirm.
constexpr double kTimeInSearches = 1.75;

int show_searches(const std::vector<Case>& cases, const TuneArguments& arguments) {
  std::string lines;
  for (const Case& what : cases) { lines += case_line(what) + "\n"; }
  const double each = kTimeInSearches * arguments.time_limit_s;
  lines +=
      fmt::format("# {} case{}, at most {} candidates each; about {:.0f} s each and {:.0f} s in all at most{}; nothing was run\n",
                  cases.size(), cases.size() == 1 ? "" : "s", arguments.candidates, each, each * static_cast<double>(cases.size()),
                  arguments.objective == "time" ? "" : ", and an energy span for each schedule");
  const Status printed = print_table(lines);
  return printed ? exit_ok : complain(kTune, printed.error());
}

class TuneCommand {
 public:
  explicit TuneCommand(const TuneArguments& arguments)
      : arguments_(arguments), left_out_(left_out(arguments)), profile_(profile_path(arguments.profile)) {}

  int run() {
    if (Status checked = check(arguments_); !checked) { return complain(kTune, checked.error()); }
    Result<ObjectiveRequest> objective = objective_of(arguments_);
    if (!objective) { return complain(kTune, objective.error()); }
    objective_ = *std::move(objective);
    Result<CaseSelection> selection = select_cases(arguments_.cases);
    if (!selection) { return complain(kTune, selection.error()); }
    const std::vector<Case> cases = cases_of(*std::move(selection));
    if (arguments_.dry_run) { return show_searches(cases, arguments_); }
    const Result<std::unique_ptr<Backend>> backend = open_on_ranks(arguments_.cases, most_ranks(cases));
    if (!backend) { return complain(kTune, backend.error()); }
    origin_ = origin_of(**backend, ranks_of(cases.front()), arguments_.cases.seed);
    show(table_preamble(origin_));
    if (!left_out_.empty()) { show(fmt::format("# without {}\n", fmt::join(left_out_, ", "))); }
    Status tuned;
    ProgressLine line(kTune, cases.size());
    for (auto what = cases.begin(); tuned && what != cases.end(); ++what) { tuned = tune(**backend, *what, line); }
    // Whatever ended the run, what was measured before is not lost.
    const Status written = arguments_.json_file == "-" ? print(to_json(origin_, left_out_, cases_)) : Status();
    if (!tuned && interruption_.came()) {
      print_notice(kTune, fmt::format("{}; {} of {} cases are complete", interruption_.check().error().message, cases_.size(),
                                      cases.size()));
      return interruption_.exit_code();
    }
    if (!tuned) { return complain(kTune, tuned.error()); }
    if (!written) { return complain(kTune, written.error()); }
    if (!shown_) { return complain(kTune, shown_.error()); }
    if (!profile_) { print_notice("nothing is stored: no --profile is given and ELBOWROOM_PROFILE is not set"); }
    return exit_ok;
  }

 private:
  void show(const std::string& text) {
    if (arguments_.json_file == "-") {
      print_error(text);
    } else if (Status printed = print_table(text, arguments_.wide); !printed) {
      shown_ = printed;
    }
  }

  /// Stores each choice when it is made: whatever ends the run, earlier ones are not lost.
  Status tune(Backend& backend, const Case& what, ProgressLine& line) {
    TuneSettings settings;
    settings.tuner.seed = arguments_.cases.seed;
    settings.tuner.time_limit = Seconds(arguments_.time_limit_s);
    settings.tuner.most_candidates = arguments_.candidates;
    settings.prior = !arguments_.without_prior;
    settings.left_out = left_out_;
    settings.state_for = profile_;
    settings.notice = notices();
    settings.objective = objective_.objective;
    settings.energy = &objective_.energy;
    line.begin_case(name_of(what));
    const TuneProgress progress = [&](std::string_view step, const Tuner* tuner, std::optional<Seconds> left) {
      line.show(left, tuner == nullptr ? std::string(step) : search_words(*tuner));
      return interruption_.check();
    };
    Result<TunedCase> tuned = tune_case(backend, what, settings, progress);
    line.end_case();
    if (!tuned) { return tuned.error(); }
    show("#\n" + to_table(*tuned, origin_, table_columns(arguments_.wide)));
    Status stored = profile_ ? store_choice(*profile_, tuned->choice, notices()) : Status();
    cases_.push_back(std::move(*tuned));
    const bool to_file = arguments_.json_file && arguments_.json_file != "-";
    Status written = to_file ? write_document(*arguments_.json_file, kTuneSchema, to_json(origin_, left_out_, cases_)) : Status();
    return stored ? written : stored;
  }

  static std::string search_words(const Tuner& tuner) {
    const std::optional<std::size_t> best = tuner.best();
    return fmt::format("{} trials of {} candidates, best {}", tuner.trials(), tuner.candidates().size(),
                       best ? best_words(tuner.candidates()[*best]) : "none yet");
  }

  static std::string best_words(const MeasuredCandidate& best) {
    return fmt::format("{:.3f} ms ({})", best.interval().median.count() / 1000, in_words(best.candidate.plan));
  }

  const TuneArguments& arguments_;
  ObjectiveRequest objective_;
  std::vector<std::string> left_out_;
  std::optional<std::string> profile_;
  Interruption interruption_{kTune};
  Origin origin_;
  std::vector<TunedCase> cases_;
  Status shown_;  ///< why a table is not where it should be
};

}  // namespace

void add_tune_command(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* command = app.add_subcommand("tune", "Searches how each case runs best and stores it in a profile");
  const auto arguments = std::make_shared<TuneArguments>();
  add_case_options(*command, arguments->cases);
  command->add_option("--budget", arguments->time_limit_s, "Seconds for the search of each case")->capture_default_str();
  command->add_option("--candidates", arguments->candidates, "Most candidates measured in each case")->capture_default_str();
  command->add_flag("--without-prior", arguments->without_prior, "Do not rank candidates by the simulator");
  command->add_option("--without", arguments->left_out, "Controls that no plan is to set: symmetric,copy_engine")
      ->delimiter(',')
      ->take_all();
  command->add_flag("--for-run", arguments->for_run, "Only controls that elbowroom run can apply to a program");
  command->add_option("--profile", arguments->profile, "Profile file to store choices in; ELBOWROOM_PROFILE by default");
  command->add_option("--objective", arguments->objective, "What is to be least: time, energy, or the product of both")
      ->capture_default_str();
  add_energy_span(*command, arguments->energy_span);
  command->add_flag("--dry-run", arguments->dry_run, "Show what would be searched, and how long that takes at most");
  command->add_flag("--wide", arguments->wide, "All columns on a terminal that has fewer");
  command->add_option("--json", arguments->json_file, "Write elbowroom.tune/1 to this file; - for standard output");
  command->callback([=, &chosen] {
    chosen = [arguments] { return in_ranks(kTune, arguments->cases, [&] { return TuneCommand(*arguments).run(); }); };
  });
}

}  // namespace elbowroom
