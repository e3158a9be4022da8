#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "elbowroom/report/result_markdown.hpp"
#include "elbowroom/report/result_table.hpp"
#include "example_document.hpp"

namespace elbowroom {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

SchemeEnergy example_energy() {
  SchemeEnergy energy;
  energy.per_iteration.joules = {12.345678};
  energy.per_iteration.low = {12.25};
  energy.per_iteration.high = {12.5};
  energy.per_iteration.resolution = 0.0033333;
  energy.per_iteration.length = Microseconds(20'000);
  energy.per_iteration.iterations = 1500;
  energy.per_iteration.counter_over_power = 1.0125;
  energy.idle = {2.8};
  energy.span = Microseconds(30e6);
  energy.before = {{41, 1980, {}, 1}, {43, 1980, {}, 1}};
  energy.after = {{55, 1755, {}, 1}, {std::nullopt, 1755, {}, 1}};
  energy.below_greatest_clock = {"power cap", "heat, by hardware"};
  energy.counter = "nvml";
  energy.period = Microseconds(100'000);
  return energy;
}

ResultDocument with_energy() {
  ResultDocument document = example_document();
  document.cases[0].results[0].energy = example_energy();
  return document;
}

TEST(EnergyReport, IsInTheTableWithTheStateOfTheGpus) {
  const std::string scheme = with_energy().cases[0].results[0].scheme;
  const std::string text = to_table(with_energy());
  EXPECT_THAT(text, HasSubstr(" 12.35 12.25..12.5 "));
  EXPECT_THAT(text, HasSubstr("# energy: nvml counter, moves every 100 ms; spans of 30 s, whose ends are off by 0.33 %"));
  EXPECT_THAT(
      text, HasSubstr("# energy of " + scheme + ": 41..43 -> ? C, 1980 -> 1755 MHz; clocks fell by power cap, heat, by hardware;"));
  EXPECT_THAT(to_markdown(with_energy()), HasSubstr("energy / iter. (J)"));
}

TEST(EnergyReport, IsInTheDocument) {
  const auto energy = nlohmann::json::parse(to_json(with_energy()))["cases"][0]["results"][0]["energy"];
  EXPECT_EQ(energy["joules"], 12.345678);
  EXPECT_EQ(energy["idle_joules"], 2.8);
  EXPECT_EQ(energy["period_ms"], 100);
  EXPECT_EQ(energy["span_s"], 30);
  EXPECT_EQ(energy["after"][1]["celsius"], nullptr);
  EXPECT_EQ(energy["clocks_fell_by"].size(), 2U);
}

TEST(EnergyReport, SaysInOneLineWhyThereIsNone) {
  ResultDocument document = example_document();
  document.cases[0].no_energy = "MIG is on";
  EXPECT_THAT(to_table(document), HasSubstr("# no energy: MIG is on\n"));
  EXPECT_EQ(nlohmann::json::parse(to_json(document))["cases"][0]["no_energy"], "MIG is on");
}

TEST(EnergyReport, LeavesOtherDocumentsAsTheyAre) {
  EXPECT_THAT(to_json(example_document()), Not(HasSubstr("energy")));
  EXPECT_THAT(to_table(example_document()), Not(HasSubstr("energy")));
}

}  // namespace
}  // namespace elbowroom
