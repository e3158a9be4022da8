#include "counters/nvml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace elbowroom::counters {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// nvml.h: nvmlFieldValue_t has 40 bytes with the value behind type and code, nvmlProcessInfo_t 24.
static_assert(sizeof(NvmlFieldValue) == 40 && offsetof(NvmlFieldValue, value) == 32);
static_assert(sizeof(NvmlProcess) == 24);
// nvmlPciInfo_t: two texts around five numbers.
static_assert(sizeof(NvmlBusAddress) == 68 && offsetof(NvmlBusAddress, bus) == 20 && offsetof(NvmlBusAddress, bus_id) == 36);

/// What the table's functions answer; one test at a time.
struct Answers {
  int energy_code = 0;
  unsigned mig = 0;
  unsigned processes = 1;
  bool instant = true;
  int shutdowns = 0;
};
Answers& answers() {
  static Answers all;
  return all;
}

NvmlCalls nvml_calls() {
  answers() = {};
  NvmlCalls table;
  table.init = [] { return 0; };
  table.shutdown = [] { return ++answers().shutdowns, 0; };
  table.error_string = [](int code) { return code == 3 ? "Not Supported" : "Insufficient Permissions"; };
  table.handle_by_bus_id = [](const char*, NvmlDevice*) { return 0; };
  table.total_energy = [](NvmlDevice, unsigned long long* millijoules) {
    *millijoules = 5'000'000'000;
    return answers().energy_code;
  };
  table.power_usage = [](NvmlDevice, unsigned* milliwatts) { return *milliwatts = 350'500, 0; };
  table.field_values = [](NvmlDevice, int, NvmlFieldValue* value) {
    value->code = answers().instant ? 0 : 3;
    value->type = 1;
    value->value.whole = value->field == 186 ? 400'250 : 0;
    return 0;
  };
  table.temperature = [](NvmlDevice, unsigned, unsigned* celsius) { return *celsius = 55, 0; };
  table.clock = [](NvmlDevice, unsigned which, unsigned* mhz) { return *mhz = which == 1 ? 1755 : 0, 0; };
  table.clock_reasons = [](NvmlDevice, unsigned long long* reasons) { return *reasons = 0x1 | 0x4 | 0x40, 0; };
  table.mig_mode = [](NvmlDevice, unsigned* now, unsigned*) { return *now = answers().mig, 0; };
  table.processes = [](NvmlDevice, unsigned* count, NvmlProcess*) { return *count = answers().processes, 0; };
  table.device_count = [](unsigned* count) { return *count = 3, 0; };
  table.handle_by_index = [](unsigned index, NvmlDevice* device) {
    *device = reinterpret_cast<NvmlDevice>(static_cast<std::uintptr_t>(index));
    return index == 1 ? 4 : 0;
  };
  table.bus_address = [](NvmlDevice device, NvmlBusAddress* address) {
    address->domain = 1;
    address->bus = 0x1b + static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(device));
    address->device = 3;
    return 0;
  };
  return table;
}

const std::vector<std::string> kOne{"0000:1b:00.0"};

TEST(Nvml, ReadsEnergyAndThePowerOfTheInstant) {
  const NvmlCalls table = nvml_calls();
  Result<std::unique_ptr<EnergyMeter>> meter = make_nvml_meter(table, kOne);
  ASSERT_TRUE(meter) << meter.error().message;
  EXPECT_EQ((*meter)->read(0)->energy, Millijoules(5'000'000'000));
  EXPECT_EQ((*meter)->read(0)->power, Watts{400.25});
  meter->reset();
  EXPECT_EQ(answers().shutdowns, 1);
}

TEST(Nvml, TakesTheMeanPowerWhereThereIsNoOther) {
  const NvmlCalls table = nvml_calls();
  answers().instant = false;
  EXPECT_EQ((**make_nvml_meter(table, kOne)).read(0)->power, Watts{350.5});
}

TEST(Nvml, NamesWhatKeepsClocksLow) {
  const NvmlCalls table = nvml_calls();
  const Result<GpuState> state = (**make_nvml_meter(table, kOne)).state(0);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->celsius, 55);
  EXPECT_EQ(state->sm_mhz, 1755);
  EXPECT_THAT(state->below_greatest_clock, ElementsAre("power cap", "heat, by hardware"));
}

TEST(Nvml, WorksWithoutWhatADriverMayLack) {
  NvmlCalls table = nvml_calls();
  table.power_usage = nullptr;
  table.field_values = nullptr;
  table.temperature = nullptr;
  table.clock = nullptr;
  table.clock_reasons = nullptr;
  table.mig_mode = nullptr;
  table.processes = nullptr;
  Result<std::unique_ptr<EnergyMeter>> meter = make_nvml_meter(table, kOne);
  ASSERT_TRUE(meter);
  EXPECT_FALSE((*meter)->read(0)->power);
  EXPECT_FALSE((*meter)->state(0)->celsius);
}

TEST(Nvml, RefusesInOneLine) {
  NvmlCalls table = nvml_calls();
  answers().mig = 1;
  EXPECT_THAT(make_nvml_meter(table, kOne).error().message, HasSubstr("GPU 0000:1b:00.0: MIG is on"));
  answers() = {};
  answers().energy_code = 4;
  EXPECT_EQ(make_nvml_meter(table, kOne).error().message,
            "GPU 0000:1b:00.0: nvmlDeviceGetTotalEnergyConsumption: Insufficient Permissions");
  answers().energy_code = 3;
  EXPECT_EQ(make_nvml_meter(table, kOne).error().kind, ErrorKind::unavailable);
}

TEST(Nvml, NamesTheGpusThatThisUserMaySee) {
  const NvmlCalls table = nvml_calls();
  const Result<std::vector<std::string>> places = nvml_bus_ids(table);
  ASSERT_TRUE(places) << places.error().message;
  EXPECT_THAT(*places, ElementsAre("0001:1b:03.0", "0001:1d:03.0"));
  EXPECT_EQ(answers().shutdowns, 1);
}

TEST(Nvml, SaysWhyItNamesNoGpus) {
  NvmlCalls table = nvml_calls();
  table.init = [] { return 9; };
  EXPECT_EQ(nvml_bus_ids(table).error().message, "nvmlInit: Insufficient Permissions");
  EXPECT_EQ(answers().shutdowns, 0);
  table = nvml_calls();
  table.bus_address = nullptr;
  EXPECT_EQ(nvml_bus_ids(table).error().message, "the driver's NVML is too old to name the machine's GPUs");
}

}  // namespace
}  // namespace elbowroom::counters
