#include "backend_ranks/facts.hpp"

#include <gtest/gtest.h>

namespace elbowroom::ranks {
namespace {

const Facts kOwn{{"backend", "cuda"}, {"device", "h200"}, {"version of nccl", "2.28.3"}};

std::string difference(const Facts& theirs) {
  const Status same = same_facts(theirs, kOwn);
  return same ? "" : same.error().message;
}

TEST(Facts, OfTheSameMachineAreTheSame) { EXPECT_EQ(difference(kOwn), ""); }

TEST(Facts, TheFirstDifferenceIsNamedWithBothValues) {
  EXPECT_EQ(difference({{"backend", "cuda"}, {"device", "h100"}, {"version of nccl", "2.27.1"}}),
            "device: h100, expected h200 (rank 0's)");
  EXPECT_EQ(difference({{"backend", "cuda"}, {"device", "h200"}, {"version of nccl", "2.27.1"}}),
            "version of nccl: 2.27.1, expected 2.28.3 (rank 0's)");
}

TEST(Facts, WhatOneRankAloneHasIsADifference) {
  EXPECT_EQ(difference({{"backend", "cuda"}, {"device", "h200"}}), "version of nccl: none, expected 2.28.3 (rank 0's)");
  Facts more = kOwn;
  more.emplace_back("version of cupti", "13.0");
  EXPECT_EQ(difference(more), "version of cupti: 13.0, expected none (rank 0's)");
}

TEST(Facts, ComeBackFromTheirBytes) {
  const std::string bytes = bytes_of(kOwn);
  EXPECT_EQ(*facts_in(bytes), kOwn);
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(facts_in(bytes.substr(0, size))) << size;
}

}  // namespace
}  // namespace elbowroom::ranks
