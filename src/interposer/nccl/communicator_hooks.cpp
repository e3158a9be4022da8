#include <cstddef>

#include "interposer/nccl/functions.hpp"
#include "interposer/nccl/ranks.hpp"
#include "interposer/nccl/state.hpp"
#include "interposer/process/routes.hpp"

// Ranks of a communicator agree by the name that all of them make it with.

namespace elbowroom::interposer::nccl {
namespace {

constexpr int kInProgress = 7;

/// In a group or of a communicator that does not block the making has only begun; what goes wrong then is the program's to see.
int made_one(int result, Membership membership, const Communicator* made, std::uint64_t name) {
  if (result != 0 && result != kInProgress) { return result; }
  state().count_communicator(membership);
  if (made != nullptr && membership.ranks != 1) { meet(*made, name); }
  return result;
}

}  // namespace
}  // namespace elbowroom::interposer::nccl

using namespace elbowroom::interposer::nccl;
using elbowroom::interposer::process::CallTarget;

int ncclCommInitRank(nccl::Communicator* made, int ranks, nccl::UniqueId id, int rank) {
  const CallTarget<&ncclCommInitRank> target(__builtin_return_address(0));
  return made_one(target(made, ranks, id, rank), {ranks, rank}, made, name_of({&id, 1}));
}

int ncclCommInitRankConfig(nccl::Communicator* made, int ranks, nccl::UniqueId id, int rank, nccl::Config* config) {
  const CallTarget<&ncclCommInitRankConfig> target(__builtin_return_address(0));
  return made_one(target(made, ranks, id, rank, config), {ranks, rank}, made, name_of({&id, 1}));
}

int ncclCommInitRankScalable(nccl::Communicator* made, int ranks, int rank, int id_count, nccl::UniqueId* ids,
                             nccl::Config* config) {
  const CallTarget<&ncclCommInitRankScalable> target(__builtin_return_address(0));
  const std::size_t count = ids == nullptr || id_count < 0 ? 0 : static_cast<std::size_t>(id_count);
  return made_one(target(made, ranks, rank, id_count, ids, config), {ranks, rank}, made, name_of({ids, count}));
}

int ncclCommInitAll(nccl::Communicator* made, int devices, const int* list) {
  const CallTarget<&ncclCommInitAll> target(__builtin_return_address(0));
  return made_one(target(made, devices, list), {devices}, nullptr, 0);
}

int ncclCommSplit(nccl::Communicator parent, int color, int key, nccl::Communicator* made, nccl::Config* config) {
  const CallTarget<&ncclCommSplit> target(__builtin_return_address(0));
  const std::uint64_t name = name_of_child(parent, color);
  return made_one(target(parent, color, key, made, config), {}, made, name);
}

int ncclCommShrink(nccl::Communicator parent, int* excluded, int excluded_count, nccl::Communicator* made, nccl::Config* config,
                   int flags) {
  const CallTarget<&ncclCommShrink> target(__builtin_return_address(0));
  const std::uint64_t name = name_of_child(parent, 0);
  return made_one(target(parent, excluded, excluded_count, made, config, flags), {}, made, name);
}

// A rank that joins has no parent, so that the ranks know no name in common.
int ncclCommGrow(nccl::Communicator parent, int ranks, const nccl::UniqueId* id, int rank, nccl::Communicator* made,
                 nccl::Config* config) {
  const CallTarget<&ncclCommGrow> target(__builtin_return_address(0));
  return made_one(target(parent, ranks, id, rank, made, config), {ranks, rank}, made, 0);
}
