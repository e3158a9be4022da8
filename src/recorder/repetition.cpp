#include "recorder/repetition.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "run/repeating_spans.hpp"

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

Repetition repetition_of(const std::vector<Kernel>& kernels) {
  const std::vector<const Kernel*> stream = main_stream(kernels);
  std::vector<std::uint64_t> keys;
  keys.reserve(stream.size());
  for (const Kernel* kernel : stream) { keys.push_back(key_of(*kernel)); }
  const auto spans = run::repeating_spans(keys, {.least_covered = (keys.size() + 1) / 2});
  if (!spans) { return {}; }
  Repetition result{spans->length, spans->begins.size(), 0};
  for (const std::size_t at : spans->begins) { result.length += stream[at + spans->length]->begin - stream[at]->begin; }
  result.length /= result.count;
  return result;
}

}  // namespace elbowroom::recorder
