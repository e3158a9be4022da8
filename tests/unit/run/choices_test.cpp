#include "run/choices.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "run/limits.hpp"

namespace elbowroom::run {
namespace {

struct ReadChoices {
  std::vector<KnownChoice> choices;
  std::size_t wrong_line = 0;
};

ReadChoices choices_in(const std::string& text) {
  ReadChoices all;
  ChoiceLines lines(text);
  while (const auto choice = lines.next()) { all.choices.push_back(*choice); }
  all.wrong_line = lines.wrong_line();
  return all;
}

TEST(Choices, AreWrittenByDevice) {
  const std::vector<KnownChoice> choices = {{"NVIDIA H200", 22'809, 0xa1, "priority, gate"},
                                            {"NVIDIA H200", 0, 0xfedc'ba98'7654'3210, "plain"},
                                            {"NVIDIA H100", 4'294'967'295, 0xa1, "priority"}};
  const std::string text = choices_text(choices);
  EXPECT_EQ(text,
            "device NVIDIA H200\n00000000000000a1 22809 priority, gate\nfedcba9876543210 0 plain\n"
            "device NVIDIA H100\n00000000000000a1 4294967295 priority\n");
  EXPECT_EQ(choices_in(text).choices, choices);
  EXPECT_EQ(choices_text({}), "");
}

TEST(Choices, NameTheFirstLineThatIsNone) {
  for (const char* line :
       {"", "device", "00000000000000a1", "00000000000000a1 ", "00000000000000a1 22809", "00000000000000a1 22809 ",
        "00000000000000a1 22809  gate", "00000000000000a1 22809 gate ", "00000000000000a1 22809gate", "00000000000000a1 -1 gate",
        "00000000000000a1 4294967296 gate", "0000000000000000 1 gate", "a1 1 gate", "00000000000000a1  1 gate",
        "00000000000000a1 1 g\tate", "00000000000000a1 1 g\xc3\xa4te"}) {
    const std::string text = "device NVIDIA H200\n0000000000000001 2 plain\n" + std::string(line) + "\n0000000000000002 3 plain\n";
    const ReadChoices all = choices_in(text);
    EXPECT_EQ(all.wrong_line, 3U) << line;
    ASSERT_EQ(all.choices.size(), 1U) << "what stands before counts, what follows does not";
    EXPECT_EQ(all.choices[0].sequence, 1U);
  }
}

TEST(Choices, HaveArmsOfALength) {
  EXPECT_TRUE(is_arm("plain"));
  EXPECT_TRUE(is_arm(std::string(kLongestArm, 'a')));
  EXPECT_FALSE(is_arm(std::string(kLongestArm + 1, 'a')));
  EXPECT_FALSE(is_arm(""));
}

RC_GTEST_PROP(Choices, AreTheSameAfterTheirText, ()) {
  const std::array<const char*, 3> devices = {"NVIDIA H200", "device ", "00000000000000a1 5 plain"};
  const std::array<const char*, 4> arms = {"plain", "priority, gate", "device x", "0"};
  std::vector<KnownChoice> choices(*rc::gen::inRange<std::size_t>(0, 50));
  for (KnownChoice& choice : choices) {
    choice.device = devices[*rc::gen::inRange<std::size_t>(0, devices.size())];
    choice.library = *rc::gen::arbitrary<std::uint32_t>();
    choice.sequence = *rc::gen::positive<Key>();
    choice.arm = arms[*rc::gen::inRange<std::size_t>(0, arms.size())];
  }
  const std::string text = choices_text(choices);
  const ReadChoices all = choices_in(text);
  RC_ASSERT(all.wrong_line == 0U);
  RC_ASSERT(all.choices == choices);
}

}  // namespace
}  // namespace elbowroom::run
