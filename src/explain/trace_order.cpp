#include "explain/trace_order.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "explain/communication.hpp"
#include "explain/host_calls.hpp"

namespace elbowroom::explain {
namespace {

template <class Value>
void permute(std::vector<Value>& values, const std::vector<std::uint32_t>& order) {
  std::vector<Value> result;
  result.reserve(order.size());
  for (const std::uint32_t index : order) { result.push_back(values[index]); }
  values = std::move(result);
}

/// The rows of `order`, in that order.
void take(Rows& rows, const std::vector<std::uint32_t>& order) {
  permute(rows.begin, order);
  permute(rows.end, order);
  permute(rows.name, order);
  permute(rows.stream, order);
  permute(rows.kind, order);
  permute(rows.work, order);
  permute(rows.correlation, order);
  permute(rows.launch, order);
  permute(rows.shape, order);
  permute(rows.note, order);
  permute(rows.bytes, order);
}

std::vector<std::uint32_t> identity(std::size_t size) {
  std::vector<std::uint32_t> order(size);
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

void sort_rows(Trace& trace) {
  const Rows& rows = trace.rows;
  std::vector<std::uint32_t> order = identity(rows.size());
  // Correlations count up with the launches: no name of a stream or a kernel decides.
  const auto key = [&](std::uint32_t row) {
    return std::tuple(rows.begin[row], rows.end[row], rows.correlation[row], rows.kind[row], rows.bytes[row]);
  };
  const auto earlier = [&](std::uint32_t a, std::uint32_t b) {
    if (rows.begin[a] != rows.begin[b]) { return rows.begin[a] < rows.begin[b]; }
    if (key(a) != key(b)) { return key(a) < key(b); }
    return trace.texts.text(rows.name[a]) < trace.texts.text(rows.name[b]);
  };
  std::sort(order.begin(), order.end(), earlier);
  take(trace.rows, order);
}

void link_launches(Trace& trace) {
  const Launches& launches = trace.launches;
  std::vector<std::uint32_t> order = identity(launches.size());
  const auto key = [&](std::uint32_t launch) { return std::pair(launches.correlation[launch], launches.begin[launch]); };
  const auto earlier = [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); };
  if (!std::is_sorted(order.begin(), order.end(), earlier)) { std::sort(order.begin(), order.end(), earlier); }
  for (std::size_t row = 0; row < trace.rows.size(); ++row) {
    const std::uint64_t correlation = trace.rows.correlation[row];
    if (correlation == 0) { continue; }
    const auto found = std::lower_bound(order.begin(), order.end(), correlation, [&](std::uint32_t launch, std::uint64_t wanted) {
      return launches.correlation[launch] < wanted;
    });
    const bool launched = found != order.end() && launches.correlation[*found] == correlation;
    // A launch behind its row is another's: correlations begin anew where traces were put together.
    if (launched && launches.begin[*found] <= trace.rows.begin[row]) { trace.rows.launch[row] = *found; }
  }
}

void say_what_rows_are(Trace& trace) {
  std::vector<bool> known(trace.texts.size(), false);
  std::vector<bool> communicates(trace.texts.size(), false);
  Rows& rows = trace.rows;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const TextId name = rows.name[row];
    if (!known[name]) {
      known[name] = true;
      communicates[name] = is_communication_kernel(trace.texts.text(name));
    }
    const bool kernel = rows.kind[row] == RowKind::kernel;
    const bool communication = rows.kind[row] == RowKind::peer_copy || (kernel && (communicates[name] || rows.note[row] != kNone));
    rows.work[row] = communication ? Work::communication : kernel ? Work::compute : Work::copy;
  }
}

/// A call of a collective that launched copies within the device and no kernel that communicates: copy engines carried it, and its
/// peers' memory is mapped into this device's.
void find_copied_collectives(Trace& trace) {
  constexpr std::int64_t kLeastBytes = 64 << 10;  // smaller copies prepare a call
  const HostCalls calls(trace);
  if (calls.size() == 0) { return; }
  Rows& rows = trace.rows;
  std::vector<bool> has_kernel(calls.size() + 1, false);
  std::vector<std::pair<std::size_t, std::size_t>> copies;  // row, call
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const bool copy = rows.kind[row] == RowKind::copy && rows.bytes[row] >= kLeastBytes &&
                      trace.texts.text(rows.name[row]).find("DtoD") != std::string::npos;
    if (!copy && rows.work[row] != Work::communication) { continue; }
    const std::size_t call = calls.around(row);
    if (copy) {
      copies.emplace_back(row, call);
    } else {
      has_kernel[call] = true;
    }
  }
  for (const auto& [row, call] : copies) {
    if (call != calls.size() && !has_kernel[call]) { rows.work[row] = Work::communication; }
  }
}

}  // namespace

