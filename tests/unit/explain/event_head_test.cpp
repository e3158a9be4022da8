#include "explain/event_head.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace elbowroom::explain {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> members_of(std::string_view text) {
  std::vector<std::string> members;
  EventHead head(text);
  while (const auto member = head.next()) { members.push_back(std::string(member->key) + "=" + std::string(member->value)); }
  return members;
}

TEST(EventHead, HasTheTextsThatStandFirst) {
  EXPECT_THAT(members_of("{\n  \"ph\": \"X\", \"cat\":\"kernel\" ,\t\"name\" : \"a{b\", \"pid\": 7, \"more\": \"no\"}"),
              ElementsAre("ph=X", "cat=kernel", "name=a{b"));
  EXPECT_THAT(members_of(R"({"name": ""})"), ElementsAre("name="));
}

TEST(EventHead, EndsWhereNoPlainTextFollows) {
  EXPECT_THAT(members_of(R"({"ph": "X", "name": "a\"b"})"), ElementsAre("ph=X"));
  EXPECT_THAT(members_of(R"({"ph": "X" "cat": "kernel"})"), ElementsAre("ph=X"));
  EXPECT_THAT(members_of(R"({"args": {"cat": "kernel"}})"), IsEmpty());
  for (const std::string_view text :
       {"", "{", "{}", "{\"", "{\"ph", "{\"ph\"", "{\"ph\":", "{\"ph\":\"", "{\"ph\":\"X", "[\"ph\"]"}) {
    EXPECT_THAT(members_of(text), IsEmpty()) << text;
  }
}

}  // namespace
}  // namespace elbowroom::explain
