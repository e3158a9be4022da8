#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "documents.hpp"

namespace elbowroom::page {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

const Times* energy_of(const Document& document) {
  for (const Section& section : document.sections) {
    for (const auto& view : section.views) {
      const auto* times = std::get_if<Times>(&view);
      if (times != nullptr && times->unit == "J") { return times; }
    }
  }
  return nullptr;
}

TEST(EnergyView, ShowsTheJoulesOfAResultAsTheyStand) {
  json document = json::parse(result_text());
  json& results = document["cases"][0]["results"];
  results[0]["energy"] = {{"joules", 12.25}, {"low", 12.0}, {"high", 12.5}, {"confidence", 0.95}};
  results[1]["energy"] = {{"joules", 11.125}, {"low", 11.0}, {"high", 11.25}, {"confidence", 0.95}};
  const Document read_back = read(document.dump());
  const Times* energy = energy_of(read_back);
  ASSERT_NE(energy, nullptr);
  ASSERT_EQ(energy->rows.size(), 2U);
  EXPECT_EQ(energy->rows[0].median, 12.25);
  EXPECT_EQ(energy->rows[0].low, 12.0);
  EXPECT_FALSE(energy->rows[0].marked);
  EXPECT_EQ(energy->rows[1].high, 11.25);
  EXPECT_TRUE(energy->rows[1].marked);
}

TEST(EnergyView, IsAbsentWhereNobodyAsked) { EXPECT_EQ(energy_of(read(result_text())), nullptr); }

TEST(EnergyView, SaysWhyThereIsNone) {
  json document = json::parse(result_text());
  document["cases"][0]["no_energy"] = "MIG is on";
  const Document read_back = read(document.dump());
  bool said = false;
  for (const Section& section : read_back.sections) {
    const auto* figures = view_of<Figures>(section);
    said |= figures != nullptr && figures->title == "Energy" && figures->figures.front().value == "MIG is on";
  }
  EXPECT_TRUE(said);
}

TEST(EnergyView, ShowsTheJoulesOfATune) {
  json document = json::parse(tune_text());
  document["cases"][0]["afresh"].back()["energy"] = {{"joules", 3.5}, {"low", 3.25}, {"high", 3.75}};
  const Document read_back = read(document.dump());
  const Times* energy = energy_of(read_back);
  ASSERT_NE(energy, nullptr);
  EXPECT_EQ(energy->rows.front().median, 3.5);
}

TEST(EnergyView, RefusesWhatIsNoNumber) {
  json document = json::parse(result_text());
  document["cases"][0]["results"][0]["energy"] = {{"joules", "many"}};
  EXPECT_THAT(refusal_of(document.dump()), HasSubstr("energy.joules"));
}

}  // namespace
}  // namespace elbowroom::page
