#include "counters/amd_smi.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace elbowroom::counters {
namespace {

using ::testing::HasSubstr;

/// What the table was asked and answers; one test at a time.
struct Asked {
  std::uint64_t bdf = 0;
  int energy_code = 0;
  int ended = 0;
};
Asked& asked() {
  static Asked all;
  return all;
}

AmdSmiCalls amd_smi_calls() {
  asked() = {};
  AmdSmiCalls table;
  table.init = [](std::uint64_t flags) { return flags == 2 ? 0 : 1; };
  table.shut_down = [] { return ++asked().ended, 0; };
  table.status_text = [](int, const char** text) { return *text = "AMDSMI_STATUS_NO_PERM", 0; };
  table.handle_from_bdf = [](std::uint64_t bdf, AmdSmiDevice*) { return asked().bdf = bdf, 0; };
  table.energy_count = [](AmdSmiDevice, std::uint64_t* count, float* microjoules, std::uint64_t*) {
    *count = 4'000'000;
    *microjoules = 15.25F;
    return asked().energy_code;
  };
  table.temperature = [](AmdSmiDevice, int sensor, int metric, std::int64_t* celsius) {
    return *celsius = sensor == 1 && metric == 0 ? 61 : 0, 0;
  };
  return table;
}

TEST(AmdSmi, CountsInUnitsOfItsResolution) {
  const AmdSmiCalls table = amd_smi_calls();
  Result<std::unique_ptr<EnergyMeter>> meter = make_amd_smi_meter(table, std::vector<std::string>{"0002:c1:03.1"});
  ASSERT_TRUE(meter) << meter.error().message;
  // Domain 2, bus 0xc1, device 3, function 1: 2 * 65536 + 193 * 256 + 3 * 8 + 1.
  EXPECT_EQ(asked().bdf, 180'505U);
  // 4,000,000 of 15.25 uJ are 61 J.
  EXPECT_EQ((*meter)->read(0)->energy, Millijoules(61'000));
  EXPECT_EQ((*meter)->state(0)->celsius, 61);
  meter->reset();
  EXPECT_EQ(asked().ended, 1);
}

TEST(AmdSmi, RefusesInOneLine) {
  AmdSmiCalls table = amd_smi_calls();
  EXPECT_THAT(make_amd_smi_meter(table, std::vector<std::string>{"card0"}).error().message, HasSubstr("'card0', expected a place"));
  asked().energy_code = 10;
  EXPECT_EQ(make_amd_smi_meter(table, std::vector<std::string>{"0000:c1:00.0"}).error().message,
            "GPU 0000:c1:00.0: amdsmi_get_energy_count: AMDSMI_STATUS_NO_PERM");
  table.init = [](std::uint64_t) { return 34; };
  EXPECT_EQ(make_amd_smi_meter(table, std::vector<std::string>{"0000:c1:00.0"}).error().message, "amdsmi_init answers 34");
}

}  // namespace
}  // namespace elbowroom::counters
