#include "counters/amd_smi.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace elbowroom::counters {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// What the table was asked and answers; one test at a time.
struct Asked {
  std::uint64_t bdf = 0;
  int energy_code = 0;
  int ended = 0;
  AmdSmiSocket refused = nullptr;
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
  table.clock = [](AmdSmiDevice, int which, AmdSmiClock* clock) { return clock->mhz = which == 0 ? 2100 : 900, 0; };
  table.sockets = [](std::uint32_t* count, AmdSmiSocket* sockets) {
    // A socket with two partitions of a GPU, and one that this user may not look into.
    static int handles[2];
    for (std::uint32_t at = 0; sockets != nullptr && at < 2; ++at) { sockets[at] = handles + at; }
    if (sockets != nullptr) { asked().refused = handles + 1; }
    return *count = 2, 0;
  };
  table.devices = [](AmdSmiSocket socket, std::uint32_t* count, AmdSmiDevice* devices) {
    static std::uint64_t places[2]{180'504, 180'505};
    for (std::uint32_t at = 0; devices != nullptr && at < 2; ++at) { devices[at] = places + at; }
    *count = 2;
    return socket == asked().refused ? 10 : 0;
  };
  table.bdf_of = [](AmdSmiDevice device, std::uint64_t* bdf) { return *bdf = *static_cast<std::uint64_t*>(device), 0; };
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
  EXPECT_EQ((*meter)->state(0)->sm_mhz, 2100);
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

TEST(AmdSmi, NamesEachGpuOnce) {
  const AmdSmiCalls table = amd_smi_calls();
  const Result<std::vector<std::string>> places = amd_smi_bus_ids(table);
  ASSERT_TRUE(places) << places.error().message;
  // 180,504 is domain 2, bus 0xc1, device 3, function 0; 180,505 its function 1.
  EXPECT_THAT(*places, ElementsAre("0002:c1:03.0"));
  EXPECT_EQ(asked().ended, 1);
}

TEST(AmdSmi, SaysWhyItNamesNoGpus) {
  AmdSmiCalls table = amd_smi_calls();
  table.sockets = nullptr;
  EXPECT_EQ(amd_smi_bus_ids(table).error().message, "the driver's AMD SMI is too old to name the machine's GPUs");
  table = amd_smi_calls();
  table.init = [](std::uint64_t) { return 34; };
  EXPECT_EQ(amd_smi_bus_ids(table).error().message, "amdsmi_init answers 34");
  EXPECT_EQ(asked().ended, 0);
  table = amd_smi_calls();
  table.sockets = [](std::uint32_t*, AmdSmiSocket*) { return 10; };
  EXPECT_EQ(amd_smi_bus_ids(table).error().message, "amdsmi_get_socket_handles: AMDSMI_STATUS_NO_PERM");
}

}  // namespace
}  // namespace elbowroom::counters
