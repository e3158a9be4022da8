#include "interposer/core/budget.hpp"

#include <algorithm>

namespace elbowroom::interposer {
namespace {

// NCCL gives up a channel while there are fewer bytes than channels x threads x threshold. That is at most 640 threads and 64
// bytes. For rings of its LL protocol it is 512 threads and 8 bytes a rank.
std::size_t bytes_per_channel(std::size_t ranks) {
  return std::max<std::size_t>(std::size_t{640} * 64, std::size_t{512} * 8 * ranks);
}

// CollNet gives up channels by the number of its heads, which the plugin is not told.
bool follows_bytes(Algorithm algorithm) {
  return algorithm == Algorithm::tree || algorithm == Algorithm::ring || algorithm == Algorithm::pat;
}

// These take a fixed number, which NCCL also caps an answer at.
bool is_fixed(Algorithm algorithm) { return algorithm == Algorithm::nvls || algorithm == Algorithm::nvls_tree; }

}  // namespace

Algorithm cheapest(std::span<const float> table, std::size_t protocols) {
  float least = 3600000000.0F;
  auto found = Algorithm::unknown;
  for (std::size_t i = 0; protocols > 0 && i < table.size(); ++i) {
    if (table[i] < 0.0F || table[i] >= least) { continue; }
    least = table[i];
    const std::size_t algorithm = i / protocols;
    found = algorithm <= static_cast<std::size_t>(Algorithm::pat) ? static_cast<Algorithm>(algorithm) : Algorithm::unknown;
  }
  return found;
}

int channels_for(const BudgetAsk& ask) {
  if (ask.budget == 0) { return ask.decided; }
  const std::uint32_t share = std::max<std::uint32_t>(1, ask.budget / std::max<std::uint32_t>(1, ask.collectives));
  if (ask.decided > 0) { return std::min(ask.decided, static_cast<int>(share)); }
  const bool enough = follows_bytes(ask.algorithm) && ask.bytes >= share * bytes_per_channel(ask.ranks);
  return enough || is_fixed(ask.algorithm) ? static_cast<int>(share) : 0;
}

std::uint32_t wanted_budget(const BudgetTurns& turns, std::uint64_t sequence) {
  if (turns.count == 0) { return 0; }
  return turns.blocks[turns.every == 0 ? 0 : sequence / turns.every % turns.count];
}

}  // namespace elbowroom::interposer
