#include "backend_sim/model_width.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "elbowroom/backend/registry.hpp"
#include "elbowroom/backend/validation.hpp"
#include "elbowroom/model/device_catalog.hpp"
#include "elbowroom/model/device_facts.hpp"

namespace elbowroom::sim {
namespace {

using Rests = bool (*)(const RowPrediction& row);

/// Of a group's name: kernel, n, grid, threads, registers, static shared memory, unshaped residency, ...
std::string word(const std::string& group, int at) {
  std::istringstream words(group);
  std::string found;
  for (int i = 0; i <= at; ++i) { words >> found; }
  return found;
}

bool isolated(const RowPrediction& row) { return row.scheme == "compute_only" || row.scheme == "comm_only"; }

// docs/simulator.md, "How far off": which rows of a file constants rest on.
bool of_first_file(const RowPrediction& row) {
  const bool pipeline_of_nccls_blocks = row.group.starts_with("sgemm") && row.group.ends_with(" 0 -1 default");
  return isolated(row) || row.group.find(" pair ") != std::string::npos || pipeline_of_nccls_blocks ||
         row.group.starts_with("gelu");
}

bool of_bench_kernels(const RowPrediction& row) {
  const int most = std::stoi(word(row.group, 6));
  return row.scheme == "compute_only" && (row.blocks_per_sm == 1 || row.blocks_per_sm == most);
}

bool of_gelu_cublas(const RowPrediction&) { return false; }

struct File {
  const char* name;
  Rests rests;
};
constexpr File kFiles[] = {
    {"h200x2.csv", of_first_file}, {"h200x2-bench-kernels.csv", of_bench_kernels}, {"h200x2-gelu-cublas.csv", of_gelu_cublas}};

/// Errors of the rows that no constant rests on, nothing given, ascending.
std::vector<double> held_out_errors() {
  std::vector<double> errors;
  for (const File& file : kFiles) {
    std::ostringstream text;
    text << std::ifstream(std::string(ELBOWROOM_SOURCE_DIR) + "/data/" + file.name).rdbuf();
    const Result<Validation> validation = validate_simulator(text.str(), file.name, *find_device("h200"));
    if (!validation) { return {}; }
    for (const RowPrediction& row : validation->absolute.rows) {
      if (!file.rests(row)) { errors.push_back(row.error()); }
    }
  }
  std::ranges::sort(errors);
  return errors;
}

TEST(ModelWidth, OfH200IsWhatHoldsNineInTenRowsThatNoConstantRestsOn) {
  const std::vector<double> errors = held_out_errors();
  ASSERT_EQ(errors.size(), 225U);  // 26 + 90 + 109
  // Nearest rank: the 203rd of 225.
  const ModelWidth width = model_width_of(*find_device("h200"));
  EXPECT_NEAR(errors[202], width.width, 0.0005);
  EXPECT_NEAR(errors[112], 0.019, 0.0005);
  EXPECT_NEAR(errors.back(), 0.153, 0.0005);
  EXPECT_NE(width.source.find("of 225 times"), std::string::npos);
  EXPECT_NE(width.source.find("within 7.6 %, the worst within 15.3 %"), std::string::npos);
}

TEST(ModelWidth, OnlyTheDeviceOfTheRowsIsFitted) {
  for (const DeviceLimits& device : device_catalog()) {
    const ModelWidth width = model_width_of(device);
    EXPECT_EQ(width.basis == Basis::fitted, device.name == "h200") << device.name;
    EXPECT_EQ(width.basis == Basis::extrapolated, device.name != "h200" && device.name != "h100") << device.name;
    EXPECT_NE(width.source.find(device.name), std::string::npos) << device.name;
    EXPECT_GT(width.width, 0) << device.name;
  }
}

// The name alone says nothing of the constants.
TEST(ModelWidth, OfAFileThatTakesTheNameIsExtrapolated) {
  DeviceLimits other = *find_device("h200");
  other.facts = std::make_shared<const DeviceFacts>(*other.facts);
  EXPECT_EQ(model_width_of(other).basis, Basis::extrapolated);
}

TEST(ModelWidth, EverySimulatedDeviceCarriesIt) {
  BackendOptions options;
  options.device = "a40";
  const Result<std::unique_ptr<Backend>> backend = open_backend("sim", options);
  ASSERT_TRUE(backend) << backend.error().message;
  for (const DeviceInfo& device : (*backend)->devices()) {
    ASSERT_TRUE(device.model);
    EXPECT_EQ(device.model->basis, Basis::extrapolated);
  }
}

}  // namespace
}  // namespace elbowroom::sim
