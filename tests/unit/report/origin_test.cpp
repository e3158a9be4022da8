#include "elbowroom/report/origin.hpp"

#include <gtest/gtest.h>

#include "example_document.hpp"

namespace elbowroom {
namespace {

TEST(DeviceLine, SaysMeasuredOrSimulated) {
  Origin origin = example_origin();
  EXPECT_EQ(device_line(origin), "simulated for 2 x Example GPU (example, sm_00, 10 SMs, 16.0 GiB each), backend example, seed 7");
  origin.provenance = Provenance::measured;
  EXPECT_EQ(device_line(origin), "measured on 2 x Example GPU (example, sm_00, 10 SMs, 16.0 GiB each), backend example, seed 7");
}

TEST(DeviceLine, AmdHasComputeUnits) {
  Origin origin = example_origin();
  origin.device.limits.vendor = Vendor::amd;
  EXPECT_NE(device_line(origin).find("10 CUs"), std::string::npos);
}

TEST(VersionsLine, ListsNamesAndVersions) {
  Origin origin = example_origin();
  EXPECT_EQ(versions_line(origin), "driver 1.2, nccl 0.0.1");
  origin.versions.clear();
  EXPECT_EQ(versions_line(origin), "none known");
}

TEST(ModelLine, SaysWhatSimulatedTimesRestOn) {
  Origin origin = example_origin();
  EXPECT_FALSE(model_line(origin));
  origin.device.model = example_model();
  EXPECT_EQ(model_line(origin), "model: nothing was measured on example");
}

}  // namespace
}  // namespace elbowroom
