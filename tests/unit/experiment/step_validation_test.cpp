#include "elbowroom/experiment/step_validation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "elbowroom/backend/registry.hpp"

namespace elbowroom {
namespace {

using ::testing::HasSubstr;

constexpr const char* kHeader = "gpus,global_batch,micro_batch,hidden,heads,layers,sequence,tp,dp,pp,iteration_ms\n";

Result<StepValidation> validated(const std::string& csv) {
  BackendOptions options;
  options.device = "a100";
  options.predicts = true;
  const std::unique_ptr<Backend> backend = *open_backend("sim", options);
  return validate_steps(csv, "rows.csv", *backend, *find_machine("a100-4x200"));
}

std::string refusal_of(const std::string& csv) { return validated(csv).error().message; }

const StepErrors* errors_of(const StepValidation& validation, std::string_view what) {
  for (const StepErrors& errors : validation.errors) {
    if (errors.of == what) { return &errors; }
  }
  return nullptr;
}

TEST(StepValidation, RowsThatDescribeNoIterationAreCounted) {
  const auto made = validated(std::string(kHeader) + "8,8,2,1024,16,4,1024,2,2,2,100\n" +
                              "8,8,2,1024,16,4,1024,2,2,4,100\n"    // 16 ranks on 8 GPUs
                              + "8,9,2,1024,16,4,1024,2,2,2,100\n"  // 9 sequences in micro-batches of 2
                              + "8,8,2,1024,16,5,1024,2,2,2,100\n"  // 5 layers on 2 stages
                              + "8,8,2,1024,15,4,1024,2,2,2,100\n");
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->rows.size(), 5U);
  EXPECT_EQ(made->refused, 4);
  EXPECT_TRUE(made->rows[0].predicted);
  EXPECT_EQ(made->rows[1].refusal, "tp x dp x pp: 16, expected gpus 8");
  EXPECT_EQ(made->rows[2].refusal, "global_batch: 9, expected a multiple of micro_batch x dp");
  EXPECT_EQ(made->rows[3].refusal, "layers: expected a multiple of the stages");
  EXPECT_THAT(made->rows[4].refusal, HasSubstr("--hidden"));
  EXPECT_EQ(errors_of(*made, "all")->rows, 1);
  EXPECT_EQ(errors_of(*made, "several hosts"), nullptr);
  EXPECT_THAT(to_table(*made, "rows.csv", *find_machine("a100-4x200")), HasSubstr("# 5 rows, 4 of them not described\n"));
}

TEST(StepValidation, WhatIsNoNumberIsNamed) {
  EXPECT_EQ(refusal_of("gpus\n8\n"), "rows.csv:1: no column 'global_batch', expected it in the header");
  EXPECT_EQ(refusal_of(kHeader), "rows.csv: no rows below the header, expected at least one");
  EXPECT_EQ(refusal_of(std::string(kHeader) + "8,8\n"), "rows.csv:2: 2 fields, expected 11 as in the header");
  EXPECT_EQ(refusal_of(std::string(kHeader) + "8,8,2,1024,16,4,1024,2,2,0,100\n"),
            "rows.csv:2: pp: '0', expected a whole number from 1 to 1000000");
  EXPECT_EQ(refusal_of(std::string(kHeader) + "8,8,2,1024,16,4,1024,2,2,2,fast\n"),
            "rows.csv:2: iteration_ms: 'fast', expected milliseconds");
}

// A model that a host can hardly feed takes the host's time: its share is the same for micro-batches of one and two.
TEST(StepValidation, SmallKernelsWaitForTheHost) {
  const auto made = validated(std::string(kHeader) + "2,4,1,1024,16,12,1024,2,1,1,100\n2,8,2,1024,16,12,1024,2,1,1,100\n");
  ASSERT_TRUE(made);
  const double one = made->rows[0].predicted->pipeline.count();
  EXPECT_NEAR(made->rows[1].predicted->pipeline.count() / one, 1, 0.05);
}

std::string measured(const char* name) {
  std::ifstream file(std::filesystem::path(ELBOWROOM_SOURCE_DIR) / "../shared/validation" / name);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(StepValidation, IterationsOfMegatronAreAsOthersMeasuredThem) {
  const std::string single = measured("megatron-a100-single.csv");
  const std::string multi = measured("megatron-a100-multi.csv");
  if (single.empty() || multi.empty()) { GTEST_SKIP() << "no ../shared/validation"; }
  const auto one_host = validated(single);
  const auto hosts = validated(multi);
  ASSERT_TRUE(one_host && hosts);
  EXPECT_EQ(one_host->refused, 0);
  EXPECT_EQ(hosts->refused, 0);
  EXPECT_LT(errors_of(*one_host, "one host")->mean, 0.084);
  EXPECT_LT(errors_of(*hosts, "several hosts")->mean, 0.10);
  // Nothing was fitted to these.
  EXPECT_LT(errors_of(*hosts, "100 billion and more")->mean, 0.05);
}

}  // namespace
}  // namespace elbowroom
