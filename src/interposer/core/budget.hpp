#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "interposer/core/rules.hpp"

/// How many blocks a collective may take, decided collective by collective.
namespace elbowroom::interposer {

/// NCCL's numbers of its algorithms, which have been the same since 2.19. Others are later ones.
enum class Algorithm : std::int8_t { unknown = -1, tree, ring, collnet_direct, collnet_chain, nvls, nvls_tree, pat };

/// The algorithm that NCCL will choose: the first of the least expected time in its table of [algorithm][protocol]. Negative times
/// are those that are not possible.
Algorithm cheapest(std::span<const float> table, std::size_t protocols);

struct BudgetAsk {
  std::uint32_t budget = 0;       ///< blocks in all; 0: the library's own number
  std::uint32_t collectives = 1;  ///< of this communicator in the group, whose blocks add up
  int decided = 0;                ///< channels that the user's plugin asks for; 0: it leaves them to NCCL
  std::size_t bytes = 0;
  std::size_t ranks = 0;
  Algorithm algorithm = Algorithm::unknown;
};

/// The channels to ask NCCL for; 0: its own number. Never more than the user's plugin asks for, and never more than NCCL would take
/// by itself. It takes fewer for few bytes, and an answer would raise these. Equal on all ranks, because everything asked is.
int channels_for(const BudgetAsk& ask);

/// What the rules want for the collective of that number. Whoever compares budgets puts its arm here instead.
std::uint32_t wanted_budget(const BudgetTurns& turns, std::uint64_t sequence);

}  // namespace elbowroom::interposer
