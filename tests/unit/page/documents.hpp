#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "page/readers.hpp"

namespace elbowroom::page {

/// The text of a file below the tests of this project.
inline std::string file_text(const std::string& name) {
  std::ifstream file(std::string(ELBOWROOM_SOURCE_DIR) + "/tests/" + name, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::string result_text() { return file_text("unit/report/golden/result.json"); }
inline std::string trace_text() { return file_text("unit/report/golden/trace.json"); }
inline std::string tune_text() { return file_text("unit/page/documents/tune.json"); }
inline std::string run_text() { return file_text("unit/page/documents/run.json"); }
inline std::string validation_text() { return file_text("unit/page/documents/validation.json"); }
inline std::string explain_text() { return file_text("unit/page/documents/explain.json"); }

/// The document that a text holds; a failure of the test where it holds none.
inline Document read(const std::string& text) {
  Result<Document> document = read_document(text, "file");
  EXPECT_TRUE(document.ok()) << document.error().message;
  return document ? *std::move(document) : Document();
}

inline std::string refusal_of(const std::string& text) {
  const Result<Document> document = read_document(text, "file");
  return document ? "" : document.error().message;
}

template <class View>
const View* view_of(const Section& section) {
  for (const auto& view : section.views) {
    if (const auto* found = std::get_if<View>(&view)) { return found; }
  }
  return nullptr;
}

inline const Table* table_of(const Section& section, const std::string& title) {
  for (const auto& view : section.views) {
    const auto* table = std::get_if<Table>(&view);
    if (table != nullptr && table->title == title) { return table; }
  }
  return nullptr;
}

}  // namespace elbowroom::page
