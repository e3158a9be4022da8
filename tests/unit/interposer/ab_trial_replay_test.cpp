#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "interposer/core/ab_trial.hpp"

namespace elbowroom::interposer {
namespace {

/// Step times of programs as they were recorded on GPUs, launch by launch, in nanoseconds.
std::vector<std::vector<std::uint64_t>> recorded_launches() {
  std::vector<std::vector<std::uint64_t>> launches;
  const std::filesystem::path folder = std::filesystem::path(ELBOWROOM_SOURCE_DIR) / "docs/results/raw/h200";
  for (const char* name : {"pytorch-2gpu.json", "pytorch-fsdp2-rounds-2gpu.json", "pytorch-symmetric-steps-2gpu.json"}) {
    std::ifstream file(folder / name);
    const nlohmann::json document = nlohmann::json::parse(file);
    for (const auto& example : document.at("cases")) {
      for (const auto& variant : example.at("variants")) {
        for (const auto& launch : variant.at("ms")) {
          std::vector<std::uint64_t> steps;
          for (const double ms : launch) { steps.push_back(static_cast<std::uint64_t>(std::llround(ms * 1e6))); }
          if (steps.size() >= 24) { launches.push_back(std::move(steps)); }
        }
      }
    }
  }
  return launches;
}

/// A long run whose steps take what one recorded launch took, in runs of its steps that begin anywhere: what neighbours have in
/// common stays together. Which arms a trial tries changes nothing, or a factor.
class Replay {
 public:
  Replay(const std::vector<std::uint64_t>& launch, std::mt19937_64& random) : launch_(launch), random_(random) {}

  std::uint64_t next() {
    if (left_ == 0) {
      at_ = random_() % launch_.size();
      left_ = 8 + random_() % 8;
    }
    --left_;
    return launch_[at_++ % launch_.size()];
  }

