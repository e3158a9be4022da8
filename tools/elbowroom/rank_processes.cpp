#include "rank_processes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <utility>

#include "elbowroom/base/environment.hpp"
#include "elbowroom/model/comm_environment.hpp"
#include "ranks/token.hpp"
#include "start_process.hpp"

namespace elbowroom {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr int kKilled = 128;
constexpr std::array kToEndWith = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU};
// Who works with a rank that has failed notices by itself and says what was measured.
constexpr milliseconds kPatience(1500);
constexpr milliseconds kToEnd(5000);
constexpr milliseconds kUnhurried(3'600'000);

/// What makes the communication library take a rank's part for a host: between hosts it goes by sockets, here over loopback.
EnvironmentChanges as_node(int node) {
  EnvironmentChanges changes{{std::string(kHostVariable), fmt::format("elbowroom-node-{}", node)}};
  const std::string interface(kInterfaceVariable);
  if (std::getenv(interface.c_str()) == nullptr) { changes.emplace_back(interface, "lo"); }
  return changes;
}

/// In the new process. A key that is pressed reaches this process alone, which passes it on; so does the end of it.
void become_rank(pid_t launching) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != launching) { raise(SIGKILL); }
  // A group in the background that reads from a terminal is stopped.
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing >= 0) { dup2(nothing, STDIN_FILENO); }
  if (nothing > STDIN_FILENO) { close(nothing); }
}

}  // namespace

Result<RanksEnd> RankProcesses::run() {
  const SignalQueue signals;
  if (Status began = start(signals); !began) {
    send_all(SIGKILL);
    return began.error();
  }
  SignalWitness witness(SignalWitness::Place::apart);
  while (any_left()) {
    const bool hurried = pressure_ != Pressure::none && pressure_ != Pressure::killed;
    const auto left = hurried ? std::chrono::ceil<milliseconds>(press_at_ - Clock::now()) : kUnhurried;
    const std::optional<siginfo_t> signal = signals.next_within(std::max(left, milliseconds(0)));
    if (signal && signal->si_signo != SIGCHLD) { forward(signal->si_signo, witness); }
    reap();
    if (hurried && Clock::now() >= press_at_) { press(); }
  }
  return end_;
}

Status RankProcesses::start(const SignalQueue& signals) {
  // The ranks meet at a name of this host that has the job's word in it: nobody knows it before they do.
  const Result<std::string> job = ranks::new_token();
  const Result<std::string> token = ranks::new_token();
  if (!job || !token) { return job ? token.error() : job.error(); }
  const pid_t self = getpid();
  for (int rank = 0; rank < ranks_; ++rank) {
    EnvironmentChanges changes{{kRank.name, std::to_string(rank)},
                               {kRanks.name, std::to_string(ranks_)},
                               {kLocalRank.name, std::to_string(rank)},
                               {kJob.name, *job},
                               {kToken.name, *token}};
    if (nodes_ > 1) { std::ranges::move(as_node(rank * nodes_ / ranks_), std::back_inserter(changes)); }
    const Result<StartedProcess> started =
        start_process(command_, changes, {kTokenFile.name, kRankHost.name, kRankPort.name}, signals, [self] { become_rank(self); });
    if (!started) { return started.error(); }
    started_.push_back({started->pid, false});
    if (!started->failure) { continue; }
    fail(exit_code_of_start(*started->failure), start_problem(command_.front(), *started->failure));
    return {};
  }
  return {};
}

void RankProcesses::forward(int signal, SignalWitness& witness) {
  told_ = told_ || std::ranges::find(kToEndWith, signal) != kToEndWith.end();
  // What a batch system sends to every process of a job the ranks have already.
  if (!witness.has(signal)) { send_all(signal); }
}

void RankProcesses::reap() {
  while (true) {
    siginfo_t end = {};
    if (waitid(P_ALL, 0, &end, WEXITED | WNOHANG | WNOWAIT) != 0 || end.si_pid == 0) { return; }
    const auto found = std::ranges::find(started_, end.si_pid, &Rank::pid);
    // While it is not waited for, nobody else's group has its number.
    if (found != started_.end()) { kill(-end.si_pid, SIGKILL); }
    waitpid(end.si_pid, nullptr, 0);
    if (found == started_.end()) { continue; }
    found->ended = true;
    note(static_cast<int>(found - started_.begin()), end);
  }
}

void RankProcesses::note(int rank, const siginfo_t& end) {
  const bool exited = end.si_code == CLD_EXITED;
  if (exited && end.si_status == 0) { return; }
  if (exited) { return fail(end.si_status, fmt::format("rank {} ended with exit code {}", rank, end.si_status)); }
  const char* const name = sigabbrev_np(end.si_status);
  fail(kKilled + end.si_status, fmt::format("rank {} was killed by SIG{}", rank, name != nullptr ? name : "?"));
}

void RankProcesses::fail(int code, std::string problem) {
  if (end_.failure) { return; }
  end_.failure = code;
  if (!told_) { end_.problem = std::move(problem); }
  pressure_ = Pressure::patience;
  press_at_ = Clock::now() + kPatience;
}

void RankProcesses::press() {
  if (pressure_ == Pressure::patience) {
    pressure_ = Pressure::asked;
    send_all(SIGTERM);
    send_all(SIGCONT);
  } else {
    pressure_ = Pressure::killed;
    send_all(SIGKILL);
  }
  press_at_ = Clock::now() + kToEnd;
}

void RankProcesses::send_all(int signal) const {
  for (const Rank& rank : started_) {
    if (!rank.ended) { kill(-rank.pid, signal); }
  }
}

bool RankProcesses::any_left() const {
  return std::ranges::any_of(started_, [](const Rank& rank) { return !rank.ended; });
}

}  // namespace elbowroom
