#include "elbowroom/plan/reason.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace elbowroom {
namespace {

TEST(Reason, IsWrittenForPeople) {
  EXPECT_EQ(in_words({RoomMaking::co_resident}), "co-resident");
  EXPECT_EQ(in_words({RoomMaking::sm_split, SmShares{Sms(108), Sms(24)}, true, false}), "SM split 108 + 24, symmetric memory");
  EXPECT_EQ(in_words({RoomMaking::as_launched, {}, false, true}), "as launched, copy engines gather");
}

// Plans that give the sides other numbers of SMs are tried each.
TEST(Reason, OfASplitHasItsShares) {
  EXPECT_NE((Reason{RoomMaking::sm_split, SmShares{Sms(108), Sms(24)}}),
            (Reason{RoomMaking::sm_split, SmShares{Sms(116), Sms(16)}}));
}

TEST(Reason, OfOtherTextsIsNone) {
  for (const char* other :
       {"", "co-residents", "SM split", "SM split 108", "SM split 108 + ", "SM split 0108 + 24", "SM split -1 + 24",
        "SM split 99999999999 + 1", "co-resident, copy engines gather, symmetric memory", "symmetric memory"}) {
    EXPECT_FALSE(parse_reason(other)) << other;
  }
}

RC_GTEST_PROP(ReasonProperty, WordsGiveTheReasonBack, ()) {
  Reason reason;
  reason.way = static_cast<RoomMaking>(*rc::gen::inRange(0, 12));
  if (reason.way == RoomMaking::sm_split || reason.way == RoomMaking::sm_partition) {
    reason.shares = SmShares{Sms(*rc::gen::inRange(0, 1000)), Sms(*rc::gen::inRange(0, 1000))};
  }
  reason.symmetric = *rc::gen::arbitrary<bool>();
  reason.copies_gather = *rc::gen::arbitrary<bool>();
  RC_ASSERT(parse_reason(in_words(reason)) == reason);
}

}  // namespace
}  // namespace elbowroom
