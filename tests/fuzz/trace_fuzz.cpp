#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "explain/document.hpp"
#include "explain/trace_reader.hpp"
#include "fuzz/stop.hpp"

// read_trace never throws or crashes, its errors are one line that begins with the file, and what it accepts is explained: in a
// document of JSON whose parts add up, and in words.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace explain = elbowroom::explain;
  const std::string text(reinterpret_cast<const char*>(data), size);
  explain::TextSource source(text);
  elbowroom::Result<explain::Trace> trace = explain::read_trace(source, "fuzz");
  if (!trace) {
    elbowroom::check_line(trace.error());
    if (!trace.error().message.starts_with("fuzz: ")) {
      elbowroom::stop("the error does not name the file", trace.error().message);
    }
    return 0;
  }
  std::vector<explain::Trace> traces;
  traces.push_back(*std::move(trace));
  const explain::Explanation explanation = explain::explain(std::move(traces));
  const nlohmann::json document = nlohmann::json::parse(explain::to_json(explanation), nullptr, false);
  if (document.is_discarded()) { elbowroom::stop("the document is no JSON", text); }
  const double step = explanation.parts.step;
  if (!(std::abs(explanation.parts.rest()) <= 1e-6 * step + 1e-3)) { elbowroom::stop("the parts do not add up", text); }
  if (explain::in_words(explanation).empty()) { elbowroom::stop("no words", text); }
  return 0;
}
