#include "interposer/nccl/state.hpp"

#include "interposer/process/process.hpp"

namespace elbowroom::interposer::nccl {

State& state() {
  // In place, because programs call NCCL until their very end.
  alignas(State) static std::array<std::byte, sizeof(State)> memory;
  static State* const made = new (memory.data()) State{process::read_rules(), {}, {}, {}, {}};
  return *made;
}

}  // namespace elbowroom::interposer::nccl
