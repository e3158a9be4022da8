#include "signal_witness.hpp"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>

namespace elbowroom {
namespace {

/// Its name is another than this program's: who signals processes by name does not reach the command.
void hide_name() {
  prctl(PR_SET_NAME, "signal-witness");
  std::memset(program_invocation_name, 0, std::strlen(program_invocation_name));
}

/// In the new process: no call but those that a signal handler may make, as other threads may have held locks.
[[noreturn]] void bear_witness(pid_t parent, SignalWitness::Place place) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) { _exit(0); }
  if (place == SignalWitness::Place::apart) { setpgid(0, 0); }
  hide_name();
  // A pipe that it kept would stay open for those who read it.
  syscall(SYS_close_range, 0U, UINT_MAX, 0U);
  while (true) { pause(); }
}

/// Of a whole process, as the kernel says it; 0 where it has gone.
std::uint64_t pending_of(pid_t process) {
  constexpr std::string_view field = "ShdPnd:";
  constexpr int hexadecimal = 16;
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field)) { return std::strtoull(line.c_str() + field.size(), nullptr, hexadecimal); }
  }
  return 0;
}

void end_witness(pid_t witness) {
  // One that was waited for has gone, and its number may be another process's.
  if (witness < 0 || waitpid(witness, nullptr, WNOHANG) != 0) { return; }
  kill(witness, SIGKILL);
  waitpid(witness, nullptr, 0);
}

}  // namespace

SignalWitness::~SignalWitness() { end_witness(pid_); }

pid_t SignalWitness::start() const {
  const pid_t parent = getpid();
  const pid_t made = fork();
  if (made == 0) { bear_witness(parent, place_); }
  return made;
}

void SignalWitness::renew() {
  const pid_t next = start();
  end_witness(pid_);
  pid_ = next;
}

bool SignalWitness::has(int signal) {
  using std::chrono::steady_clock;
  constexpr std::chrono::milliseconds moment(100);
  constexpr std::chrono::milliseconds between_looks(2);
  if (pid_ < 0) { return false; }
  const steady_clock::time_point until = steady_clock::now() + moment;
  bool found = false;
  while (!(found = (pending_of(pid_) >> (signal - 1) & 1U) != 0) && steady_clock::now() < until) {
    std::this_thread::sleep_for(between_looks);
  }
  renew();
  return found;
}

}  // namespace elbowroom
