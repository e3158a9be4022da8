#pragma once

#include <atomic>
#include <cstdint>

#include "interposer/core/report_writer.hpp"
#include "interposer/core/rules.hpp"

namespace elbowroom::interposer::nccl {

/// What this room counts of its process.
struct State {
  std::atomic<std::uint64_t> calls{0};  ///< of collectives, sends and receives
  std::atomic<std::uint64_t> communicators{0};
  std::atomic<int> greatest_ranks{0};      ///< of one that told its ranks
  std::atomic<bool> several_ranks{false};  ///< some communicator has several, or nobody told how many

  /// `ranks`: 0, nobody told.
  void count_communicator(int ranks);
};

/// There from the load on and never destroyed, as handlers and what runs at a program's very end call NCCL too.
State& state();

/// The member `nccl` of a process's report.
void write_report(ReportWriter& out);

/// Read from their file when they are first wanted. In a handler that interrupted that, rules that ask for nothing.
const Rules& rules();

}  // namespace elbowroom::interposer::nccl
