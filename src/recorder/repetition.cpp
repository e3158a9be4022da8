#include "recorder/repetition.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace elbowroom::recorder {
namespace {

using StreamKey = std::pair<std::uint32_t, std::uint32_t>;  // context, stream

/// Kernels of the stream that has most, in the order of their begin.
std::vector<const Kernel*> main_stream(const std::vector<Kernel>& kernels) {
  std::map<StreamKey, std::vector<const Kernel*>> streams;
  for (const Kernel& kernel : kernels) { streams[{kernel.context, kernel.stream}].push_back(&kernel); }
  const auto most = std::max_element(streams.begin(), streams.end(),
                                     [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  if (most == streams.end()) { return {}; }
  std::vector<const Kernel*> result = std::move(most->second);
  std::sort(result.begin(), result.end(), [](const Kernel* a, const Kernel* b) { return a->begin < b->begin; });
  return result;
}

std::uint64_t key_of(const Kernel& kernel) {
  std::uint64_t key = kernel.name;
  for (const std::int32_t extent : kernel.grid) { key = key * 0x100000001B3U ^ static_cast<std::uint32_t>(extent); }
  return key;
}

}  // namespace

PeriodicEnd periodic_end(const std::vector<std::uint64_t>& keys) {
  // Of the reversed keys: border[i] is the length of the longest proper border of the first i + 1, and i + 1 - border[i] the
  // shortest period of these (Knuth, Morris, Pratt).
  const std::size_t size = keys.size();
  const auto at = [&](std::size_t i) { return keys[size - 1 - i]; };
  std::vector<std::size_t> border(size, 0);
  PeriodicEnd best;
  for (std::size_t i = 1; i < size; ++i) {
    std::size_t length = border[i - 1];
    while (length > 0 && at(i) != at(length)) { length = border[length - 1]; }
    if (at(i) == at(length)) { ++length; }
    border[i] = length;
    const std::size_t period = i + 1 - length;
    if (2 * period <= i + 1) { best = {period, i + 1}; }
  }
  return best;
}

Repetition repetition_of(const std::vector<Kernel>& kernels) {
  const std::vector<const Kernel*> stream = main_stream(kernels);
  std::vector<std::uint64_t> keys;
  keys.reserve(stream.size());
  for (const Kernel* kernel : stream) { keys.push_back(key_of(*kernel)); }
  const PeriodicEnd end = periodic_end(keys);
  if (end.period == 0 || 2 * end.length < keys.size()) { return {}; }
  Repetition result{end.period, end.length / end.period, 0};
  // From the first kernel of the first whole period to that of the last one.
  const std::size_t first = stream.size() - result.count * result.period;
  const std::size_t last = stream.size() - result.period;
  result.length = (stream[last]->begin - stream[first]->begin) / (result.count - 1);
  return result;
}

}  // namespace elbowroom::recorder
