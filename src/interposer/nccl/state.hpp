#pragma once

#include <atomic>
#include <cstdint>

#include "interposer/core/report_writer.hpp"
#include "interposer/core/rules.hpp"

namespace elbowroom::interposer::nccl {

/// This process in a communicator, as the call that makes it tells. One word, or clang asks libatomic for its exchange.
struct alignas(8) Membership {
  int ranks = 0;  ///< 0: the call does not tell, as of a child
  int rank = 0;   ///< -1: of a communicator that grows, whose ranks keep their numbers
};

/// What this room counts of its process.
struct State {
  std::atomic<std::uint64_t> calls{0};  ///< of collectives, sends and receives
  std::atomic<std::uint64_t> communicators{0};
  std::atomic<Membership> greatest{};      ///< in the first of the greatest communicators that told
  std::atomic<bool> several_ranks{false};  ///< some communicator has several, or nobody told how many

  void count_communicator(Membership made);
};

/// There from the load on and never destroyed, as handlers and what runs at a program's very end call NCCL too.
State& state();

/// The member `nccl` of a process's report.
void write_report(ReportWriter& out);

/// Read from their file when they are first wanted. In a handler that interrupted that, rules that ask for nothing.
const Rules& rules();

}  // namespace elbowroom::interposer::nccl
