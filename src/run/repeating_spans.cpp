#include "run/repeating_spans.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <unordered_map>

namespace elbowroom::run {
namespace {

/// Where a key stands in the sequence.
using Places = std::vector<std::size_t>;

/// Keys are numbers one after the other or products: their sums would meet by chance.
std::uint64_t mixed(std::uint64_t key) {
  key = (key ^ key >> 30U) * 0xBF58476D1CE4E5B9U;
  key = (key ^ key >> 27U) * 0x94D049BB133111EBU;
  return (key ^ key >> 31U) | 1U;
}

/// The least frequent first, as it has the longest span; of equals the one that comes first. Kernels of a program's start alone are
/// none: compilers that time their choices launch hundreds that never come again.
std::vector<const Places*> candidates(const std::unordered_map<std::uint64_t, Places>& places, std::size_t all) {
  std::vector<const Places*> result;
  for (const auto& [key, where] : places) {
    if (where.size() >= 3 && where.back() >= all / 2) { result.push_back(&where); }
  }
  std::sort(result.begin(), result.end(), [](const Places* a, const Places* b) {
    return a->size() != b->size() ? a->size() < b->size() : a->front() < b->front();
  });
  constexpr std::ptrdiff_t kMost = 32;
  // GCC 13 warns of a resize(), as if it grew.
  if (std::ssize(result) > kMost) { result.erase(result.begin() + kMost, result.end()); }
  return result;
}

std::optional<RepeatingSpans> alike(const std::vector<std::uint64_t>& keys, const Places& places) {
  std::vector<std::uint64_t> contents;
  std::unordered_map<std::uint64_t, std::size_t> counts;
  std::uint64_t usual = 0;
  std::size_t most = 0;
  for (std::size_t i = 0; i + 1 < places.size(); ++i) {
    std::uint64_t sum = 0;
    for (std::size_t at = places[i]; at < places[i + 1]; ++at) { sum += mixed(keys[at]); }
    contents.push_back(sum);
    const std::size_t count = ++counts[sum];
    if (count > most) {
      most = count;
      usual = sum;
    }
  }
  if (most < 2 || most * 10 < contents.size() * 6) { return std::nullopt; }
  RepeatingSpans result;
  for (std::size_t i = 0; i < contents.size(); ++i) {
    if (contents[i] != usual) { continue; }
    result.length = places[i + 1] - places[i];
    result.begins.push_back(places[i]);
  }
  result.others = contents.size() - result.begins.size();
  return result;
}

}  // namespace

std::optional<RepeatingSpans> repeating_spans(const std::vector<std::uint64_t>& keys, const SpanLimits& limits) {
  std::unordered_map<std::uint64_t, Places> places;
  for (std::size_t at = 0; at < keys.size(); ++at) { places[keys[at]].push_back(at); }
  for (const Places* where : candidates(places, keys.size())) {
    std::optional<RepeatingSpans> spans = alike(keys, *where);
    if (spans && spans->length >= limits.least_length && spans->covered() >= limits.least_covered) { return spans; }
  }
  return std::nullopt;
}

}  // namespace elbowroom::run
