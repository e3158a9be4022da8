#include "explain/pieces.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace elbowroom::explain {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Keeps what it gets; an event with "bad" in it is no JSON.
struct Kept final : PieceSink {
  std::vector<std::string> events, members;

  bool event(std::string_view text) override {
    if (text.find("bad") != std::string_view::npos) { return false; }
    events.emplace_back(text);
    return true;
  }
  void member(std::string_view key, std::string_view value) override {
    members.push_back(std::string(key) + "=" + std::string(value));
  }
};

TEST(Pieces, GiveEventsAndMembersWhateverPiecesComeIn) {
  const std::string text =
      R"({"a": 1, "b": {"c": [1, "}"]}, "traceEvents": [ {"ph": "X", "n": "x\"]}{"}, {"ph": "M"} ], "traceName": "t", "d": true})";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    Kept kept;
    Pieces pieces(kept);
    for (std::size_t at = 0; at < text.size(); at += size) { pieces.feed(std::string_view(text).substr(at, size)); }
    EXPECT_THAT(kept.events, ElementsAre(R"({"ph": "X", "n": "x\"]}{"})", R"({"ph": "M"})")) << size;
    EXPECT_THAT(kept.members, ElementsAre("a=1", R"(b={"c": [1, "}"]})", "traceName=\"t\"", "d=true")) << size;
    EXPECT_TRUE(pieces.complete()) << size;
    EXPECT_EQ(pieces.skipped(), 0U) << size;
  }
}

TEST(Pieces, MayEndWhereABlockOfBytesDoes) {
  // The search takes 64 bytes at a time behind the event's brace. Of 128 lengths two end a block just before the braces that close.
  for (std::size_t spaces = 0; spaces < 128; ++spaces) {
    Kept kept;
    Pieces pieces(kept);
    const std::string begin = R"({"ph": "X", "args": {)" + std::string(spaces, ' ');
    pieces.feed("[" + begin);
    pieces.feed(R"(}}, {"ph": "M"}])");
    EXPECT_THAT(kept.events, ElementsAre(begin + "}}", R"({"ph": "M"})")) << spaces;
  }
}

TEST(Pieces, TakeAnArrayOfEvents) {
  Kept kept;
  Pieces pieces(kept);
  pieces.feed(R"([{"ph": "X"}, {"ph": "M"}])");
  EXPECT_THAT(kept.events, ElementsAre(R"({"ph": "X"})", R"({"ph": "M"})"));
  EXPECT_TRUE(pieces.complete());
}

TEST(Pieces, GoOnBehindDamage) {
  // The brace of the first event is lost, so that it takes the second one for a part of it.
  const std::string text = R"({"traceEvents": [{"ph": "X", "bad": {"a": 1}, {"ph": "Y"}}, {"ph": "Z"}]})";
  for (std::size_t size : {1U, 7U, 1000U}) {
    Kept kept;
    Pieces pieces(kept);
    for (std::size_t at = 0; at < text.size(); at += size) { pieces.feed(std::string_view(text).substr(at, size)); }
    EXPECT_THAT(kept.events, ElementsAre(R"({"ph": "Y"})", R"({"ph": "Z"})")) << size;
    EXPECT_GT(pieces.skipped(), 0U) << size;
  }
}

TEST(Pieces, GoOnBehindAnEventWithoutEnd) {
  Kept kept;
  Pieces pieces(kept);
  pieces.feed(R"({"traceEvents": [{"ph": "X", "name": ")");
  pieces.feed(std::string((std::size_t{1} << 20) + 100, 'x'));
  pieces.feed(", {\"ph\": \"Z\"},");
  pieces.feed("\n\n\n");
  EXPECT_THAT(kept.events, ElementsAre(R"({"ph": "Z"})"));
  EXPECT_FALSE(pieces.complete());
}

TEST(Pieces, SayThatTextIsNoTrace) {
  Kept kept;
  Pieces pieces(kept);
  pieces.feed(R"({"schema": "elbowroom.result/1"})");
  EXPECT_FALSE(pieces.has_events());
  EXPECT_THAT(kept.events, IsEmpty());
}

}  // namespace
}  // namespace elbowroom::explain
