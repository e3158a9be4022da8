#include "experiment/measured_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/number_of.hpp"

namespace elbowroom::detail {
namespace {

constexpr std::array<std::string_view, 11> kColumns{"gpus",     "global_batch", "micro_batch", "hidden", "heads",       "layers",
                                                    "sequence", "tp",           "dp",          "pp",     "iteration_ms"};
enum class Column : std::size_t { gpus, global_batch, micro_batch, hidden, heads, layers, sequence, tp, dp, pp, iteration_ms };

constexpr auto kTime = static_cast<std::size_t>(Column::iteration_ms);

// What its configuration says: words and what their number is padded to.
constexpr std::int64_t kVocabulary = 50'257;
constexpr std::int64_t kVocabularyGranule = 128;
// Its host takes so long for an operation of a forward pass. Fitted (docs/results/scale.md).
constexpr Microseconds kHostLaunch{104};
// It waits for what a stage sends or gets before it goes on. Fitted as well.
constexpr Microseconds kHostSend{570};

std::vector<std::string_view> fields_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    std::string_view part = text.substr(begin, end - begin);
    if (part.ends_with('\r')) { part.remove_suffix(1); }
    parts.push_back(part);
    begin = end + 1;
  }
  return parts;
}

/// One row, in the order of kColumns.
struct Numbers {
  std::array<double, kColumns.size()> values{};
  [[nodiscard]] double of(Column column) const { return values[static_cast<std::size_t>(column)]; }
  [[nodiscard]] int whole(Column column) const { return static_cast<int>(of(column)); }
};

Result<std::array<std::size_t, kColumns.size()>> columns_of(const std::vector<std::string_view>& header, std::string_view source) {
  std::array<std::size_t, kColumns.size()> columns{};
  for (std::size_t at = 0; at < kColumns.size(); ++at) {
    columns[at] = header.size();
    for (std::size_t place = 0; place < header.size(); ++place) {
      if (header[place] == kColumns[at]) { columns[at] = place; }
    }
    if (columns[at] == header.size()) {
      return invalid_input(fmt::format("{}:1: no column '{}', expected it in the header", source, kColumns[at]));
    }
  }
  return columns;
}

/// Whole numbers up to a million, but for the time.
std::optional<double> number_at(std::size_t column, std::string_view text) {
  constexpr double most = 1e6;
  if (column != kTime) {
    const std::optional<int> whole = detail::number_of<int>(text);
    return whole && *whole >= 1 && *whole <= most ? std::optional<double>(*whole) : std::nullopt;
  }
  const std::optional<double> time = detail::number_of<double>(text);
  return time && std::isfinite(*time) && *time > 0 ? time : std::nullopt;
}

TransformerStep request_of(const Numbers& numbers) {
  TransformerStep request;
  Decoder& decoder = request.decoder;
  decoder.name = "megatron-gpt";
  decoder.layers = numbers.whole(Column::layers);
  decoder.hidden = numbers.whole(Column::hidden);
  decoder.ffn = 4 * decoder.hidden;
  decoder.heads = decoder.kv_heads = numbers.whole(Column::heads);
  const std::int64_t granule = kVocabularyGranule * numbers.whole(Column::tp);
  decoder.vocabulary = (kVocabulary + granule - 1) / granule * granule;
  decoder.tied = true;
  request.parallel.tp = numbers.whole(Column::tp);
  request.parallel.dp = numbers.whole(Column::dp);
  request.parallel.pp = numbers.whole(Column::pp);
  request.parallel.micro =
      std::max(numbers.whole(Column::global_batch) / (numbers.whole(Column::micro_batch) * numbers.whole(Column::dp)), 1);
  request.sequence = numbers.whole(Column::sequence);
  request.tokens = *request.sequence * numbers.whole(Column::micro_batch) * request.parallel.micro;
  request.kernels = Kernels::eager;
  request.recompute = Recompute::full;
  request.host_launch = kHostLaunch;
  request.host_send = kHostSend;
  return request;
}

std::string refusal_of(const Numbers& numbers) {
  if (numbers.of(Column::tp) * numbers.of(Column::dp) * numbers.of(Column::pp) != numbers.of(Column::gpus)) {
    return fmt::format("tp x dp x pp: {}, expected gpus {}",
                       numbers.of(Column::tp) * numbers.of(Column::dp) * numbers.of(Column::pp), numbers.of(Column::gpus));
  }
  if (std::fmod(numbers.of(Column::global_batch), numbers.of(Column::micro_batch) * numbers.of(Column::dp)) != 0) {
    return fmt::format("global_batch: {}, expected a multiple of micro_batch x dp", numbers.of(Column::global_batch));
  }
  return "";
}

}  // namespace

Result<std::vector<MeasuredStep>> parse_measured_steps(std::string_view csv, std::string_view source) {
  const std::vector<std::string_view> lines = fields_of(csv, '\n');
  const std::vector<std::string_view> header = fields_of(lines.front(), ',');
  const auto columns = columns_of(header, source);
  if (!columns) { return columns.error(); }
  std::vector<MeasuredStep> rows;
  for (std::size_t at = 1; at < lines.size(); ++at) {
    if (lines[at].empty()) { continue; }
    const std::vector<std::string_view> values = fields_of(lines[at], ',');
    if (values.size() != header.size()) {
      return invalid_input(
          fmt::format("{}:{}: {} fields, expected {} as in the header", source, at + 1, values.size(), header.size()));
    }
    Numbers numbers{};
    for (std::size_t column = 0; column < kColumns.size(); ++column) {
      const std::string_view text = values[(*columns)[column]];
      const std::optional<double> number = number_at(column, text);
      if (!number) {
        return invalid_input(fmt::format("{}:{}: {}: '{}', expected {}", source, at + 1, kColumns[column], text,
                                         column == kTime ? "milliseconds" : "a whole number from 1 to 1000000"));
      }
      numbers.values[column] = *number;
    }
    rows.push_back({static_cast<int>(at + 1), numbers.whole(Column::gpus), request_of(numbers),
                    std::chrono::duration<double, std::milli>(numbers.of(Column::iteration_ms)), refusal_of(numbers)});
  }
  if (rows.empty()) { return invalid_input(fmt::format("{}: no rows below the header, expected at least one", source)); }
  return rows;
}

}  // namespace elbowroom::detail
