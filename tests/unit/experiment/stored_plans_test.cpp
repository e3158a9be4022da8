#include "elbowroom/experiment/stored_plans.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "elbowroom/plan/compute_facts.hpp"
#include "elbowroom/tune/profile.hpp"
#include "elbowroom/tune/profile_file.hpp"
#include "elbowroom/tune/profile_key.hpp"
#include "unit/experiment/cases.hpp"

namespace elbowroom {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::simulator;
using testing::small_case;
using ::testing::StartsWith;
using testing::Told;

class StoredPlans : public ::testing::Test {
 protected:
  StoredPlans() { std::filesystem::create_directories(folder_); }
  ~StoredPlans() override { std::filesystem::remove_all(folder_); }

  /// A choice for the case, at a plan that nobody would take by chance.
  StoredChoice choice() {
    StoredChoice stored;
    stored.key = profile_key(trials_.scenario(), trials_.compute().footprint, surroundings_of(*backend_));
    stored.plan.comm_blocks = Blocks(12);
    stored.reason = "it was the best";
    stored.made_for = case_size(trials_.scenario());
    return stored;
  }
  void store(const StoredChoice& choice) {
    Profile profile;
    profile.put(choice);
    ASSERT_TRUE(add_to_profile(path_, profile, {}));
  }
  TunedPlan looked_up() { return *stored_plans(*backend_, path_, told_.sink())(trials_); }

  std::filesystem::path folder_ = std::filesystem::temp_directory_path() / ("elbowroom-stored-" + std::to_string(getpid()));
  std::string path_ = folder_ / "profile.json";
  std::unique_ptr<Backend> backend_ = simulator();
  CaseTrials trials_ = *CaseTrials::prepare(*backend_, small_case());
  Told told_;
};

TEST_F(StoredPlans, AreTakenAsTheyWereStored) {
  store(choice());
  const TunedPlan plan = looked_up();
  EXPECT_EQ(plan.scheme, Scheme::tuned);
  EXPECT_EQ(plan.plan.comm_blocks, Blocks(12));
  EXPECT_EQ(plan.note, "stored: it was the best");
}

TEST_F(StoredPlans, AreNothingWithoutAProfile) {
  const TunedPlan plan = *stored_plans(*backend_, std::nullopt, {})(trials_);
  EXPECT_THAT(plan.note, StartsWith("no profile is given: "));
  EXPECT_THAT(plan.note, EndsWith(" is run, which is safe without measurement"));
  EXPECT_THAT(looked_up().note, StartsWith(path_ + " does not exist: "));
}

TEST_F(StoredPlans, NameWhatANearChoiceHasInstead) {
  StoredChoice other = choice();
  other.key.ranks = 4;
  store(other);
  EXPECT_THAT(looked_up().note, StartsWith("the profile lacks this case (ranks 2, stored 4): "));
}

TEST_F(StoredPlans, ServeNoOtherBalance) {
  StoredChoice other = choice();
  other.made_for->compute *= 1.3;
  store(other);
  EXPECT_THAT(looked_up().note, StartsWith("the stored choice is for another balance ("));
}

TEST_F(StoredPlans, ThatCannotActAreNotRun) {
  StoredChoice other = choice();
  other.plan.sm_target = Sms(100);  // the kernel is no library's product
  store(other);
  EXPECT_THAT(looked_up().note, StartsWith("the stored plan cannot act here ("));
}

TEST_F(StoredPlans, ThatCannotBeReadAreIgnoredWithANotice) {
  std::filesystem::create_directories(path_);  // a folder is no profile
  EXPECT_THAT(looked_up().note, HasSubstr("safe without measurement"));
  ASSERT_EQ(told_.lines.size(), 1U);
  EXPECT_THAT(told_.lines.front(), HasSubstr(path_));
}

}  // namespace
}  // namespace elbowroom