void put_in_order(Trace& trace) {
  sort_rows(trace);
  link_launches(trace);
  std::sort(trace.annotations.begin(), trace.annotations.end(), [](const Annotation& a, const Annotation& b) {
    return std::pair(a.begin, b.end) < std::pair(b.begin, a.end);  // what holds another one stands before it
  });
  std::stable_sort(trace.waits.begin(), trace.waits.end(), [](const StreamWait& a, const StreamWait& b) { return a.at < b.at; });
  std::stable_sort(trace.clocks.begin(), trace.clocks.end(), [](const SmClock& a, const SmClock& b) { return a.at < b.at; });
  say_what_rows_are(trace);
  find_copied_collectives(trace);
}

void append(Trace& trace, const Trace& part) {
  const auto id = [&](TextId text) { return trace.texts.id_of(part.texts.text(text)); };
  std::vector<std::uint32_t> streams;
  for (const Stream& stream : part.streams) {
    const Stream own{id(stream.device), id(stream.number)};
    const auto found = std::find(trace.streams.begin(), trace.streams.end(), own);
    streams.push_back(static_cast<std::uint32_t>(found - trace.streams.begin()));
    if (found == trace.streams.end()) { trace.streams.push_back(own); }
  }
  const auto shapes = static_cast<std::uint32_t>(trace.shapes.size());
  for (const Shape& shape : part.shapes) { trace.shapes.push_back(shape); }
  const auto notes = static_cast<std::uint32_t>(trace.notes.size());
  for (CollectiveNote note : part.notes) {
    for (TextId* text : {&note.op, &note.dtype, &note.group, &note.ranks, &note.in_split}) { *text = id(*text); }
    trace.notes.push_back(note);
  }
  Rows& rows = trace.rows;
  for (std::size_t row = 0; row < part.rows.size(); ++row) {
    rows.begin.push_back(part.rows.begin[row]);
    rows.end.push_back(part.rows.end[row]);
    rows.name.push_back(id(part.rows.name[row]));
    rows.stream.push_back(streams[part.rows.stream[row]]);
    rows.kind.push_back(part.rows.kind[row]);
    rows.work.push_back(Work::compute);
    rows.correlation.push_back(part.rows.correlation[row]);
    rows.launch.push_back(kNone);
    rows.shape.push_back(part.rows.shape[row] == kNone ? kNone : part.rows.shape[row] + shapes);
    rows.note.push_back(part.rows.note[row] == kNone ? kNone : part.rows.note[row] + notes);
    rows.bytes.push_back(part.rows.bytes[row]);
  }
  Launches& launches = trace.launches;
  for (std::size_t launch = 0; launch < part.launches.size(); ++launch) {
    launches.correlation.push_back(part.launches.correlation[launch]);
    launches.begin.push_back(part.launches.begin[launch]);
    launches.end.push_back(part.launches.end[launch]);
    launches.name.push_back(id(part.launches.name[launch]));
    launches.thread.push_back(id(part.launches.thread[launch]));
  }
  for (Annotation annotation : part.annotations) {
    annotation.name = id(annotation.name);
    annotation.thread = id(annotation.thread);
    trace.annotations.push_back(annotation);
  }
  for (const StreamWait& wait : part.waits) { trace.waits.push_back({wait.at, id(wait.stream), id(wait.on), wait.correlation}); }
  for (const SmClock& clock : part.clocks) { trace.clocks.push_back({clock.at, id(clock.device), clock.below_most}); }
  trace.lost.insert(trace.lost.end(), part.lost.begin(), part.lost.end());
  put_in_order(trace);
}

std::vector<Trace> per_device(Trace trace) {
  std::set<std::string> ids;
  std::vector<std::string> device_of;
  device_of.reserve(trace.streams.size());
  for (const Stream& stream : trace.streams) { device_of.push_back(trace.texts.text(stream.device)); }
  for (const std::uint32_t stream : trace.rows.stream) { ids.insert(device_of[stream]); }
  std::vector<Trace> result;
  if (ids.size() <= 1) {
    result.push_back(std::move(trace));
    return result;
  }
  for (const std::string& id : ids) {
    std::vector<std::uint32_t> rows;
    for (std::size_t row = 0; row < trace.rows.size(); ++row) {
      if (device_of[trace.rows.stream[row]] == id) { rows.push_back(static_cast<std::uint32_t>(row)); }
    }
    Trace one = trace;
    take(one.rows, rows);
    one.file += " GPU " + id;
    one.rank.reset();
    if (!result.empty()) { one.lost.clear(); }
    result.push_back(std::move(one));
  }
  return result;
}

}  // namespace elbowroom::explain
