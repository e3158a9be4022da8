#include "model/document_schema.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "model/json_fields.hpp"

namespace elbowroom::detail {
namespace {

/// Stops at the member "schema" of the outermost object.
class SchemaSearch : public nlohmann::json::json_sax_t {
 public:
  bool null() override { return more(); }
  bool boolean(bool /*value*/) override { return more(); }
  bool number_integer(number_integer_t /*value*/) override { return more(); }
  bool number_unsigned(number_unsigned_t /*value*/) override { return more(); }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return more(); }
  bool string(string_t& value) override {
    if (is_next_) { found_ = value; }
    return more();
  }
  bool binary(binary_t& /*value*/) override { return more(); }
  bool start_object(std::size_t /*size*/) override {
    ++depth_;
    return more();
  }
  bool end_object() override { return --depth_ > 0; }
  bool start_array(std::size_t /*size*/) override { return depth_ > 0 && start_object(0); }
  bool end_array() override { return end_object(); }
  bool key(string_t& name) override {
    is_next_ = depth_ == 1 && name == "schema";
    return true;
  }
  bool parse_error(std::size_t /*at*/, const std::string& /*token*/, const nlohmann::json::exception& /*error*/) override {
    return false;
  }

  [[nodiscard]] const std::string& found() const { return found_; }

 private:
  [[nodiscard]] bool more() const { return !is_next_ && depth_ > 0; }

  int depth_ = 0;
  bool is_next_ = false;
  std::string found_;
};

std::string_view first_line_comment(std::string_view text) {
  constexpr std::string_view begin = "<!-- ";
  constexpr std::string_view end = " -->";
  const std::string_view line = text.substr(0, text.find('\n'));
  if (!line.starts_with(begin) || line.find(end) == std::string_view::npos) { return {}; }
  return line.substr(begin.size(), line.find(end) - begin.size());
}

}  // namespace

std::string schema_of(std::string_view text) {
  if (const std::string_view comment = first_line_comment(text); !comment.empty()) { return std::string(comment); }
  SchemaSearch search;
  static_cast<void>(nlohmann::json::sax_parse(text, &search));
  return search.found();
}

Status refuse_other_document(std::string_view text, std::string_view schema, const std::string& source) {
  if (text.empty()) { return {}; }
  const std::string found = schema_of(text);
  if (found == schema) { return {}; }
  if (found.empty()) {
    return invalid_input(fmt::format("{}: not an {} document, expected one, an empty file or a new name", source, schema));
  }
  return invalid_input(fmt::format("{}: schema: {}, expected \"{}\"", source, shown(nlohmann::json(found)), schema));
}

}  // namespace elbowroom::detail
