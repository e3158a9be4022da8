#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "documents.hpp"

namespace elbowroom::page {
namespace {

using nlohmann::json;

const Section* energy_section(const Document& document) {
  const auto found = std::ranges::find(document.sections, "energy", &Section::title);
  return found == document.sections.end() ? nullptr : &*found;
}

Value figure(const Section& section, const std::string& tag) {
  for (const Figure& one : view_of<Figures>(section)->figures) {
    if (one.tag == tag) { return one.value; }
  }
  return {};
}

TEST(RunEnergyView, ShowsTheJoulesOfAStepAndWhatTheyRestOn) {
  const Document document = read(run_text());
  const Section* energy = energy_section(document);
  ASSERT_NE(energy, nullptr);
  EXPECT_EQ(figure(*energy, "energy.joules_per_step"), 140.125);
  EXPECT_EQ(figure(*energy, "energy.low"), 139.5);
  EXPECT_EQ(figure(*energy, "energy.why_no_idle"), "the command used a GPU before the first reading");
  EXPECT_EQ(figure(*energy, "energy.why_absent"), Value());
  EXPECT_EQ(figure(*energy, "energy.steps"), 400);
  EXPECT_EQ(figure(*energy, "energy.span_s"), 80.0);
  EXPECT_THAT(figure(*energy, "energy.notes").get<std::string>(), ::testing::HasSubstr("2 processes with work on it"));
  const Table* gpus = view_of<Table>(*energy);
  ASSERT_NE(gpus, nullptr);
  EXPECT_THAT(gpus->rows.at(0),
              ::testing::ElementsAre("0000:1b:00.0", 140.125, 55, 1410, 1980, "power cap, heat, by software", 2, 1));
}

TEST(RunEnergyView, SaysWhyThereIsNone) {
  json document = json::parse(run_text());
  document["energy"] = {{"joules_per_step", nullptr}, {"why_absent", "no NVML"}, {"steps", 0}};
  const Document absent = read(document.dump());
  EXPECT_EQ(figure(*energy_section(absent), "energy.why_absent"), "no NVML");
  EXPECT_EQ(view_of<Table>(*energy_section(absent)), nullptr);
  document["energy"] = nullptr;
  EXPECT_EQ(energy_section(read(document.dump())), nullptr);
}

}  // namespace
}  // namespace elbowroom::page
