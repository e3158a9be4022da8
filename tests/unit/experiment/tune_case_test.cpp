#include "elbowroom/experiment/tune_case.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "elbowroom/experiment/tune_report.hpp"
#include "elbowroom/plan/controls.hpp"
#include "report/document_file.hpp"
#include "unit/experiment/cases.hpp"
#include "unit/experiment/tuning.hpp"

namespace elbowroom {
namespace {

using testing::ample;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using testing::go_on;
using ::testing::HasSubstr;
using testing::simulator;
using testing::small_case;
using testing::Told;

class TuneCase : public ::testing::Test {
 protected:
  TuneCase() { std::filesystem::create_directories(folder_); }
  ~TuneCase() override { std::filesystem::remove_all(folder_); }

  TunedCase tuned(const TuneSettings& settings) {
    Result<TunedCase> tuned = tune_case(*backend_, small_case(), settings, go_on);
    EXPECT_TRUE(tuned) << tuned.error().message;
    return *tuned;
  }
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) { names.push_back(entry.path().filename()); }
    return names;
  }

  std::filesystem::path folder_ = std::filesystem::temp_directory_path() / ("elbowroom-tune-" + std::to_string(getpid()));
  std::unique_ptr<Backend> backend_ = simulator();
};

TEST_F(TuneCase, ChoosesNothingThatIsSlowerThanTheBestBaseline) {
  const TunedCase found = tuned(ample());
  CaseTrials trials = *CaseTrials::prepare(*backend_, small_case());
  EXPECT_EQ(found.sequential, *trials.run(Order::sequential, {}));
  EXPECT_EQ(found.choice.time, *trials.run(order_of(found.choice.scheme), found.choice.plan));
  EXPECT_LE(found.choice.time, found.choice.baseline_time);
  EXPECT_LE(found.choice.baseline_time, *trials.run(Order::concurrent, {}));
  EXPECT_EQ(found.choice.made_for, case_size(small_case()));
  // Side by side afresh: both sides alone come first, and every schedule has a time in each round.
  ASSERT_GE(found.afresh.size(), 4U);
  EXPECT_EQ(found.afresh[0].label, "compute_only");
  EXPECT_EQ(found.afresh[1].label, "comm_only");
  for (const TimedSchedule& schedule : found.afresh) { EXPECT_EQ(schedule.times.size(), found.afresh[0].times.size()); }
}

TEST_F(TuneCase, LeavesOutWhatItIsToldTo) {
  TuneSettings settings = ample();
  settings.left_out = {"symmetric", "priority", "copy_engine"};
  for (const MeasuredCandidate& measured : tuned(settings).candidates) {
    EXPECT_FALSE(measured.candidate.plan.symmetric);
    EXPECT_FALSE(measured.candidate.plan.priority);
    EXPECT_FALSE(measured.candidate.plan.copy_engine);
  }
}

TEST_F(TuneCase, GoesOnFromWhereItWasInterrupted) {
  const TunedCase whole = tuned(ample());
  Told told;
  TuneSettings settings = ample();
  settings.state_for = folder_ / "profile.json";
  settings.notice = told.sink();
  const auto interrupt = [](std::string_view, const Tuner* tuner, std::optional<Seconds>) {
    return tuner != nullptr && tuner->trials() == 7 ? Status(failed("interrupted")) : Status();
  };
  const Result<TunedCase> none = tune_case(*backend_, small_case(), settings, interrupt);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "relu-ar: interrupted");
  EXPECT_THAT(told.lines, ElementsAre(EndsWith("keeps 7 trials, the same command goes on from there")));
  ASSERT_EQ(files().size(), 1U);
  const TunedCase found = tuned(settings);
  EXPECT_THAT(told.lines, Contains(EndsWith("going on after 7 trials")));
  EXPECT_EQ(found.choice.plan, whole.choice.plan);
  EXPECT_EQ(found.choice.trials, whole.choice.trials);
  EXPECT_THAT(files(), ElementsAre());  // nothing is left over
}

TEST_F(TuneCase, BeginsAnewWhereItsStateIsDamaged) {
  Told told;
  TuneSettings settings = ample();
  settings.state_for = folder_ / "profile.json";
  settings.notice = told.sink();
  const auto interrupt = [](std::string_view, const Tuner* tuner, std::optional<Seconds>) {
    return tuner != nullptr ? Status(failed("interrupted")) : Status();
  };
  ASSERT_FALSE(tune_case(*backend_, small_case(), settings, interrupt));
  const std::string state = folder_ / files().front();
  ASSERT_TRUE(detail::write_document(state, kTuningSchema, R"({"schema": "elbowroom.tuning/1"})"));
  told.lines.clear();
  tuned(settings);
  ASSERT_FALSE(told.lines.empty());
  EXPECT_THAT(told.lines.front(), HasSubstr("search begins anew: " + state));
}

TEST_F(TuneCase, IsReportedWithEveryCandidate) {
  const TunedCase found = tuned(ample());
  const std::string table = to_table(found, Origin());
  EXPECT_THAT(table, HasSubstr("# simulated: relu-ar"));
  EXPECT_THAT(table, HasSubstr("# because: " + found.choice.reason + "\n"));
  std::size_t rows = 0;
  for (const MeasuredCandidate& measured : found.candidates) { rows += measured.times.empty() ? 0 : 1; }
  std::size_t lines = 0;
  for (std::size_t at = 0; at < table.size(); at = table.find('\n', at) + 1) { lines += table[at] == '#' ? 0 : 1; }
  EXPECT_EQ(lines, rows);  // every other line is a comment
  EXPECT_EQ(to_table(found, Origin(), 500), table);
  EXPECT_THAT(to_table(found, Origin(), 80), HasSubstr("plan (--wide adds trials, predicted, how)\n"));
}

TEST(TuneControls, OfRunAreTheRest) {
  const std::vector<std::string> beyond = controls_beyond_run();
  EXPECT_EQ(beyond.size() + 7, controls().size());
  EXPECT_THAT(beyond, Contains("symmetric"));
  EXPECT_THAT(beyond, ::testing::Not(Contains("priority")));
}

TEST(TuneControls, AreKnownByName) {
  const std::vector<std::string> good{"priority", "cluster"};
  EXPECT_TRUE(check_controls(good));
  const std::vector<std::string> bad{"priority", "prioritty"};
  const Status refused = check_controls(bad);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, ::testing::StartsWith("'prioritty', expected one of blocks_per_sm, priority, "));
}

}  // namespace
}  // namespace elbowroom
