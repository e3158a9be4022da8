#include "explain/event_keys.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace elbowroom::explain {
namespace {

TEST(EventKeys, FindsNamesThatItKnows) {
  EXPECT_EQ(kEventMembers.find("ts")->text, &Event::ts);
  EXPECT_EQ(kEventMembers.find("dur")->text, &Event::duration);
  EXPECT_EQ(kEventArguments.find("wait_on_cuda_event_record_corr_id")->text, &Event::wait_on_correlation);
  EXPECT_EQ(kEventArguments.find("grid")->list, EventList::grid);
  EXPECT_EQ(kEventArguments.find("grid")->text, nullptr);
}

TEST(EventKeys, ComparesWholeNames) {
  // "dxvixe" has the slot of "device": length, first, middle and last letter.
  for (const std::string_view name : {"", "t", "tss", "dxvixe", "args", "correlatiox"}) {
    EXPECT_EQ(kEventMembers.find(name), nullptr) << name;
    EXPECT_EQ(kEventArguments.find(name), nullptr) << name;
  }
  EXPECT_EQ(kEventMembers.find("device"), nullptr);
}

}  // namespace
}  // namespace elbowroom::explain
