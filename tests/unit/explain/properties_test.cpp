#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "explain/document.hpp"
#include "unit/explain/trace_text.hpp"

namespace elbowroom::explain {
namespace {

using test::TraceText;

/// What does not depend on names of streams and files.
nlohmann::json figures(std::vector<Trace> traces) {
  nlohmann::json document = nlohmann::json::parse(to_json(explain(std::move(traces))));
  for (nlohmann::json& cause : document["causes"]) { cause.erase("evidence"); }
  for (nlohmann::json& rank : document["ranks"]) { rank.erase("file"); }
  return document;
}

std::vector<Trace> traces_of(const std::vector<std::string>& texts) {
  std::vector<Trace> traces;
  for (const std::string& text : texts) { traces.push_back(TraceText::read(text)); }
  return traces;
}

struct Drawn {
  std::int64_t begin, length, launch, what;
};

/// A rank whose rows lie anyhow, on the two streams of the names given.
TraceText drawn(const std::vector<Drawn>& rows, int compute_stream, int comm_stream) {
  TraceText text;
  text.rank(0, 1).kernel("gemm_0", compute_stream, 0, 3, 0);
  for (const Drawn& row : rows) {
    const std::int64_t begin = row.launch + row.begin;
    if (row.what == 0) {
      text.kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", comm_stream, begin, begin + row.length, row.launch);
    } else if (row.what == 1) {
      text.copy("Memcpy PtoP (Device -> Device)", comm_stream, begin, begin + row.length, 1024, row.launch);
    } else {
      text.kernel("gemm_" + std::to_string(row.what), compute_stream, begin, begin + row.length, row.launch);
    }
  }
  return text;
}

std::vector<Drawn> rows() {
  return *rc::gen::container<std::vector<Drawn>>(
      rc::gen::apply([](std::int64_t begin, std::int64_t length, std::int64_t launch,
                        std::int64_t what) { return Drawn{begin, length, launch, what}; },
                     rc::gen::inRange<std::int64_t>(0, 40), rc::gen::inRange<std::int64_t>(0, 60),
                     rc::gen::inRange<std::int64_t>(0, 400), rc::gen::inRange<std::int64_t>(0, 6)));
}

/// Gives a text in pieces of drawn sizes.
class InPieces final : public ByteSource {
 public:
  InPieces(std::string text, std::uint64_t seed) : text_(std::move(text)), draw_(seed) {}
  Result<std::size_t> read(std::span<char> into) override {
    const std::size_t most = std::min<std::size_t>({into.size(), text_.size() - at_, 1 + draw_() % 50});
    std::copy_n(text_.begin() + static_cast<std::ptrdiff_t>(at_), most, into.begin());
    at_ += most;
    return most;
  }

 private:
  std::string text_;
  std::size_t at_ = 0;
  std::mt19937_64 draw_;
};

RC_GTEST_PROP(Explanation, DoesNotDependOnTheOrderOfRows, ()) {
  const TraceText text = drawn(rows(), 7, 20);
  std::vector<std::string> shuffled = text.events();
  std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937_64(*rc::gen::arbitrary<std::uint64_t>()));
  RC_ASSERT(figures(traces_of({text.text()})) == figures(traces_of({text.text_of(shuffled)})));
}

RC_GTEST_PROP(Explanation, DoesNotDependOnNamesOfStreams, ()) {
  const std::vector<Drawn> what = rows();
  RC_ASSERT(figures(traces_of({drawn(what, 7, 20).text()})) == figures(traces_of({drawn(what, 913, 4).text()})));
}

RC_GTEST_PROP(Explanation, DoesNotDependOnHowTheTextIsCut, ()) {
  const std::string text = drawn(rows(), 7, 20).text();
  InPieces source(text, *rc::gen::arbitrary<std::uint64_t>());
  std::vector<Trace> pieces;
  pieces.push_back(read_trace(source, "t.json").value());
  RC_ASSERT(figures(traces_of({text})) == figures(std::move(pieces)));
}

RC_GTEST_PROP(Explanation, DoesNotDependOnHowManyFilesARankHas, ()) {
  const TraceText text = drawn(rows(), 7, 20);
  // The first kernel and its launch go to both sides' first file: a file without a kernel is no trace.
  const auto cut = *rc::gen::inRange<std::size_t>(2, text.events().size() + 1);
  const std::vector<std::string> first(text.events().begin(), text.events().begin() + static_cast<std::ptrdiff_t>(cut));
  const std::vector<std::string> second(text.events().begin() + static_cast<std::ptrdiff_t>(cut), text.events().end());
  const bool has_rows = std::any_of(second.begin(), second.end(), [](const std::string& event) {
    return event.find("\"kernel\"") != std::string::npos || event.find("gpu_memcpy") != std::string::npos;
  });
  RC_PRE(has_rows);
  RC_ASSERT(figures(traces_of({text.text()})) == figures(traces_of({text.text_of(first), text.text_of(second)})));
}

RC_GTEST_PROP(Explanation, AccountsForTheWholeStep, ()) {
  const nlohmann::json document = figures(traces_of({drawn(rows(), 7, 20).text()}));
  const double step = document["step_us"]["mean"];
  RC_ASSERT(std::abs(document["rest_us"].get<double>()) <= 1e-6 * step + 1e-9);
  double exposures = 0;
  for (const auto& exposure : document["exposures"]) { exposures += exposure["us"].get<double>(); }
  RC_ASSERT(std::abs(exposures - document["exposed_us"].get<double>()) <= 1e-6 * step + 1e-9);
  RC_ASSERT(document["blocking_us"].get<double>() <= document["exposed_us"].get<double>() + 1e-9);
}

}  // namespace
}  // namespace elbowroom::explain
