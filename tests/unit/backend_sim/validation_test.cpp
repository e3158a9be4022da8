#include "elbowroom/backend/validation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "elbowroom/model/device_catalog.hpp"

namespace elbowroom {
namespace {

std::string measured_rows(const std::string& name = "h200x2.csv") {
  std::ifstream file(std::string(ELBOWROOM_SOURCE_DIR) + "/data/" + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

const Validation& validation() {
  static const Validation result = *validate_simulator(measured_rows(), "data/h200x2.csv", *find_device("h200"));
  return result;
}

struct Errors {
  double median, p90, worst;
};

// Nearest rank, upper median.
Errors errors_of(const std::vector<RowPrediction>& rows, bool (*wanted)(const RowPrediction&)) {
  std::vector<double> errors;
  for (const RowPrediction& row : rows) {
    if (wanted(row)) { errors.push_back(row.error()); }
  }
  std::sort(errors.begin(), errors.end());
  return {errors[errors.size() / 2], errors[(errors.size() * 9 + 9) / 10 - 1], errors.back()};
}

// docs/simulator.md: the pairs of 64 MiB, the GELU pipeline and the two SGEMM pipelines with NCCL's own blocks served to choose
// constants.
bool held_out(const RowPrediction& row) {
  const bool pair = row.group.find(" pair ") != std::string::npos;
  const bool fitted_pipeline = row.group.starts_with("sgemm") && row.group.ends_with(" 0 -1 default");
  return !pair && !fitted_pipeline && !row.group.starts_with("gelu");
}

TEST(Validation, IsolatedTimesGivenOnRowsNotFitted) {
  const Errors errors = errors_of(validation().given_isolated.rows, held_out);
  EXPECT_LT(errors.median, 0.04);
  EXPECT_LT(errors.p90, 0.10);
  EXPECT_LT(errors.worst, 0.20);
}

// Measured after the model was finished. Of the first file only isolated rows were used, for the absolute step times; nothing of
// the second.
class LaterRows : public ::testing::TestWithParam<const char*> {};

TEST_P(LaterRows, ArePredicted) {
  const std::string name = GetParam();
  const Result<Validation> later = validate_simulator(measured_rows(name), name, *find_device("h200"));
  ASSERT_TRUE(later) << later.error().message;
  EXPECT_LT(later->given_isolated.median_error, 0.04);
  EXPECT_LT(later->given_isolated.p90_error, 0.10);
  EXPECT_LT(later->given_isolated.worst_error, 0.20);
  EXPECT_GE(later->given_isolated.best_pick_rate, 0.9);
  EXPECT_LT(later->absolute.median_error, 0.12);
}

INSTANTIATE_TEST_SUITE_P(Validation, LaterRows, ::testing::Values("h200x2-bench-kernels.csv", "h200x2-gelu-cublas.csv"));

TEST(Validation, IsolatedTimesGivenOnAllRows) {
  const PredictionTable& table = validation().given_isolated;
  EXPECT_EQ(table.rows.size(), 102U);
  EXPECT_LT(table.median_error, 0.04);
  EXPECT_LT(table.p90_error, 0.10);
  EXPECT_EQ(table.groups, 18);
  EXPECT_GE(table.best_pick_rate, 0.9);
}

TEST(Validation, ErrorsAreOfAllRows) {
  const PredictionTable& table = validation().given_isolated;
  const Errors errors = errors_of(table.rows, [](const RowPrediction&) { return true; });
  EXPECT_DOUBLE_EQ(errors.p90, table.p90_error);
  EXPECT_DOUBLE_EQ(errors.worst, table.worst_error);
  EXPECT_LT(table.median_error, table.p90_error);
}

TEST(Validation, NothingGiven) {
  const PredictionTable& table = validation().absolute;
  EXPECT_EQ(table.rows.size(), 162U);
  EXPECT_LT(table.median_error, 0.12);
  EXPECT_LT(errors_of(table.rows, held_out).median, 0.12);
}

TEST(Validation, SequentialIsTheSumOfWhatWasGiven) {
  for (const RowPrediction& row : validation().given_isolated.rows) {
    if (row.scheme != "sequential") { continue; }
    EXPECT_LT(row.error(), 0.05) << row.group;
  }
}

const std::string kColumns =
    "kernel,n,grid_blocks,block_threads,registers,static_shared_bytes,collective,collective_MiB,gpus,iterations,pattern,scheme,"
    "priority,blocks_per_sm,dynamic_shared_bytes,time_ms\n";

std::string gelu_row(const std::string& schedule) { return "gelu,0,4096,256,28,0,all_reduce,64,2,2,pipeline," + schedule + "\n"; }

TEST(Validation, AGroupWithoutIsolatedRowsIsPredictedFromTheScenario) {
  const Result<Validation> bare = validate_simulator(kColumns + gelu_row("concurrent,1,8,0,0.5"), "rows.csv", *find_device("h200"));
  ASSERT_TRUE(bare) << bare.error().message;
  ASSERT_EQ(bare->given_isolated.rows.size(), 1U);
  EXPECT_EQ(bare->given_isolated.rows[0].predicted, bare->absolute.rows[0].predicted);
  EXPECT_EQ(bare->given_isolated.groups, 0);
}

TEST(Validation, OfTwoIsolatedTimesAtOneResidencyTheFirstCounts) {
  const std::string first = gelu_row("compute_only,0,8,0,0.2") + gelu_row("comm_only,0,8,0,0.5");
  const std::string asked = gelu_row("sequential,0,8,0,0.7");
  const auto once = validate_simulator(kColumns + first + asked, "rows.csv", *find_device("h200"));
  const auto twice =
      validate_simulator(kColumns + first + gelu_row("compute_only,1,8,0,0.9") + asked, "rows.csv", *find_device("h200"));
  ASSERT_TRUE(once && twice);
  EXPECT_NEAR(once->given_isolated.rows[0].predicted.count(), 700, 10);
  EXPECT_EQ(once->given_isolated.rows[0].predicted, twice->given_isolated.rows[0].predicted);
}

TEST(Validation, WhatCannotRunIsRefusedWithItsLine) {
  const auto refusal = [](const std::string& row) {
    const Result<Validation> refused = validate_simulator(kColumns + row, "rows.csv", *find_device("h200"));
    return refused ? "" : refused.error().message;
  };
  EXPECT_EQ(refusal(gelu_row("concurrent,0,1,300000,0.5")).rfind("rows.csv:2: ", 0), 0U);
  EXPECT_EQ(refusal("\n" + gelu_row("compute_only,0,8,0,0.0005")),
            "rows.csv:3: an isolated time_ms of 0.0005 for 2 iterations, expected more than the 0.0015 ms between them");
  EXPECT_EQ(refusal("gelu,0,64,1024,255,0,all_reduce,64,2,2,pipeline,concurrent,0,1,0,0.5\n").rfind("rows.csv:2: ", 0), 0U);
}

// 200 x (2^22 + 64) = 838,873,600 blocks a row: the second would make it more than 2^30.
TEST(Validation, RowsThatTogetherTakeTooLongAreRefusedBeforeAnyIsSimulated) {
  const auto row = [](const std::string& kernel) {
    return kernel + ",0,4194304,256,28,0,all_reduce,64,2,200,pipeline,concurrent,0,8,0,0.5\n";
  };
  const Result<Validation> refused = validate_simulator(kColumns + row("gelu") + row("relu"), "rows.csv", *find_device("h200"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(
      refused.error().message.rfind("rows.csv:3: 1,677,747,200 blocks with the rows before, expected at most 1,073,741,824", 0), 0U)
      << refused.error().message;
}

TEST(Validation, ErrorsAreOfTheFile) {
  const Result<Validation> none = validate_simulator("nothing", "rows.csv", *find_device("h200"));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::invalid_input);
}

}  // namespace
}  // namespace elbowroom
