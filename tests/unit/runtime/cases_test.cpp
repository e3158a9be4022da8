#include "elbowroom/runtime/cases.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "elbowroom/tune/profile_file.hpp"
#include "unit/experiment/cases.hpp"

namespace elbowroom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::simulator;
using testing::small_case;

class RuntimeCases : public ::testing::Test {
 protected:
  RuntimeCases() { std::filesystem::create_directories(folder_); }
  ~RuntimeCases() override { std::filesystem::remove_all(folder_); }

  /// Few candidates, and time enough on any machine.
  static TuneSettings brief() {
    TuneSettings settings;
    settings.tuner.time_limit = std::chrono::hours(24);
    settings.tuner.most_candidates = 4;
    settings.prior = false;
    return settings;
  }

  std::filesystem::path folder_ = std::filesystem::temp_directory_path() / ("elbowroom-runtime-" + std::to_string(getpid()));
  std::unique_ptr<Backend> backend_ = simulator();
};

TEST_F(RuntimeCases, BenchRunsTheBaselinesWhereNothingElseIsAskedFor) {
  BenchSettings settings;
  settings.trials = 1;
  const Result<CaseMeasurement> measured = bench(*backend_, small_case(), settings);
  ASSERT_TRUE(measured) << measured.error().message;
  std::vector<std::string> schemes;
  for (const SchemeResult& result : measured->result.results) { schemes.push_back(result.scheme); }
  EXPECT_THAT(schemes, ElementsAre("sequential", "concurrent", "priority", "shaped", "shaped_priority"));
  // Without noise a scheme takes what one run of it takes.
  EXPECT_EQ(measured->result.results[1].time.median, *CaseTrials::prepare(*backend_, small_case())->run(Order::concurrent, {}));
}

TEST_F(RuntimeCases, BenchRunsTheSchemesThatAreAskedFor) {
  BenchSettings settings;
  settings.trials = 1;
  settings.schemes = {Scheme::priority};
  const Result<CaseMeasurement> measured = bench(*backend_, small_case(), settings);
  ASSERT_TRUE(measured);
  ASSERT_EQ(measured->result.results.size(), 2U);
  EXPECT_EQ(measured->result.results[1].scheme, "priority");
}

TEST_F(RuntimeCases, TuneStoresWhatItChose) {
  const std::string profile = folder_ / "choices.profile";
  const std::int64_t before = seconds_since_1970();
  const Result<TunedCase> tuned = tune(*backend_, small_case(), brief(), profile);
  ASSERT_TRUE(tuned) << tuned.error().message;
  const Result<Profile> stored = load_profile(profile);
  ASSERT_TRUE(stored);
  ASSERT_EQ(stored->choices().size(), 1U);
  EXPECT_EQ(stored->choices()[0].plan, tuned->choice.plan);
  EXPECT_EQ(stored->choices()[0].scheme, tuned->choice.scheme);
  EXPECT_GE(stored->choices()[0].stored_at, before);
}

TEST_F(RuntimeCases, TuneRefusesBeforeItSearchesWhatItCouldNotStore) {
  const std::string profile = folder_ / "mine.txt";
  std::ofstream(profile) << R"({"schema": "elbowroom.result/1"})";
  const Result<TunedCase> tuned = tune(*backend_, small_case(), brief(), profile);
  ASSERT_FALSE(tuned);
  EXPECT_EQ(tuned.error().kind, ErrorKind::invalid_input);
  EXPECT_THAT(tuned.error().message, HasSubstr("mine.txt"));
}

TEST_F(RuntimeCases, TuneNeedsNoProfile) {
  const Result<TunedCase> tuned = tune(*backend_, small_case(), brief());
  ASSERT_TRUE(tuned) << tuned.error().message;
  EXPECT_LE(tuned->choice.time, tuned->choice.baseline_time);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

}  // namespace
}  // namespace elbowroom
