#pragma once

#include <cstdint>
#include <span>

#include "interposer/core/rank_agreement.hpp"
#include "interposer/nccl/functions.hpp"

/// The communicators whose ranks agree on the arm that is in force, by the word of core/agreement.hpp.
namespace elbowroom::interposer::nccl {

/// A communicator is named by what all of its ranks make it with, and by nothing else. 0: it has no such name.
std::uint64_t name_of(std::span<const UniqueId> ids);
/// Of the next child of a communicator, of ranks that give one color. All ranks of the parent make their children in one order.
std::uint64_t name_of_child(Communicator parent, int color);

/// The communicator was made, or its making has begun. Without a name its ranks agree on nothing.
void meet(Communicator made, std::uint64_t name);
/// Before a collective that all ranks of the communicator call.
void before_collective(Communicator communicator, std::uint32_t ranks);

/// The process's own, for the core.
RankAgreement rank_agreement();

}  // namespace elbowroom::interposer::nccl
