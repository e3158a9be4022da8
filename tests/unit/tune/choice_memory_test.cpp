#include "tune/choice_memory.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "run/limits.hpp"

namespace elbowroom::detail {
namespace {

namespace fs = std::filesystem;

RememberedChoice choice_of(run::Key sequence, const std::string& arm, std::int64_t decisions, std::int64_t stored_at) {
  const bool plain = arm == "plain";
  return {.key = {"NVIDIA H200", "580.159.04", 22'809, "", sequence},
          .arm = arm,
          .ranks = 2,
          .gain = plain ? 0.0 : 3.25,
          .low = plain ? 0.0 : 2.5,
          .high = plain ? 0.0 : 4.0,
          .decisions = decisions,
          .stored_at = stored_at};
}

constexpr const char* kDocument =
    R"({"schema": "elbowroom.choices/1",
 "choices": [
  {"key":{"device":"NVIDIA H200","driver":"580.159.04","library_version":22809,"options":"","sequence":"00000000000000a1"},"arm":"priority, gate","ranks":2,"gain_percent":3.25,"low":2.5,"high":4.0,"decisions":2,"stored_at":1000}]}
)";

/// What is wrong with the document after one text in it was replaced.
std::string refusal(const std::string& text, const std::string& by) {
  std::string changed = kDocument;
  const std::size_t at = changed.find(text);
  EXPECT_NE(at, std::string::npos) << text;
  changed.replace(at, text.size(), by);
  const Result<ChoiceMemory> read = parse_choices(changed, "c.json");
  return read ? "" : read.error().message;
}

TEST(ChoiceMemory, IsWrittenALineForEachChoice) {
  ChoiceMemory memory;
  memory.put(choice_of(0xa1, "priority, gate", 2, 1'000));
  EXPECT_EQ(to_json(memory), kDocument);
  const Result<ChoiceMemory> read = parse_choices(kDocument, "c.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(std::ranges::equal(read->choices(), memory.choices()));
}

TEST(ChoiceMemory, RefusesWhatIsNoMemory) {
  EXPECT_EQ(refusal("elbowroom.choices/1", "elbowroom.profile/1"),
            "c.json: schema: \"elbowroom.profile/1\", expected \"elbowroom.choices/1\"");
  EXPECT_EQ(refusal("\"arm\":\"priority, gate\"", "\"arm\":\"a\\nb\""),
            "c.json: choices[0].arm: \"a\\nb\", expected names of controls");
  EXPECT_EQ(refusal("\"decisions\":2", "\"decisions\":0"),
            "c.json: choices[0].decisions: 0, expected a whole number from 1 to 1000000000");
  EXPECT_EQ(refusal("00000000000000a1", "a1"),
            "c.json: choices[0].key.sequence: \"a1\", expected 16 hexadecimal digits, not all 0");
  EXPECT_EQ(refusal("\"device\":\"NVIDIA H200\"", "\"device\":\"\""),
            "c.json: choices[0].key.device: \"\", expected a name of 1 to 95 bytes");
  EXPECT_EQ(refusal("\"low\":2.5", "\"low\":null"), "c.json: choices[0].low: null, expected a number of percent");
  EXPECT_EQ(refusal("\"ranks\":2,", ""), "c.json: choices[0].ranks: missing, expected a whole number from 0 to 1000000");
  EXPECT_NE(refusal("\"ranks\":2", "\"rank\":2"), "");
  EXPECT_NE(refusal("]}", "]"), "") << "cut off";
}

TEST(ChoiceMemory, AddsUpTheDecisionsForOneArm) {
  ChoiceMemory memory;
  memory.put(choice_of(1, "gate", 2, 1'000));
  memory.put(choice_of(1, "gate", 3, 2'000));
  EXPECT_EQ(memory.choices()[0], choice_of(1, "gate", 5, 2'000));
  memory.put(choice_of(1, "gate", 0, 3'000));  // in force, not compared
  EXPECT_EQ(memory.choices()[0], choice_of(1, "gate", 5, 3'000));
  memory.put(choice_of(1, "plain", 1, 4'000));
  EXPECT_EQ(memory.choices()[0], choice_of(1, "plain", 1, 4'000)) << "another arm begins anew";
  memory.put(choice_of(1, "gate", 0, 5'000));
  memory.put(choice_of(1, "gate", 7, 3'999));
  EXPECT_EQ(memory.choices()[0], choice_of(1, "plain", 1, 4'000)) << "neither uncompared nor older ones take its place";
  memory.put(choice_of(2, "gate", 0, 6'000));
  EXPECT_EQ(memory.choices().size(), 1U) << "what was never compared is no choice";
}

TEST(ChoiceMemory, TellsKeysApart) {
  ChoiceMemory memory;
  const RememberedChoice first = choice_of(1, "gate", 1, 1'000);
  memory.put(first);
  for (int member = 0; member < 5; ++member) {
    RememberedChoice other = first;
    if (member == 0) { other.key.device = "NVIDIA H100"; }
    if (member == 1) { other.key.driver = ""; }
    if (member == 2) { other.key.library = 0; }
    if (member == 3) { other.key.options = "gate off"; }
    if (member == 4) { other.key.sequence = 2; }
    memory.put(other);
    EXPECT_EQ(memory.choices().size(), static_cast<std::size_t>(member) + 2) << member;
  }
  memory.forget(first.key);
  EXPECT_EQ(memory.choices().size(), 5U);
}

TEST(ChoiceMemory, TakesAsLongForEachOfManyAsOfFew) {
  // In processor time: four times the choices take 16 times as long where each one is looked for among all.
  const auto ticks_of = [](int many) {
    const std::clock_t begin = std::clock();
    ChoiceMemory memory;
    for (int at = 1; at <= many; ++at) {
      RememberedChoice choice;
      choice.key.sequence = static_cast<run::Key>(at);
      choice.arm = "gate";
      choice.decisions = 1;
      memory.put(std::move(choice));
    }
    EXPECT_EQ(memory.choices().size(), static_cast<std::size_t>(many));
    return std::clock() - begin;
  };
  const std::clock_t few = ticks_of(10'000);
  EXPECT_LT(ticks_of(40'000), 10 * few);
}

TEST(ChoiceMemory, DropsTheOldest) {
  ChoiceMemory memory;
  // Times 1 to 257 in no order: 101 has no divisor in common with 257. The one of time 1 goes.
  for (std::int64_t i = 0; i < 257; ++i) { memory.put(choice_of(static_cast<run::Key>(i + 1), "gate", 1, i * 101 % 257 + 1)); }
  memory.drop_old();
  ASSERT_EQ(memory.choices().size(), run::kMostChoices);
  EXPECT_EQ(memory.choices().front().stored_at, 257);
  EXPECT_EQ(memory.choices().back().stored_at, 2);
}

RC_GTEST_PROP(ChoiceMemory, IsTheSameAfterItsText, ()) {
  ChoiceMemory memory;
  const auto count = *rc::gen::inRange(0, 20);
  for (int i = 0; i < count; ++i) {
    RememberedChoice choice =
        choice_of(*rc::gen::inRange<run::Key>(1, 10), "gate", *rc::gen::inRange(1, 5), *rc::gen::inRange(0, 5));
    choice.arm = *rc::gen::element<std::string>("plain", "priority", "priority, gate");
    choice.key.options = *rc::gen::element<std::string>("", "gate off; NCCL_ALGO=\"x\"", "\\");
    choice.gain = *rc::gen::inRange(-1'000, 1'000) / 8.0;
    memory.put(choice);
  }
  const Result<ChoiceMemory> read = parse_choices(to_json(memory), "c.json");
  RC_ASSERT(static_cast<bool>(read));
  RC_ASSERT(std::ranges::equal(read->choices(), memory.choices()));
}

class ChoiceFile : public testing::Test {
 protected:
  ChoiceFile() : folder_(testing::TempDir() + "choice_memory_" + testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(folder_);
  }
  ~ChoiceFile() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string path() const { return folder_ + "/elbowroom/choices.json"; }
  void write(const std::string& text) const {
    fs::create_directories(folder_ + "/elbowroom");
    std::ofstream(path()) << text;
  }
  [[nodiscard]] static std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] NoticeSink notice() {
    return [this](std::string_view line) { said.emplace_back(line); };
  }

  std::vector<std::string> said;

 private:
  std::string folder_;
};

TEST_F(ChoiceFile, IsMadeWithItsFolderAndAddedTo) {
  EXPECT_TRUE(load_choices_or_none(path(), notice()).choices().empty());
  ASSERT_TRUE(remember_choices(path(), {{choice_of(1, "gate", 1, 10), choice_of(2, "plain", 1, 10)}, {}}, notice()));
  ASSERT_TRUE(remember_choices(path(), {{choice_of(3, "gate", 1, 20)}, {choice_of(1, "", 0, 0).key}}, notice()));
  const ChoiceMemory memory = load_choices_or_none(path(), notice());
  ASSERT_EQ(memory.choices().size(), 2U);
  EXPECT_EQ(memory.choices()[0], choice_of(3, "gate", 1, 20));
  EXPECT_EQ(memory.choices()[1], choice_of(2, "plain", 1, 10));
  EXPECT_TRUE(said.empty());
}

TEST_F(ChoiceFile, OfSomebodyElseIsLeftAlone) {
  const std::string theirs = R"({"schema": "other/1"})";
  write(theirs);
  EXPECT_TRUE(load_choices_or_none(path(), notice()).choices().empty());
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0], "memory of choices ignored: " + path() + ": schema: \"other/1\", expected \"elbowroom.choices/1\"");
  EXPECT_FALSE(remember_choices(path(), {{choice_of(1, "gate", 1, 10)}, {}}, notice()));
  EXPECT_EQ(text_of(path()), theirs);
}

TEST_F(ChoiceFile, ThatIsDamagedIsKeptAside) {
  const std::string damaged = R"({"schema": "elbowroom.choices/1", "choices": [{"key")";
  write(damaged);
  EXPECT_TRUE(load_choices_or_none(path(), notice()).choices().empty());
  EXPECT_EQ(said.size(), 1U);
  ASSERT_TRUE(remember_choices(path(), {{choice_of(1, "gate", 1, 10)}, {}}, notice()));
  EXPECT_EQ(said.size(), 2U);
  EXPECT_EQ(text_of(path() + ".damaged"), damaged);
  EXPECT_EQ(load_choices_or_none(path(), notice()).choices().size(), 1U);
}

}  // namespace
}  // namespace elbowroom::detail
