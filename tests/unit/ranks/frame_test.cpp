#include "ranks/frame.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

namespace elbowroom::ranks {
namespace {

TEST(Frame, IsAKindALengthAndAPayload) {
  EXPECT_EQ(bytes_of(FrameKind::reply, "ab"), std::string("\3\2\0\0\0ab", 7));
  EXPECT_EQ(bytes_of(FrameKind::request, std::string(258, 'x')).substr(0, 5), std::string("\2\2\1\0\0", 5));
}

RC_GTEST_PROP(FrameReader, PutsTogetherWhatComesInPieces, (const std::vector<std::string>& payloads)) {
  std::string bytes;
  for (const std::string& payload : payloads) { bytes += bytes_of(FrameKind::request, payload); }
  FrameReader reader(1024);
  std::vector<std::string> read;
  while (!bytes.empty()) {
    const auto size = *rc::gen::inRange<std::size_t>(1, bytes.size() + 1);
    reader.add(bytes.substr(0, size));
    bytes.erase(0, size);
    for (auto frame = reader.next(); frame && *frame; frame = reader.next()) {
      RC_ASSERT((*frame)->kind == FrameKind::request);
      read.push_back((*frame)->payload);
    }
  }
  RC_ASSERT(read == payloads);
}

TEST(FrameReader, RefusesWhatIsTooLongBeforeItHasCome) {
  FrameReader reader(3);
  reader.add(bytes_of(FrameKind::reply, "abc") + bytes_of(FrameKind::reply, "abcd").substr(0, 5));
  EXPECT_EQ((*reader.next())->payload, "abc");
  EXPECT_EQ(reader.next().error().message, "a message of 4 bytes, expected at most 3");
  reader.allow(4);
  EXPECT_EQ(*reader.next(), std::nullopt);
  reader.add("abcd");
  EXPECT_EQ((*reader.next())->payload, "abcd");
}

TEST(FrameReader, RefusesUnknownKindsByTheirFirstByte) {
  for (const auto& [text, kind] : {std::pair("\0", 0), {"\n", 10}, {"GET / HTTP/1.1", 'G'}, {"\xff", 255}}) {
    FrameReader reader(kLongestHello);
    reader.add(std::string_view(text, 1));
    EXPECT_EQ(reader.next().error().message, "a message of kind " + std::to_string(kind) + ", expected 1 to 9");
  }
}

}  // namespace
}  // namespace elbowroom::ranks
