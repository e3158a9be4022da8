#include "elbowroom/network/flows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

namespace elbowroom {
namespace {

using ::testing::ElementsAre;

std::vector<const Flow*> pointers(const std::vector<Flow>& flows) {
  std::vector<const Flow*> all;
  for (const Flow& flow : flows) { all.push_back(&flow); }
  return all;
}

Flow over(std::vector<int> links, double bytes = 1, std::vector<int> after = {}) {
  return {bytes, std::move(links), Microseconds(0), std::move(after)};
}

std::vector<double> counts(const std::vector<Microseconds>& times) {
  std::vector<double> made;
  for (const Microseconds time : times) { made.push_back(time.count()); }
  return made;
}

// Link 0 of 10 has two flows, link 1 of 3 has one of them. That one gets 3, and the other 10 - 3.
TEST(MaxMinRates, TheNarrowestLinkGivesFirst) {
  EXPECT_THAT(max_min_rates({10, 3}, pointers({over({0, 1}), over({0})})), ElementsAre(3, 7));
  // Three on a link of 9: 3 each.
  EXPECT_THAT(max_min_rates({9}, pointers({over({0}), over({0}), over({0})})), ElementsAre(3, 3, 3));
}

// Two of 10 and 30 bytes share 10 a microsecond: 5 each until the short one ends at 2; the other has 20 left for 10 a microsecond.
TEST(FlowEnds, WhoIsLeftTakesTheWholeLink) {
  EXPECT_THAT(counts(flow_ends({10}, {over({0}, 10), over({0}, 30)})), ElementsAre(2, 4));
}

// The second begins when the first has ended, at 1; its bytes arrive 5 later.
TEST(FlowEnds, FlowsWaitForOthersAndForTheWay) {
  Flow second = over({0}, 10, {0});
  second.latency = Microseconds(5);
  EXPECT_THAT(counts(flow_ends({10}, {over({0}, 10), second})), ElementsAre(1, 7));
}

// An all-reduce of 4 hosts in a ring, 40 bytes each: 6 steps of 10 over links of 10, all in step.
TEST(FlowEnds, ARingTakesItsSteps) {
  std::vector<Flow> flows;
  for (int step = 0; step < 6; ++step) {
    for (int host = 0; host < 4; ++host) {
      std::vector<int> after;
      if (step > 0) { after = {(step - 1) * 4 + (host + 3) % 4, (step - 1) * 4 + host}; }
      flows.push_back(over({host, 4 + (host + 1) % 4}, 10, after));
    }
  }
  const std::vector<Microseconds> ends = flow_ends(std::vector<double>(8, 10.0), flows);
  EXPECT_DOUBLE_EQ(ends.back().count(), 6);
}

// No link carries more than it can, and each flow has a link that is full and on which no flow is faster.
RC_GTEST_PROP(MaxMinRates, EachFlowIsHeldByALink, ()) {
  const int links = *rc::gen::inRange(1, 6);
  const auto rates = *rc::gen::container<std::vector<double>>(
      static_cast<std::size_t>(links), rc::gen::map(rc::gen::inRange(1, 50), [](int rate) { return 1.0 * rate; }));
  std::vector<Flow> flows;
  const int count = *rc::gen::inRange(1, 12);
  for (int at = 0; at < count; ++at) {
    std::vector<int> some{*rc::gen::inRange(0, links)};
    for (int link = 0; link < links; ++link) {
      if (link != some.front() && *rc::gen::arbitrary<bool>()) { some.push_back(link); }
    }
    flows.push_back(over(some));
  }
  const std::vector<double> made = max_min_rates(rates, pointers(flows));
  std::vector<double> used(rates.size(), 0), greatest(rates.size(), 0);
  for (std::size_t at = 0; at < flows.size(); ++at) {
    for (const int link : flows[at].links) {
      used[static_cast<std::size_t>(link)] += made[at];
      greatest[static_cast<std::size_t>(link)] = std::max(greatest[static_cast<std::size_t>(link)], made[at]);
    }
  }
  for (std::size_t link = 0; link < rates.size(); ++link) { RC_ASSERT(used[link] <= rates[link] * (1 + 1e-6)); }
  for (std::size_t at = 0; at < flows.size(); ++at) {
    RC_ASSERT(std::ranges::any_of(flows[at].links, [&](int link) {
      const auto on = static_cast<std::size_t>(link);
      return used[on] >= rates[on] * (1 - 1e-6) && made[at] >= greatest[on] * (1 - 1e-6);
    }));
  }
}

}  // namespace
}  // namespace elbowroom
