#include "headroom/backend/validation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace headroom {
namespace {

std::string measured_rows(const std::string& name = "h200x2.csv") {
  std::ifstream file(std::string(HEADROOM_SOURCE_DIR) + "/data/" + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

const Validation& validation() {
  static const Validation result = *validate_simulator(measured_rows(), "data/h200x2.csv", "h200");
  return result;
}

struct Errors {
  double median, p90, worst;
};

// Nearest rank, upper median.
Errors errors_of(const std::vector<RowPrediction>& rows, bool (*wanted)(const RowPrediction&)) {
  std::vector<double> errors;
  for (const RowPrediction& row : rows) {
    if (wanted(row)) errors.push_back(row.error());
  }
  std::sort(errors.begin(), errors.end());
  return {errors[errors.size() / 2], errors[(errors.size() * 9 + 9) / 10 - 1], errors.back()};
}

// docs/simulator.md: the pairs of 64 MiB, the GELU pipeline and the two SGEMM pipelines with NCCL's own blocks served to choose constants.
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

// Measured after the model was finished; of these only isolated rows were used, for the absolute step times.
TEST(Validation, IsolatedTimesGivenOnKernelsMeasuredLater) {
  const std::string name = "h200x2-bench-kernels.csv";
  const Result<Validation> later = validate_simulator(measured_rows(name), name, "h200");
  ASSERT_TRUE(later) << later.error().message;
  EXPECT_LT(later->given_isolated.median_error, 0.04);
  EXPECT_LT(later->given_isolated.p90_error, 0.10);
  EXPECT_LT(later->given_isolated.worst_error, 0.20);
  EXPECT_GE(later->given_isolated.best_pick_rate, 0.9);
  EXPECT_LT(later->absolute.median_error, 0.12);
}

TEST(Validation, IsolatedTimesGivenOnAllRows) {
  const PredictionTable& table = validation().given_isolated;
  EXPECT_EQ(table.rows.size(), 102U);
  EXPECT_LT(table.median_error, 0.04);
  EXPECT_LT(table.p90_error, 0.10);
  EXPECT_EQ(table.groups, 18);
  EXPECT_GE(table.best_pick_rate, 0.9);
}

TEST(Validation, NothingGiven) {
  const PredictionTable& table = validation().absolute;
  EXPECT_EQ(table.rows.size(), 162U);
  EXPECT_LT(table.median_error, 0.12);
  EXPECT_LT(errors_of(table.rows, held_out).median, 0.12);
}

TEST(Validation, SequentialIsTheSumOfWhatWasGiven) {
  for (const RowPrediction& row : validation().given_isolated.rows) {
    if (row.scheme != "sequential") continue;
    EXPECT_LT(row.error(), 0.05) << row.group;
  }
}

TEST(Validation, ErrorsAreOfTheFile) {
  const Result<Validation> none = validate_simulator("nothing", "rows.csv", "h200");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::invalid_input);
  EXPECT_FALSE(validate_simulator(measured_rows(), "rows.csv", "h900"));
}

}  // namespace
}  // namespace headroom
