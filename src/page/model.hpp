#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// What a page shows, without any word of how it is drawn: readers make it from documents, page_json writes it for the browser.
namespace elbowroom::page {

/// A number, word or flag as the document has it, or null: what is shown is never computed anew.
using Value = nlohmann::ordered_json;

struct Fact {
  std::string name;
  Value value;
};

struct Column {
  std::string name;
  std::string unit;     ///< of the values as they stand in the document; empty: none
  std::string tag;      ///< where the document has them: "time_us.median"
  std::string meaning;  ///< one line for the reader; may be empty
};

struct Table {
  std::string title;
  std::vector<Column> columns;
  std::vector<std::vector<Value>> rows;
  std::optional<std::size_t> marked;  ///< the row that others are compared with: the least time, the chosen plan
};

/// A figure with a unit of its own.
struct Figure {
  std::string name;
  Value value;
  std::string unit;
  std::string tag;  ///< where the document has it
};

/// Figures that share no unit.
struct Figures {
  std::string title;
  std::vector<Figure> figures;
};

/// One time with its interval, or the single times of a schedule.
struct Timed {
  std::string label;
  std::optional<std::string> detail;  ///< what the label leaves out: the plan in words
  Value median, low, high, trials, confidence;
  std::vector<Value> times;
  bool marked = false;
  bool aside = false;                     ///< a yardstick among the rows: computation alone
  std::optional<std::string> provenance;  ///< where it is told apart from the document's
};

struct Reference {
  std::string label;
  Value value;
};

/// Times of alternatives on one scale.
struct Times {
  std::string title;
  std::string unit;
  std::vector<Timed> rows;
  std::vector<Reference> references;
  std::string marked_as;  ///< what the mark says: "least median"
};

/// A value for each pair of two settings; null where there is none.
struct Grid {
  std::string title;
  std::string unit;
  std::string x_name, y_name;
  std::vector<Value> x, y;
  std::vector<std::vector<Value>> cells;  ///< of y, then of x
};

struct Tried {
  std::string label;
  std::string how;                     ///< why it was tried
  std::optional<std::string> dropped;  ///< why no more; absent: it was not
  Value predicted, median, low, high, trials;
  bool chosen = false;
};

/// What a search tried, in its order.
struct Search {
  std::string title;
  std::string unit;
  std::vector<Tried> tried;
  std::vector<Reference> references;
};

/// What is drawn as one: a span as the trace has it, or several that are too short for their level's resolution.
struct Block {
  double begin_us = 0;
  double length_us = 0;
  double busy_us = 0;        ///< sum of the spans' lengths
  std::uint32_t name = 0;    ///< of the longest span, an index into Timelines::names
  std::uint32_t launch = 0;  ///< the same of Timelines::launches
  std::uint32_t spans = 1;
};

struct Level {
  double resolution_us = 0;  ///< shorter spans may be drawn as one; 0: every span is itself
  std::vector<Block> blocks;
};

enum class LaneKind { compute, communication, copy, other };

struct Lane {
  LaneKind kind = LaneKind::other;
  std::string label;  ///< of the stream
  std::size_t spans = 0;
  std::vector<Level> levels;  ///< the coarsest first
};

/// One schedule on one device: compute above communication.
struct Track {
  std::string label;   ///< "shaped_priority 3/SM"
  std::string device;  ///< "GPU 0"
  std::vector<Lane> lanes;
};

/// Tracks on one scale of time.
struct Timelines {
  std::string title;
  std::vector<std::string> names;
  std::vector<std::string> launches;  ///< what is known of a launch, in words; the first is empty
  std::vector<Track> tracks;
};

using View = std::variant<Timelines, Times, Grid, Search, Table, Figures>;

/// One case, one process.
struct Section {
  std::string title;
  std::optional<std::string> line;  ///< more of it: the scenario in one line
  std::vector<View> views;
};

struct Document {
  std::string file;
  std::string schema;
  std::string provenance;  ///< "measured", "simulated", or what else the document says of its figures
  std::vector<Fact> facts;
  std::vector<Section> sections;
};

struct Page {
  std::string version;               ///< of the program that made it
  std::vector<std::string> command;  ///< that made it
  std::vector<Document> documents;
};

}  // namespace elbowroom::page
