#include "explain/collectives.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/number_of.hpp"
#include "explain/communication.hpp"
#include "explain/host_calls.hpp"

namespace elbowroom::explain {
namespace {

/// Copies of one collective follow each other this closely: each is a call of the driver's, or a part of one.
constexpr Time kBetweenCopies = 20'000;

void add_note(const Trace& trace, const CollectiveNote& note, Collective& collective) {
  const Texts& texts = trace.texts;
  if (const auto op = collective_in(texts.text(note.op))) { collective.op = *op; }
  const std::optional<std::int64_t> element = element_bytes(texts.text(note.dtype));
  // A gather is as large as what comes out, and so is what a reduce-scatter takes: the greater of both.
  const std::int64_t elements = std::max(note.in_elements.value_or(0), note.out_elements.value_or(0));
  if (element && elements > 0 && elements < std::int64_t{1} << 50) { collective.bytes = *element * elements; }
  collective.group_size = note.group_size;
  collective.group = texts.text(note.group) + texts.text(note.ranks);
  collective.sequence = note.sequence;
  collective.imbalance = imbalance_of(texts.text(note.in_split));
}

Collective collective_of(const Trace& trace, const HostCalls& calls, std::size_t row) {
  const Rows& rows = trace.rows;
  Collective collective;
  collective.row = row;
  collective.time = {rows.begin[row], rows.end[row]};
  collective.launched = trace.launched(row);
  collective.stream = rows.stream[row];
  if (rows.kind[row] != RowKind::kernel) {
    collective.op = "copies";
    if (rows.bytes[row] > 0) { collective.bytes = rows.bytes[row]; }
  } else {
    collective.op = collective_in(trace.texts.text(rows.name[row])).value_or("collective");
  }
  if (rows.note[row] != kNone) { add_note(trace, trace.notes[rows.note[row]], collective); }
  // Point-to-point kernels carry all-to-alls; what the program called says so.
  if (const std::size_t call = calls.around(row); call != calls.size()) {
    const auto op = collective_in(trace.texts.text(calls[call].name));
    const bool says_more = collective.op == "collective" || collective.op == "send_recv" || collective.op == "copies";
    if (op && says_more) { collective.op = *op; }
    if (!collective.bytes) { collective.bytes = calls[call].bytes; }
  }
  return collective;
}

/// Whether a copy between devices goes on with the copies before it.
bool continues(const Rows& rows, const Collective& before, const Collective& copy) {
  return rows.kind[before.row] != RowKind::kernel && rows.kind[copy.row] != RowKind::kernel && before.op == copy.op &&
         copy.time.begin - before.time.end <= kBetweenCopies;
}

}  // namespace

std::optional<double> imbalance_of(std::string_view split) {
  if (split.find("...") != std::string_view::npos) { return std::nullopt; }
  double sum = 0;
  double most = 0;
  double least = 0;
  int count = 0;
  for (std::size_t at = 0; at < split.size();) {
    const std::size_t begin = split.find_first_of("0123456789", at);
    if (begin == std::string_view::npos) { break; }
    at = std::min(split.find_first_not_of("0123456789", begin), split.size());
    const auto number = static_cast<double>(detail::number_of<std::int64_t>(split.substr(begin, at - begin)).value_or(0));
    sum += number;
    most = std::max(most, number);
    least = count == 0 ? number : std::min(least, number);
    ++count;
  }
  if (count < 2 || most == least) { return std::nullopt; }
  return most * count / sum;
}

std::vector<Collective> find_collectives(const Trace& trace) {
  const HostCalls calls(trace);
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < trace.rows.size(); ++row) {
    if (trace.rows.work[row] == Work::communication) { rows.push_back(row); }
  }
  std::vector<Collective> result;
  for (const std::size_t row : rows) {
    Collective next = collective_of(trace, calls, row);
    if (!result.empty() && continues(trace.rows, result.back(), next)) {
      Collective& whole = result.back();
      ++whole.rows;
      whole.time.end = std::max(whole.time.end, next.time.end);
      if (next.bytes) { whole.bytes = whole.bytes.value_or(0) + *next.bytes; }
    } else {
      result.push_back(std::move(next));
    }
  }
  return result;
}

}  // namespace elbowroom::explain