 private:
  const std::vector<std::uint64_t>& launch_;
  std::mt19937_64& random_;
  std::size_t at_ = 0;
  std::size_t left_ = 0;
};

/// `until_agreed`: steps after a change of arm that the trial is not told of, as where ranks agree first.
AbTrial settled_after(Replay replay, unsigned trials, double factor_of_last_arm, unsigned until_agreed = 0) {
  AbTrial trial;
  trial.begin(3);
  trial.on_pattern(1);
  unsigned arm = 0;
  for (std::uint64_t step = 1; trial.decisions() < trials; ++step) {
    trial.on_step_begun(step);
    const bool changes = std::exchange(arm, trial.arm()) != trial.arm();
    for (unsigned i = 0; changes && i < until_agreed; ++i) { static_cast<void>(replay.next()); }
    trial.on_acted();
    const double factor = trial.arm() == 2 ? factor_of_last_arm : 1.0;
    trial.on_step_time(step, static_cast<std::uint64_t>(static_cast<double>(replay.next()) * factor));
  }
  return trial;
}

/// All arms equal, three trials in the life of the process: how many of 1,000 replays leave the program as it is.
int wrong_of_equal_arms(std::uint64_t seed, unsigned until_agreed) {
  const auto launches = recorded_launches();
  EXPECT_GE(launches.size(), 20U);
  std::mt19937_64 random(seed);
  int wrong = 0;
  for (int i = 0; i < 1'000; ++i) {
    const Replay replay(launches[static_cast<std::size_t>(i) % launches.size()], random);
    wrong += settled_after(replay, 3, 1.0, until_agreed).arm() == 0 ? 0 : 1;
  }
  ::testing::Test::RecordProperty("wrong", wrong);
  return wrong;
}

// In at least 95 % the program stays as it is.
TEST(AbTrialReplay, EqualArmsEndWithTheProgramAsItIs) { EXPECT_LE(wrong_of_equal_arms(1, 0), 50); }

// The same where ranks are in step: two steps pass with each change of arm.
TEST(AbTrialReplay, EqualArmsOfRanksInStepEndWithTheProgramAsItIs) { EXPECT_LE(wrong_of_equal_arms(4, 2), 50); }

// A trial of three arms has 120 steps. One of arms that are equal ends after half of them in at least three of four replays.
TEST(AbTrialReplay, EqualArmsAreSeenToBeEqualEarly) {
  const auto launches = recorded_launches();
  ASSERT_GE(launches.size(), 20U);
  std::mt19937_64 random(3);
  int early = 0;
  for (int i = 0; i < 1'000; ++i) {
    Replay replay(launches[static_cast<std::size_t>(i) % launches.size()], random);
    AbTrial trial;
    trial.begin(3);
    trial.on_pattern(1);
    std::uint64_t step = 0;
    while (trial.decisions() == 0) {
      trial.on_step_begun(++step);
      trial.on_acted();
      trial.on_step_time(step, replay.next());
    }
    early += step <= 60 ? 1 : 0;
  }
  EXPECT_GE(early, 750);
  RecordProperty("early", early);
}

TEST(AbTrialReplay, AnArmThatTakesThreePercentLessIsFound) {
  const auto launches = recorded_launches();
  ASSERT_GE(launches.size(), 20U);
  std::mt19937_64 random(2);
  int found = 0;
  for (int i = 0; i < 300; ++i) {
    const Replay replay(launches[static_cast<std::size_t>(i) % launches.size()], random);
    found += settled_after(replay, 1, 0.97).arm() == 2 ? 1 : 0;
  }
  EXPECT_GE(found, 210) << "of 300 after one trial; the rest are launches whose steps differ by 5 to 10 %";
  RecordProperty("found", found);
}

/// Two stages of a pipeline, which compare three arms at the same time and share their steps: whether the first ends with
/// one of them in force. `gain`, `neighbours_gain`: of the last arm, as a share of the step. `late`: steps that the neighbour finds
/// its repetition later. It compares nothing where `alone`.
bool ends_with_an_arm(Replay replay, std::mt19937_64& random, double gain, double neighbours_gain, std::uint64_t late, bool alone) {
  AbTrial stage;
  AbTrial neighbour;
  stage.begin(3);
  neighbour.begin(3);
  stage.on_pattern(random());
  const std::uint64_t pattern = random();
  // The first comparison and a second one.
  for (std::uint64_t step = 1; step <= AbTrial::kRecheck + 400; ++step) {
    if (step == 1 + late && !alone) { neighbour.on_pattern(pattern); }
    double time = static_cast<double>(replay.next());
    for (AbTrial* one : {&stage, &neighbour}) {
      one->on_step_begun(step);
      one->on_acted();
    }
    if (stage.arm() == 2) { time *= 1.0 - gain; }
    if (neighbour.arm() == 2) { time *= 1.0 - neighbours_gain; }
    for (AbTrial* one : {&stage, &neighbour}) { one->on_step_time(step, static_cast<std::uint64_t>(time)); }
  }
  return stage.chosen() != 0;
}

/// How many of 500 replays end with the arm in force, of the stage.
int kept(double gain, double neighbours_gain, std::uint64_t late, bool alone = false) {
  const auto launches = recorded_launches();
  EXPECT_GE(launches.size(), 20U);
  std::mt19937_64 random(5);
  int kept = 0;
  for (int i = 0; i < 500; ++i) {
    const Replay replay(launches[static_cast<std::size_t>(i) % launches.size()], random);
    kept += ends_with_an_arm(replay, random, gain, neighbours_gain, late, alone) ? 1 : 0;
  }
  return kept;
}

// In at least 95 % the stage stays as it is, whatever its neighbour gains. With one order of arms for both it went the
// neighbour's way in nearly all.
TEST(AbTrialReplay, AStageDoesNotTakeItsNeighboursGainForItsOwn) {
  for (const std::uint64_t late : {0U, 1U, 5U, 15U}) {
    EXPECT_LE(kept(-0.01, 0.05, late), 25) << late << " steps later";
    EXPECT_LE(kept(0.0, 0.05, late), 25) << late << " steps later";
    EXPECT_LE(kept(-0.01, -0.05, late), 25) << late << " steps later";
  }
}

// Beside a neighbour whose arm costs as much the stage needs more evidence: it finds its gain in at least half of the launches in
// which it finds it alone.
TEST(AbTrialReplay, AStageFindsItsGainBesideANeighbourThatLoses) {
  const int alone = kept(0.03, 0.0, 0, true);
  const int beside = kept(0.03, -0.03, 0);
  RecordProperty("alone", alone);
  RecordProperty("beside", beside);
  EXPECT_GE(2 * beside, alone);
}

}  // namespace
}  // namespace elbowroom::interposer
