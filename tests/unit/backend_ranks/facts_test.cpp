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

TEST(Introduction, ComesBackFromItsBytes) {
  const std::string bytes = bytes_of(Introduction{kOwn, {"a host", "0000:1b:00.0"}});
  const Result<Introduction> read = introduction_in(bytes);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->facts, kOwn);
  EXPECT_EQ(read->gpu.host, "a host");
  EXPECT_EQ(read->gpu.bus_id, "0000:1b:00.0");
  for (std::size_t size = 0; size < bytes.size(); ++size) { EXPECT_FALSE(introduction_in(bytes.substr(0, size))) << size; }
}

std::string clash(const std::vector<OwnGpu>& gpus) {
  const Status different = different_gpus(gpus);
  return different ? "" : different.error().message;
}

TEST(OwnGpus, AreThoseOfNoOtherRank) {
  const OwnGpu first{"a", "0000:1b:00.0"};
  const OwnGpu second{"a", "0000:4c:00.0"};
  EXPECT_EQ(clash({first, second}), "");
  // The same slot of another host is another GPU.
  EXPECT_EQ(clash({first, {"b", "0000:1b:00.0"}}), "");
  EXPECT_EQ(clash({first, second, second}),
            "rank 2: GPU 0000:4c:00.0, expected another than rank 1's (the rank on its host says which)");
  // Simulated ones are nowhere.
  EXPECT_EQ(clash({{"a", std::nullopt}, {"a", std::nullopt}}), "");
}

}  // namespace
}  // namespace elbowroom::ranks
