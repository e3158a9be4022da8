#include "interposer/nccl/state.hpp"

#include "interposer/process/process.hpp"

namespace elbowroom::interposer::nccl {

State& state() {
  // In place, because programs call NCCL until their very end.
  alignas(State) static std::array<std::byte, sizeof(State)> memory;
  static State* const made = new (memory.data()) State{process::read_rules(), {}, {}, {}, {}, {}};
  return *made;
}

RankAgreement rank_agreement() {
  constexpr auto relaxed = std::memory_order_relaxed;
  return {.standing =
              [] {
                const SharedBudget& shared = state().shared;
                return BudgetStanding{shared.asked.load(relaxed),   shared.as_wanted.load(relaxed), shared.all_ready.load(relaxed),
                                      shared.lowered.load(relaxed), shared.agreed.load(relaxed),    shared.follows.load(relaxed)};
              },
          .want =
              [](const BudgetWish& wish) {
                state().shared.wanted.store(wish.value, relaxed);
                state().shared.ready.store(wish.ready, relaxed);
              }};
}

}  // namespace elbowroom::interposer::nccl
