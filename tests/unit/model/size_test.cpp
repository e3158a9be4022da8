#include "elbowroom/model/size.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <string>

namespace elbowroom {
namespace {

constexpr std::int64_t kGreatest = std::int64_t{1} << 62;

TEST(ParseSize, CountsInPowersOf1024) {
  const auto bytes = [](std::string_view text) { return parse_size(text)->count(); };
  EXPECT_EQ(bytes("0"), 0);
  EXPECT_EQ(bytes("0T"), 0);
  EXPECT_EQ(bytes("38016"), 38'016);
  EXPECT_EQ(bytes("007"), 7);
  EXPECT_EQ(bytes("1K"), 1'024);
  EXPECT_EQ(bytes("4k"), 4'096);
  EXPECT_EQ(bytes("512M"), 536'870'912);
  EXPECT_EQ(bytes("512m"), 536'870'912);
  EXPECT_EQ(bytes("4G"), 4'294'967'296);
  EXPECT_EQ(bytes("1t"), 1'099'511'627'776);
  // As nccl-tests takes them: 3 * 2^29, 2^29, 0.001 * 2^20 less its fraction.
  EXPECT_EQ(bytes("1.5G"), 1'610'612'736);
  EXPECT_EQ(bytes("512MB"), 536'870'912);
  EXPECT_EQ(bytes("512MiB"), 536'870'912);
  EXPECT_EQ(bytes("0.001M"), 1'048);
  EXPECT_EQ(bytes("2.0K"), 2'048);
  EXPECT_EQ(bytes("4611686018427387904"), kGreatest);
  EXPECT_EQ(bytes("4194304T"), kGreatest);  // 2^22 * 2^40
}

TEST(ParseSize, RefusesEverythingElseAndRepeatsIt) {
  for (const std::string text : {"",
                                 " ",
                                 "K",
                                 "-1",
                                 "+1",
                                 "1.5",
                                 ".5K",
                                 "1.K",
                                 "1.1234567K",
                                 "4611686018427387904.5K",
                                 "1 K",
                                 " 1",
                                 "1 ",
                                 "1Kb",
                                 "1Ki",
                                 "1KBB",
                                 "1KK",
                                 "1B",
                                 "1P",
                                 "0x10",
                                 "1e3",
                                 "4611686018427387905",
                                 "4194305T",
                                 "9223372036854775807",
                                 "9223372036854775808",
                                 "99999999999999999999999999",
                                 "18014398509481985K",
                                 "512\xC2\xB5"}) {
    const Result<Bytes> size = parse_size(text);
    ASSERT_FALSE(size.ok()) << "'" << text << "' is read as " << size->count();
    EXPECT_EQ(size.error().kind, ErrorKind::invalid_input);
    EXPECT_EQ(size.error().message, "size '" + text +
                                        "': expected a number with an optional suffix K, M, G or T (powers of 1024, as in 512M, "
                                        "1.5GB), at most 2^62");
  }
}

TEST(FormatSize, IsTheShortestExactForm) {
  EXPECT_EQ(format_size(Bytes(0)), "0");
  EXPECT_EQ(format_size(Bytes(1'023)), "1023");
  EXPECT_EQ(format_size(Bytes(1'024)), "1K");
  EXPECT_EQ(format_size(Bytes(1'025)), "1025");
  EXPECT_EQ(format_size(Bytes(38'016)), "38016");
  EXPECT_EQ(format_size(kibibytes(1'536)), "1536K");
  EXPECT_EQ(format_size(mebibytes(4'096)), "4G");
  EXPECT_EQ(format_size(Bytes(kGreatest)), "4194304T");
}

// Small numbers times powers of 1024 have suffixes, large ones mostly none.
rc::Gen<Bytes> any_size() {
  return rc::gen::exec([] {
    const int shift = 10 * *rc::gen::inRange(0, 5);
    return Bytes(*rc::gen::inRange<std::int64_t>(0, (kGreatest >> shift) + 1) << shift);
  });
}

RC_GTEST_PROP(SizeProperty, ReadsBackWhatItWrites, ()) {
  const std::int64_t count = (*any_size()).count();
  const Result<Bytes> again = parse_size(format_size(Bytes(count)));
  RC_ASSERT(again.ok());
  RC_ASSERT(again->count() == count);
}

RC_GTEST_PROP(SizeProperty, StaysInRangeWhateverTheTextIs, (const std::string& bytes)) {
  const Result<Bytes> size = parse_size(bytes);
  const bool in_range = !size.ok() || (size->count() >= 0 && size->count() <= kGreatest);
  RC_ASSERT(in_range);
}

RC_GTEST_PROP(SizeProperty, MultipliesByItsSuffix, ()) {
  const int suffix = *rc::gen::inRange(0, 4);
  const std::int64_t number = *rc::gen::inRange<std::int64_t>(0, (kGreatest >> (10 * (suffix + 1))) + 1);
  const Result<Bytes> size = parse_size(std::to_string(number) + "KMGT"[suffix]);
  RC_ASSERT(size.ok());
  RC_ASSERT(size->count() == number * (std::int64_t{1} << (10 * (suffix + 1))));
}

}  // namespace
}  // namespace elbowroom
