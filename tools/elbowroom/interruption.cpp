#include "interruption.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "console.hpp"

namespace elbowroom {
namespace {

constexpr int kForever = -1;
constexpr int kPatienceMs = 5000;

}  // namespace

Interruption::Interruption(std::string_view who) : who_(who) {
  sigemptyset(&watched_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action = {};
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) { sigaddset(&watched_, signal); }
  }
  pthread_sigmask(SIG_BLOCK, &watched_, &mask_before_);
  signals_ = signalfd(-1, &watched_, SFD_CLOEXEC);
  over_ = eventfd(0, EFD_CLOEXEC);
  if (signals_ >= 0 && over_ >= 0) {
    watcher_ = std::thread(&Interruption::watch, this);
  } else {
    pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);  // they end the process, as they would without this
  }
}

Interruption::~Interruption() {
  if (watcher_.joinable()) {
    const std::uint64_t once = 1;
    [[maybe_unused]] const ssize_t told = write(over_, &once, sizeof once);
    watcher_.join();
  }
  for (const int descriptor : {signals_, over_}) {
    if (descriptor >= 0) { close(descriptor); }
  }
  pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
}

Status Interruption::check() const {
  if (signal_ == 0) { return {}; }
  noticed_ = true;
  return failed(fmt::format("interrupted by SIG{}", sigabbrev_np(signal_)));
}

void Interruption::watch() {
  std::array<pollfd, 2> events{pollfd{signals_, POLLIN, 0}, pollfd{over_, POLLIN, 0}};
  while (true) {
    const int ready = poll(events.data(), events.size(), signal_ == 0 || noticed_ ? kForever : kPatienceMs);
    if (ready < 0 && errno == EINTR) { continue; }
    if ((events[1].revents & POLLIN) != 0) { return; }
    if (ready == 0 && noticed_) {
      continue;  // it ends by itself: files may take their time
    }
    if (ready <= 0 || signal_ != 0) { end_process(); }
    signalfd_siginfo info = {};
    if (read(signals_, &info, sizeof info) == sizeof info) { signal_ = static_cast<int>(info.ssi_signo); }
  }
}

void Interruption::end_process() const {
  if (isatty(STDERR_FILENO) == 1) { print_error("\r\x1b[K"); }
  print_notice(who_, "interrupted in the middle of a step: files hold what was measured before its case");
  _exit(exit_code());
}

}  // namespace elbowroom
