#include "page/readers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "elbowroom/report/chrome_trace.hpp"
#include "elbowroom/report/result_document.hpp"
#include "elbowroom/report/run_report.hpp"
#include "model/document_schema.hpp"
#include "model/json_fields.hpp"
#include "report/schemas.hpp"

namespace elbowroom::page {
namespace {

constexpr std::array kReaders{
    Reader{kResultSchema, "result", read_result}, Reader{kTuneSchema, "tune", read_tune},
    Reader{kRunSchema, "run", read_run},          Reader{kValidationSchema, "validation", read_validation},
    Reader{kTraceSchema, "trace", read_trace},    Reader{kExplainSchema, "explain", read_explain},
    Reader{kSweepSchema, "sweep", read_sweep},    Reader{kTransferSchema, "transfer", read_transfer},
};

std::string known_schemas() {
  std::string names;
  for (const Reader& reader : kReaders) { names += fmt::format("{}{}", names.empty() ? "" : ", ", reader.schema); }
  return names;
}

/// Traces that were written before the member `schema` say by this where they come from.
bool is_trace_of_old(std::string_view text) {
  return text.find("\"traceEvents\"") != std::string_view::npos && text.find("\"otherData\"") != std::string_view::npos;
}

}  // namespace

std::span<const Reader> readers() { return kReaders; }

Result<Document> read_document(std::string_view text, const std::string& source) {
  const std::string schema = detail::schema_of(text);
  const auto reader = std::ranges::find(kReaders, schema, &Reader::schema);
  if (reader != kReaders.end()) { return reader->read(text, source); }
  if (!schema.empty()) {
    return invalid_input(
        fmt::format("{}: schema: {}, expected one of {}", source, detail::shown(nlohmann::json(schema)), known_schemas()));
  }
  if (is_trace_of_old(text)) { return read_trace(text, source); }
  return invalid_input(
      fmt::format("{}: {}, expected one of {}", source, text.empty() ? "empty" : "no document with a schema", known_schemas()));
}

}  // namespace elbowroom::page
