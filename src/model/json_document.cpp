#include "model/json_document.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "model/json_fields.hpp"

namespace elbowroom::detail {
namespace {

// A scenario needs 3. Printing a value recurses, so an unbounded depth would be an unbounded stack.
constexpr std::size_t kGreatestDepth = 16;

/// Walks the text without building it and keeps the first thing that is wrong: what a built document no longer shows.
class DocumentCheck : public nlohmann::json::json_sax_t {
 public:
  explicit DocumentCheck(std::string_view expected) : expected_(expected) {}

  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(number_integer_t /*value*/) override { return true; }
  bool number_unsigned(number_unsigned_t /*value*/) override { return true; }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return true; }
  bool string(string_t& /*value*/) override { return true; }
  bool binary(binary_t& /*value*/) override { return true; }

  bool start_object(std::size_t /*size*/) override { return descend(); }
  bool start_array(std::size_t /*size*/) override { return descend(); }
  bool end_object() override { return ascend(); }
  bool end_array() override { return ascend(); }

  bool key(string_t& name) override {
    Level& level = levels_.back();
    level.name = name;
    if (level.names.insert(name).second) { return true; }
    fault_ = fmt::format("{}: given twice, expected once", path());
    return false;
  }

  bool parse_error(std::size_t position, const std::string& /*token*/, const nlohmann::json::exception& /*error*/) override {
    fault_ = fmt::format("not valid JSON at byte {}, expected {}", position, expected_);
    return false;
  }

  /// Value and expectation for a message; empty after a text that is well formed.
  [[nodiscard]] const std::string& fault() const { return fault_; }

 private:
  struct Level {
    std::set<std::string> names;
    std::string name;  ///< of the field that is being read; empty in an array
  };

  bool descend() {
    if (levels_.size() == kGreatestDepth) {
      fault_ = fmt::format("nested deeper than {} levels, expected {}", kGreatestDepth, expected_);
      return false;
    }
    levels_.emplace_back();
    return true;
  }

  bool ascend() {
    levels_.pop_back();
    return true;
  }

  /// The current field as other messages name it: `compute.m`.
  [[nodiscard]] std::string path() const {
    std::string names;
    for (const Level& level : levels_) {
      if (!level.name.empty()) { names += (names.empty() ? "" : ".") + level.name; }
    }
    const std::string quoted = shown(nlohmann::json(names));
    return quoted.size() == names.size() + 2 ? names : quoted;
  }

  std::string_view expected_;
  std::vector<Level> levels_;
  std::string fault_;
};

}  // namespace

Result<nlohmann::json> read_json_object(std::string_view text, const std::string& source, std::string_view expected) {
  // The parser would take a zero byte for the end and leave the rest unread.
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos) {
    return invalid_input(fmt::format("{}: not valid JSON at byte {}, expected {}", source, zero + 1, expected));
  }
  DocumentCheck check(expected);
  if (!nlohmann::json::sax_parse(text, &check)) { return invalid_input(fmt::format("{}: {}", source, check.fault())); }
  nlohmann::json document = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) { return invalid_input(fmt::format("{}: not a JSON object, expected {}", source, expected)); }
  return document;
}

}  // namespace elbowroom::detail
