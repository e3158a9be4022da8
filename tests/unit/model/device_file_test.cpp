#include "elbowroom/model/device_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "elbowroom/model/device_facts.hpp"
#include "elbowroom/model/device_rates.hpp"
#include "model/device_files.hpp"
#include "model/device_members.hpp"

namespace elbowroom {
namespace {

using nlohmann::json;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

json h200() {
  for (const std::string_view text : detail::device_files()) {
    json document = json::parse(text);
    if (document["name"] == "h200") { return document; }
  }
  return {};
}

std::string refusal(const json& document) {
  const Result<DeviceLimits> device = parse_device(document.dump(), "d.json");
  return device ? "accepted" : device.error().message;
}

/// Of messages that begin with the member, alone or in quotation marks.
auto names(const std::string& member) {
  return AnyOf(StartsWith("d.json: " + member + " "), StartsWith("d.json: " + member + ": "),
               StartsWith("d.json: \"" + member + "\" "));
}

TEST(DeviceFile, IsReadWhole) {
  const Result<DeviceLimits> device = parse_device(h200().dump(), "d.json");
  ASSERT_TRUE(device.ok()) << device.error().message;
  EXPECT_EQ(device->name, "h200");
  EXPECT_EQ(device->sms, Sms(132));
  EXPECT_EQ(device->shared_per_block, Bytes(232'448));
  EXPECT_THAT(device->source, HasSubstr("cuda_occupancy.h"));
  const std::optional<DeviceRates> rates = rates_of(*device);
  ASSERT_TRUE(rates);
  EXPECT_DOUBLE_EQ(rates->bf16.best(), 807.3e6);
  EXPECT_DOUBLE_EQ(rates->memory.peak, 4.8e6);
  EXPECT_TRUE(rates->switch_adds);
  ASSERT_TRUE(device->facts->simulated);
  EXPECT_EQ(device->facts->simulated->memory, kibibytes(141 << 20));
  EXPECT_DOUBLE_EQ(device->facts->simulated->link_rate, 357e3);
}

// Each member that is taken out: the refusal names it. An optional one has a source, which then has no number.
TEST(DeviceFile, WithoutAMemberIsRefusedByItsName) {
  for (const std::string_view text : detail::device_files()) {
    const json whole = json::parse(text);
    SCOPED_TRACE(whole["name"].get<std::string>());
    EXPECT_EQ(refusal(whole), "accepted");
    for (const auto& [name, value] : whole.items()) {
      if (name == "names" || name == "rates" || name == "simulator") { continue; }
      json less = whole;
      less.erase(name);
      EXPECT_THAT(refusal(less), names(name));
    }
    for (const char* part : {"limits", "rates", "simulator"}) {
      if (!whole.contains(part)) { continue; }
      for (const auto& [name, value] : whole[part].items()) {
        json less = whole;
        less[part].erase(name);
        EXPECT_THAT(refusal(less), names(part + ("." + name)));
      }
      json less = whole;
      less.erase(part);
      EXPECT_THAT(refusal(less), AnyOf(names(part), StartsWith(std::string("d.json: \"") + part + ".")));
    }
  }
}

TEST(DeviceFile, NeedsASourceForEachNumber) {
  const json whole = h200();
  for (std::size_t index = 0; index < whole["sources"].size(); ++index) {
    json less = whole;
    less["sources"].erase(index);
    std::vector<std::string> numbers = whole["sources"][index]["numbers"];
    std::ranges::sort(numbers);
    EXPECT_EQ(refusal(less), "d.json: " + numbers.front() + " has no source, expected one in sources");
  }
}

TEST(DeviceFile, WithARateThatIsNotKnownHasNoRates) {
  json document = h200();
  document["rates"].erase("bf16_tflops");
  auto& numbers = document["sources"][4]["numbers"];
  numbers.erase(std::ranges::find(numbers, "rates.bf16_tflops"));
  const Result<DeviceLimits> device = parse_device(document.dump(), "d.json");
  ASSERT_TRUE(device.ok()) << device.error().message;
  EXPECT_FALSE(rates_of(*device));
}

TEST(DeviceFile, RefusesWhatCannotBe) {
  const auto with = [](const char* pointer, const json& value) {
    json document = h200();
    document[json::json_pointer(pointer)] = value;
    return refusal(document);
  };
  EXPECT_EQ(with("/schema", "elbowroom.device/2"), "d.json: schema: \"elbowroom.device/2\", expected \"elbowroom.device/1\"");
  EXPECT_EQ(with("/name", "H 200"), "d.json: name: \"H 200\", expected 1 to 40 of a to z, 0 to 9 and -");
  EXPECT_EQ(with("/vendor", "intel"), "d.json: vendor: \"intel\", expected \"nvidia\" or \"amd\"");
  EXPECT_EQ(with("/architecture", "gfx90a"), "d.json: architecture: \"gfx90a\", expected as sm_90");
  EXPECT_EQ(with("/title", "a\nb"), "d.json: title: \"a\\nb\", expected one line of 1 to 200 bytes");
  EXPECT_EQ(with("/names", json::array({1})), "d.json: names: [1], expected an array of texts of 1 to 200 bytes");
  EXPECT_EQ(with("/limits", 3), "d.json: limits is 3, expected an object");
  EXPECT_EQ(with("/limits/sms", 0), "d.json: limits.sms: 0, expected a whole number from 1 to 10000");
  EXPECT_EQ(with("/limits/sms", 1.5), "d.json: limits.sms: 1.5, expected a whole number from 1 to 10000");
  EXPECT_EQ(with("/limits/sms", "132"), "d.json: limits.sms: \"132\", expected a whole number from 1 to 10000");
  EXPECT_EQ(with("/rates/switch_adds", 1), "d.json: rates.switch_adds: 1, expected true or false");
  EXPECT_EQ(with("/rates/memory_gb_per_s", -1), "d.json: rates.memory_gb_per_s: -1, expected a number from 1e-06 to 1000000000000");
  EXPECT_EQ(with("/limits/shared_per_block", 233'473),
            "d.json: limits.shared_per_block is 233473, expected at most 233472 (limits.shared_per_sm)");
  EXPECT_EQ(with("/limits/threads_per_sm", 2'047),
            "d.json: limits.threads_per_sm is 2047, expected a multiple of 32 (limits.warp)");
  EXPECT_EQ(with("/limits/threads_per_sm", 992),
            "d.json: limits.threads_per_block is 1024, expected at most 992 (limits.threads_per_sm)");
  EXPECT_EQ(with("/limits/register_granule", 16'385),
            "d.json: limits.register_granule is 16385, expected at most 16384 (a sub-partition's registers)");
  EXPECT_THAT(with("/limits/tensor_memory", 1), StartsWith("d.json: limits.\"tensor_memory\": unknown field"));
  EXPECT_THAT(with("/speed", 1), StartsWith("d.json: \"speed\": unknown field"));
  EXPECT_THAT(with("/sources", "me"), StartsWith("d.json: sources is \"me\", expected an array"));
  EXPECT_THAT(with("/sources/0", json::object()), StartsWith("d.json: sources is {}, expected {\"numbers\""));
  EXPECT_EQ(with("/sources/0/numbers/0", "limits.warps"), "d.json: \"limits.warps\" has a source and no value");
  EXPECT_FALSE(parse_device("[]", "d.json").ok());
  EXPECT_FALSE(parse_device("", "d.json").ok());
}

// docs/device.schema.json is what editors check by.
TEST(DeviceFile, AModelsWidthHasItsSource) {
  json document = h200();
  document["model"]["width"] = 0.05;
  EXPECT_EQ(refusal(document), "d.json: model.width has no source, expected one in sources");
  document["sources"].push_back({{"numbers", {"model.width"}}, {"source", "ten rows"}});
  const Result<DeviceLimits> device = parse_device(document.dump(), "d.json");
  ASSERT_TRUE(device.ok()) << device.error().message;
  EXPECT_EQ(device->facts->model->width, 0.05);
  EXPECT_EQ(device->facts->model->source, "ten rows");
  document["model"]["width"] = 1.5;
  EXPECT_EQ(refusal(document), "d.json: model.width: 1.5, expected a number from 0 to 1");
  document["model"] = json::object();
  EXPECT_THAT(refusal(document), names("model.width"));
  document.erase("simulator");
  document["model"]["width"] = 0.05;
  EXPECT_EQ(refusal(document), "d.json: model is {\"width\":0.05}, expected \"simulator\" beside it, whose width it is");
}

TEST(DeviceFile, IsReadBackAsItIsWritten) {
  const DeviceLimits device = *parse_device(h200().dump(), "d.json");
  std::vector<NumberSource> sources;
  const json read = h200();
  for (const json& one : read["sources"]) { sources.push_back({one["numbers"], one["source"]}); }
  EXPECT_EQ(json::parse(to_json(device, sources)), read);
}

TEST(DeviceFile, HasTheSchemasMembersAndRanges) {
  std::ifstream file(ELBOWROOM_SOURCE_DIR "/docs/device.schema.json");
  const json schema = json::parse(file);
  const auto expect_member = [&](const char* part, const detail::NumberMember& member) {
    SCOPED_TRACE(std::string(part) + "." + member.name);
    const json& stated = schema["properties"][part]["properties"].value(member.name, json::object());
    EXPECT_EQ(stated.value("type", ""), member.whole ? "integer" : "number");
    EXPECT_EQ(stated.value("minimum", -1.0), member.least);
    EXPECT_EQ(stated.value("maximum", -1.0), member.greatest);
  };
  std::set<std::string> needed;
  for (const detail::LimitMember& member : detail::limit_members()) {
    expect_member("limits", member.number);
    needed.insert(member.number.name);
  }
  EXPECT_EQ(schema["properties"]["limits"]["required"].get<std::set<std::string>>(), needed);
  EXPECT_EQ(schema["properties"]["limits"]["properties"].size(), needed.size());
  for (const detail::RateMember& member : detail::rate_members()) {
    expect_member("rates", member.peak);
    expect_member("rates", member.reached);
  }
  EXPECT_EQ(schema["properties"]["rates"]["properties"].size(), 2 * detail::rate_members().size() + 1);
  needed.clear();
  for (const detail::SpeedMember& member : detail::speed_members()) {
    expect_member("simulator", member.number);
    if (member.needed) { needed.insert(member.number.name); }
  }
  EXPECT_EQ(schema["properties"]["simulator"]["required"].get<std::set<std::string>>(), needed);
  EXPECT_EQ(schema["properties"]["simulator"]["properties"].size(), detail::speed_members().size());
  expect_member("model", detail::kModelWidth);
}

}  // namespace
}  // namespace elbowroom
