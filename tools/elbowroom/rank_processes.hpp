#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "elbowroom/base/result.hpp"
#include "signal_queue.hpp"
#include "signal_witness.hpp"

namespace elbowroom {

/// How the ranks of a command ended.
struct RanksEnd {
  std::optional<int> failure;          ///< exit code of the first that failed; absent: none did
  std::optional<std::string> problem;  ///< which one that was, and how it ended; absent: none did, or a signal was passed on
};

/// Processes of one command, each with the number of its rank in its environment. Each has a process group of its own and an empty
/// standard input. When one fails, the others have a moment to end by themselves, then they are asked to, then killed. Should this
/// process be killed, so are they. For single-threaded callers.
class RankProcesses {
 public:
  /// `nodes` divides the ranks into as many parts, which the communication library takes for hosts; 1: they are of one.
  RankProcesses(std::vector<std::string> command, int ranks, int nodes)
      : command_(std::move(command)), ranks_(ranks), nodes_(nodes) {}

  /// Starts them and returns when all have ended, and what they left in their groups. Signals that this process gets go to all.
  Result<RanksEnd> run();

 private:
  struct Rank {
    pid_t pid = 0;
    bool ended = false;
  };
  /// What is done next to those that are left.
  enum class Pressure { none, patience, asked, killed };

  Status start(const SignalQueue& signals);
  void forward(int signal, SignalWitness& witness);
  void reap();
  void note(int rank, const siginfo_t& end);
  void fail(int code, std::string problem);
  void press();
  void send_all(int signal) const;
  [[nodiscard]] bool any_left() const;

  std::vector<std::string> command_;
  int ranks_;
  int nodes_;
  std::vector<Rank> started_;
  RanksEnd end_;
  bool told_ = false;  ///< to end, by a signal
  Pressure pressure_ = Pressure::none;
  std::chrono::steady_clock::time_point press_at_;
};

}  // namespace elbowroom
