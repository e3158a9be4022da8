#include "elbowroom/network/machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace elbowroom {
namespace {

using ::testing::StartsWith;

std::string with(std::string text, const std::string& what, const std::string& instead) {
  return text.replace(text.find(what), what.size(), instead);
}

TEST(MachineCatalog, NamesEveryEntryOfAnUnknownOne) {
  EXPECT_EQ(find_machine("a100-4x200")->rails.count, 4);
  EXPECT_THAT(find_machine("cray").error().message, StartsWith("'cray', expected one of a100-4x200, a100-8x200"));
  EXPECT_EQ(machine_with("h200")->name, "h200-8x400");
  EXPECT_FALSE(machine_with("a40"));
}

// Four adapters of 200 Gb/s: 100 GB/s, of which 0.78 are reached.
TEST(MachineCatalog, AHostSendsByAllItsRails) { EXPECT_DOUBLE_EQ(find_machine("a100-4x200")->host_rate(), 78e3); }

TEST(MachineFile, IsReadAsItWasWritten) {
  for (const MachineSpec& machine : machine_catalog()) {
    const Result<MachineSpec> read = parse_machine(to_json(machine), "m.json");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, machine);
  }
}

TEST(MachineFile, SwitchesAddOnlyWhereItSaysSo) {
  const std::string text = to_json(*find_machine("h100-8x400"));
  EXPECT_EQ(parse_machine(text, "m.json")->links.switch_share, 0.85);
  const std::string without = with(text, ",\n    \"switch_share\": 0.85", "");
  EXPECT_EQ(parse_machine(without, "m.json")->links.switch_share, 0);
  EXPECT_EQ(parse_machine(with(text, "0.85", "1.5"), "m.json").error().message,
            "m.json: links.switch_share: 1.5, expected a number from 0 to 1");
}

TEST(MachineFile, NamesWhatIsWrong) {
  const std::string text = to_json(*find_machine("h100-8x400"));
  const auto refusal = [](const std::string& json) { return parse_machine(json, "m.json").error().message; };
  EXPECT_EQ(refusal("[]").substr(0, 7), "m.json:");
  EXPECT_EQ(refusal(with(text, "\"count\": 8", "\"count\": -1")),
            "m.json: rails.count: -1, expected a whole number from 0 to 1024");
  EXPECT_EQ(refusal(with(text, "\"share\": 0.78", "\"share\": 2")), "m.json: rails.share: 2, expected a number from 0.001 to 1");
  EXPECT_THAT(refusal(with(text, "\"h100\"", "\"z100\"")), StartsWith("m.json: device: z100, expected "));
  EXPECT_THAT(refusal(with(text, "\"rails\"", "\"roads\"")), StartsWith("m.json: rails: missing, expected an object"));
}

}  // namespace
}  // namespace elbowroom
