#include "elbowroom/report/scenario_line.hpp"

#include <gtest/gtest.h>

#include "example_document.hpp"

namespace elbowroom {
namespace {

TEST(ScenarioLine, NamesWhatIsRun) {
  EXPECT_EQ(scenario_line(std::get<Scenario>(example_case().what)),
            "example: 2 GPUs, 8 iterations, pipeline; elementwise gelu f32 4G; all_reduce bf16 512M, 8 comm blocks");
  EXPECT_EQ(scenario_line(std::get<Scenario>(example_case_of_all_controls().what)),
            "example-µs: 2 GPUs, 1 iteration, pair; tiled_gemm f32 8192x57344x8192, tile 64x64x32, grid 16x1024; "
            "all_to_all bf16 896M, cluster 4");
}

TEST(ScenarioLine, TellsAFullGridAndALibraryGemm) {
  Scenario scenario = std::get<Scenario>(example_case().what);
  scenario.compute = TiledGemm{64, 128, 256, 64, 64, 32, std::nullopt, DataType::bf16};
  EXPECT_NE(scenario_line(scenario).find("tiled_gemm bf16 64x128x256, tile 64x64x32, grid full;"), std::string::npos);
  scenario.compute = LibraryGemm{64, 128, 256, DataType::bf16};
  EXPECT_NE(scenario_line(scenario).find("library_gemm bf16 64x128x256;"), std::string::npos);
}

}  // namespace
}  // namespace elbowroom
