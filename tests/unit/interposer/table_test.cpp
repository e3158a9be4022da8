#include "interposer/core/table.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <unordered_map>

namespace elbowroom::interposer {
namespace {

TEST(FixedTable, AgreesWithAMapOnRandomCalls) {
  const auto table = std::make_unique<FixedTable<std::uint64_t, 64>>();
  std::unordered_map<std::uint64_t, std::uint64_t> map;
  std::mt19937_64 random(7);
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t key = 1 + random() % 80;
    switch (random() % 3) {
      case 0: {
        std::uint64_t* value = table->obtain(key);
        if (value == nullptr) {
          ASSERT_EQ(map.size(), 48U) << "full at three quarters";
          ASSERT_FALSE(map.contains(key));
          break;
        }
        ASSERT_EQ(*value, map[key]) << "empty when it is new";
        *value = map[key] = random();
        break;
      }
      case 1:
        table->erase(key);
        map.erase(key);
        break;
      default: {
        const std::uint64_t* value = table->find(key);
        ASSERT_EQ(value != nullptr, map.contains(key));
        if (value != nullptr) { ASSERT_EQ(*value, map[key]); }
      }
    }
  }
  std::size_t visited = 0;
  table->for_each([&](std::uint64_t key, std::uint64_t& value) {
    ++visited;
    EXPECT_EQ(value, map.at(key));
  });
  EXPECT_EQ(visited, map.size());
}

}  // namespace
}  // namespace elbowroom::interposer
