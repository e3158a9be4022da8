#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "page/html.hpp"
#include "report/json_values.hpp"

namespace elbowroom::page {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const std::optional<std::string>& text);
Json json_of(const Column& column);
Json json_of(const Reference& reference);
Json json_of(const Timed& timed);
Json json_of(const Tried& tried);
Json json_of(const Level& level);
Json json_of(const Lane& lane);
Json json_of(const Track& track);
Json json_of(const Figure& figure);
Json json_of(const View& view);
Json json_of(const Section& section);
Json json_of(const Fact& fact);
Json json_of(const Document& document);

template <class Range, class Write>
Json array_of(const Range& range, Write write) {
  Json array = Json::array();
  for (const auto& element : range) { array.push_back(write(element)); }
  return array;
}

Json json_of(const std::vector<Value>& values) {
  return array_of(values, [](const Value& value) { return value; });
}

/// What is absent is empty to the page, which draws neither.
Json json_of(const std::optional<std::string>& text) { return text.value_or(""); }

Json json_of(const Column& column) {
  return Json::object({{"name", column.name}, {"unit", column.unit}, {"tag", column.tag}, {"meaning", column.meaning}});
}

Json json_of(const Reference& reference) { return Json::object({{"label", reference.label}, {"value", reference.value}}); }

template <class Element>
Json list_of(const std::vector<Element>& elements) {
  return array_of(elements, [](const Element& element) { return json_of(element); });
}

Json json_of(const Timed& timed) {
  Json json = Json::object({{"label", timed.label},
                            {"detail", json_of(timed.detail)},
                            {"median", timed.median},
                            {"low", timed.low},
                            {"high", timed.high}});
  json["trials"] = timed.trials;
  json["confidence"] = timed.confidence;
  json["times"] = json_of(timed.times);
  json["marked"] = timed.marked;
  json["aside"] = timed.aside;
  json["provenance"] = json_of(timed.provenance);
  return json;
}

Json json_of(const Tried& tried) {
  Json json = Json::object(
      {{"label", tried.label}, {"how", tried.how}, {"dropped", json_of(tried.dropped)}, {"predicted", tried.predicted}});
  json["median"] = tried.median;
  json["low"] = tried.low;
  json["high"] = tried.high;
  json["trials"] = tried.trials;
  json["chosen"] = tried.chosen;
  return json;
}

std::string_view to_string(LaneKind kind) {
  constexpr std::string_view names[] = {"compute", "communication", "copy", "other"};
  return names[static_cast<std::size_t>(kind)];
}

/// One array for each fact: an object for each block would be ten times as long.
Json json_of(const Level& level) {
  const auto facts = [&](auto member) { return array_of(level.blocks, [&](const Block& block) { return block.*member; }); };
  Json json =
      Json::object({{"resolution", level.resolution_us}, {"begin", facts(&Block::begin_us)}, {"length", facts(&Block::length_us)}});
  json["name"] = facts(&Block::name);
  json["launch"] = facts(&Block::launch);
  if (level.resolution_us == 0) { return json; }
  json["busy"] = facts(&Block::busy_us);
  json["spans"] = facts(&Block::spans);
  return json;
}

Json json_of(const Lane& lane) {
  return Json::object(
      {{"kind", to_string(lane.kind)}, {"label", lane.label}, {"spans", lane.spans}, {"levels", list_of(lane.levels)}});
}

Json json_of(const Track& track) {
  return Json::object({{"label", track.label}, {"device", track.device}, {"lanes", list_of(track.lanes)}});
}

Json json_of(const Timelines& timelines) {
  Json json = Json::object({{"view", "timelines"}, {"title", timelines.title}});
  json["names"] = timelines.names;
  json["launches"] = timelines.launches;
  json["tracks"] = list_of(timelines.tracks);
  return json;
}

Json json_of(const Times& times) {
  Json json = Json::object({{"view", "times"}, {"title", times.title}, {"unit", times.unit}, {"marked_as", times.marked_as}});
  json["rows"] = list_of(times.rows);
  json["references"] = list_of(times.references);
  return json;
}

Json json_of(const Grid& grid) {
  Json json = Json::object(
      {{"view", "grid"}, {"title", grid.title}, {"unit", grid.unit}, {"x_name", grid.x_name}, {"y_name", grid.y_name}});
  json["x"] = json_of(grid.x);
  json["y"] = json_of(grid.y);
  json["cells"] = array_of(grid.cells, [](const std::vector<Value>& row) { return json_of(row); });
  return json;
}

Json json_of(const Search& search) {
  Json json = Json::object({{"view", "search"}, {"title", search.title}, {"unit", search.unit}});
  json["tried"] = list_of(search.tried);
  json["references"] = list_of(search.references);
  return json;
}

Json json_of(const Table& table) {
  Json json = Json::object({{"view", "table"}, {"title", table.title}, {"columns", list_of(table.columns)}});
  json["rows"] = array_of(table.rows, [](const std::vector<Value>& row) { return json_of(row); });
  json["marked"] = table.marked ? Json(*table.marked) : Json();
  return json;
}

Json json_of(const Figure& figure) {
  return Json::object({{"name", figure.name}, {"value", figure.value}, {"unit", figure.unit}, {"tag", figure.tag}});
}

Json json_of(const Figures& figures) {
  return Json::object({{"view", "figures"}, {"title", figures.title}, {"figures", list_of(figures.figures)}});
}

Json json_of(const View& view) {
  return std::visit([](const auto& one) { return json_of(one); }, view);
}

Json json_of(const Section& section) {
  return Json::object({{"title", section.title}, {"line", json_of(section.line)}, {"views", list_of(section.views)}});
}

Json json_of(const Fact& fact) { return Json::object({{"name", fact.name}, {"value", fact.value}}); }

Json json_of(const Document& document) {
  Json json = Json::object({{"file", document.file}, {"schema", document.schema}, {"provenance", document.provenance}});
  json["facts"] = list_of(document.facts);
  json["sections"] = list_of(document.sections);
  return json;
}

/// A name of megabytes says nothing to people, and each view that shows it has it once more.
void shorten_texts(Json& json) {
  constexpr std::size_t most = 2048;
  if (json.is_structured()) {
    for (Json& element : json) { shorten_texts(element); }
  }
  if (!json.is_string() || json.get_ref<const std::string&>().size() <= most) { return; }
  auto& text = json.get_ref<std::string&>();
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) { --end; }  // no character is cut
  text.resize(end);
  text += "...";
}

}  // namespace

std::string page_json(const Page& page) {
  Json json = Json::object({{"version", page.version}});
  json["command"] = page.command;
  json["documents"] = list_of(page.documents);
  shorten_texts(json);
  std::string text = detail::dump(json, -1);
  std::string escaped;
  escaped.reserve(text.size());
  for (const char letter : text) {
    if (letter == '<') {
      escaped += "\\u003c";
    } else {
      escaped += letter;
    }
  }
  return escaped;
}

}  // namespace elbowroom::page
