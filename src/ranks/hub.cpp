#include "ranks/hub.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <utility>

#include "ranks/assembly.hpp"

namespace elbowroom::ranks {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBetweenSigns(1000);
constexpr milliseconds kFarewell(1000);

/// While this lives, threads that are started leave signals to those that were there before.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_ = {};
};

}  // namespace

Result<std::unique_ptr<Hub>> Hub::gather(const Membership& membership, const Credentials& credentials, milliseconds limit) {
  Result<std::vector<Channel>> others = Assembly(membership, credentials).all_within(limit);
  if (!others) { return others.error(); }
  std::unique_ptr<Hub> hub(new Hub(membership, std::max(limit, kLeastPatience)));
  hub->others_ = *std::move(others);
  const NoSignals no_signals;
  hub->alive_ = std::thread(&Hub::keep_alive, hub.get());
  return hub;
}

Hub::~Hub() {
  {
    const std::scoped_lock lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  if (alive_.joinable()) { alive_.join(); }
  end_all(others_, FrameKind::over, Clock::now() + kFarewell);
}

void Hub::keep_alive() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kBetweenSigns, [this] { return over_; })) {
    // Who takes nothing any more is found out when it is asked next.
    for (Channel& other : others_) {
      if (other.takes()) { static_cast<void>(other.send(FrameKind::alive, {}, Clock::now())); }
    }
  }
}

Status Hub::lose(std::size_t other, std::string_view why) {
  lost_ = failed(fmt::format("rank {}: {}", other + 1, why));
  return lost_;
}

Status Hub::ask(std::string_view request) {
  if (!lost_) { return lost_; }
  const std::scoped_lock lock(mutex_);
  asked_ = Clock::now() + limit_;
  for (std::size_t other = 0; other < others_.size(); ++other) {
    if (Status sent = others_[other].send(FrameKind::request, request, asked_); !sent) { return lose(other, sent.error().message); }
  }
  return {};
}

Result<std::vector<std::string>> Hub::replies() {
  std::vector<std::string> all;
  for (std::size_t other = 0; other < others_.size(); ++other) {
    Result<std::string> reply = reply_of(other);
    if (!reply) { return reply.error(); }
    all.push_back(*std::move(reply));
  }
  return all;
}

Result<std::string> Hub::reply_of(std::size_t other) {
  if (!lost_) { return lost_.error(); }
  Channel& channel = others_[other];
  // What this rank did itself meanwhile may have taken as long as the others may take.
  const Deadline until = std::max(asked_, Clock::now() + kBetweenSigns);
  while (true) {
    Result<std::optional<Frame>> frame = channel.poll_frame();
    if (!frame) { return lose(other, frame.error().message).error(); }
    if (*frame && (*frame)->kind == FrameKind::reply) { return std::move((*frame)->payload); }
    if (*frame) { return lose(other, "a message that is no answer").error(); }
    if (Clock::now() >= until) { return lose(other, fmt::format("no answer within {}", in_seconds(limit_))).error(); }
    pollfd event{channel.descriptor(), POLLIN, 0};
    if (poll(&event, 1, poll_limit(until)) < 0 && errno != EINTR) { return lose(other, "cannot be waited for").error(); }
  }
}

}  // namespace elbowroom::ranks
