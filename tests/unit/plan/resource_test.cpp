#include "elbowroom/plan/resource.hpp"

#include <gtest/gtest.h>

namespace elbowroom {
namespace {

TEST(ResourceSet, HoldsExactlyWhatWasInserted) {
  ResourceSet set{Resource::registers};
  EXPECT_FALSE(set.empty());
  EXPECT_TRUE(set.contains(Resource::registers));
  EXPECT_FALSE(set.contains(Resource::shared_memory));
  set.insert(Resource::shared_memory);
  set.insert(Resource::registers);
  EXPECT_EQ(set, (ResourceSet{Resource::shared_memory, Resource::registers}));
  EXPECT_TRUE(ResourceSet().empty());
}

TEST(ResourceSet, SpeaksInAFixedOrder) {
  EXPECT_EQ(in_words({Resource::shared_memory, Resource::threads, Resource::registers}), "threads, registers, shared memory");
  EXPECT_EQ(in_words({Resource::blocks}), "blocks");
  EXPECT_EQ(in_words(ResourceSet()), "");
}

TEST(Resource, HasTheNamesOfTheContract) {
  EXPECT_EQ(to_string(Resource::threads), "threads");
  EXPECT_EQ(to_string(Resource::blocks), "blocks");
  EXPECT_EQ(to_string(Resource::registers), "registers");
  EXPECT_EQ(to_string(Resource::shared_memory), "shared_memory");
}

}  // namespace
}  // namespace elbowroom
