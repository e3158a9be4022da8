#include "elbowroom/experiment/case_trials.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "elbowroom/model/device_catalog.hpp"
#include "elbowroom/plan/capabilities.hpp"
#include "elbowroom/plan/compute_facts.hpp"
#include "elbowroom/plan/overlap_plan.hpp"
#include "elbowroom/plan/program.hpp"
#include "elbowroom/trace/timeline.hpp"
#include "unit/model/steps.hpp"

namespace elbowroom {
namespace {

/// Notes what it is asked.
class NotingWorkload : public Workload {
 public:
  [[nodiscard]] const Step& step() const override { return step_; }
  [[nodiscard]] const ComputeFacts& compute(int) const override { return facts_; }
  [[nodiscard]] const Capabilities& capabilities() const override { return can_; }
  [[nodiscard]] Status accepts(const Program&) const override {
    ++asked;
    return acceptable ? Status() : invalid_input("pad_bytes: no");
  }
  Result<Microseconds> run(const Program& program) override {
    ran.push_back(program);
    return Microseconds(1);
  }
  Result<Timeline> record(const Program&) override { return Timeline(); }
  Status verify(const Program&) override { return {}; }

  mutable int asked = 0;
  bool acceptable = true;
  std::vector<Program> ran;

 private:
  Step step_ = two_stages();
  ComputeFacts facts_;
  Capabilities can_;
};

TEST(CaseTrials, LowerTheStepOnceForAnOrderAndAPlan) {
  auto owned = std::make_unique<NotingWorkload>();
  NotingWorkload& workload = *owned;
  CaseTrials trials(two_stages(), *find_device("h200"), std::move(owned));
  OverlapPlan priority;
  priority.priority = true;
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(trials.run(Order::concurrent, {}));
    ASSERT_TRUE(trials.run(Order::concurrent, priority));
    ASSERT_TRUE(trials.run(Order::sequential, {}));
  }
  ASSERT_TRUE(trials.verify(Order::concurrent, {}));
  EXPECT_EQ(workload.asked, 3);
  ASSERT_EQ(workload.ran.size(), 9U);
  for (std::size_t at = 3; at < 9; ++at) { EXPECT_EQ(workload.ran[at], workload.ran[at - 3]); }
  EXPECT_NE(workload.ran[0], workload.ran[1]);
  EXPECT_NE(workload.ran[0], workload.ran[2]);
}

TEST(CaseTrials, AskAgainForWhatWasRefused) {
  auto owned = std::make_unique<NotingWorkload>();
  NotingWorkload& workload = *owned;
  CaseTrials trials(two_stages(), *find_device("h200"), std::move(owned));
  workload.acceptable = false;
  EXPECT_FALSE(trials.run(Order::concurrent, {}));
  EXPECT_TRUE(workload.ran.empty());
  workload.acceptable = true;
  EXPECT_TRUE(trials.run(Order::concurrent, {}));
}

}  // namespace
}  // namespace elbowroom
