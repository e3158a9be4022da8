#include "unit/experiment/regret.hpp"

#include <gtest/gtest.h>

namespace elbowroom {
namespace {

using testing::exhaust;
using testing::Exhausted;
using testing::Prior;
using testing::Regret;
using testing::regret_of;
using testing::regret_scenarios;
using testing::RegretSettings;

// Three cells that are quick to search exhaustively; bench/tune_regret has all of them.
TEST(Regret, OfFewCandidatesIsSmall) {
  for (const Scenario& scenario : regret_scenarios()) {
    if (scenario.name != "cublas-8k-ar" && scenario.name != "cublas-8k-ag64" && scenario.name != "sgemm-ar-pair") { continue; }
    const Exhausted all = exhaust(scenario, "h200");
    EXPECT_GT(all.grid, 100U);
    EXPECT_LT(all.best, all.concurrent);  // there is something to find
    for (const Prior prior : {Prior::none, Prior::distorted}) {
      RegretSettings settings;
      settings.prior = prior;
      const Regret regret = regret_of(all, settings);
      SCOPED_TRACE(scenario.name + (prior == Prior::none ? ", no prior: " : ", distorted prior: ") + in_words(regret.found_plan) +
                   " instead of " + in_words(all.best_plan));
      EXPECT_LE(regret.measured, 24U);
      EXPECT_LE(regret.regret, 0.10);
    }
  }
}

}  // namespace
}  // namespace elbowroom
