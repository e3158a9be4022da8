#include "ranks/assembly.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string>
#include <utility>

#include "elbowroom/base/environment.hpp"
#include "ranks/token.hpp"

namespace elbowroom::ranks {
namespace {

using std::chrono::milliseconds;

// Until it has said who it is.
constexpr milliseconds kStrangersTime(5000);
constexpr milliseconds kRefusalTime(100);
// Beside those that are missing.
constexpr std::size_t kMostStrangers = 64;
constexpr std::size_t kMostNamed = 8;

}  // namespace

Result<std::vector<Channel>> Assembly::all_within(milliseconds limit) {
  const Deadline until = Clock::now() + limit;
  const Result<Descriptor> listener = listen_at({membership_.host, membership_.port, !credentials_.token});
  if (!listener) { return listener.error(); }
  others_.resize(static_cast<std::size_t>(membership_.size) - 1);
  Status good;
  while (good && present() < others_.size()) { good = Clock::now() < until ? wait(*listener, until) : Status(missing(limit)); }
  if (good) { return std::move(others_); }
  end();
  return good.error();
}

Status Assembly::wait(const Descriptor& listener, Deadline until) {
  std::vector<pollfd> events{{listener.get(), POLLIN, 0}};
  for (const Stranger& stranger : strangers_) {
    events.push_back({stranger.channel.descriptor(), POLLIN, 0});
    until = std::min(until, stranger.until);
  }
  if (poll(events.data(), events.size(), poll_limit(until)) < 0 && errno != EINTR) {
    return failed("the other ranks cannot be waited for");
  }
  for (std::size_t at = strangers_.size(); at-- > 0;) {
    const Result<bool> over = heard(strangers_[at]);
    if (!over) { return over.error(); }
    if (*over) { strangers_.erase(strangers_.begin() + static_cast<std::ptrdiff_t>(at)); }
  }
  while (auto connection = accept_from(listener)) {
    if (strangers_.size() < kMostStrangers + others_.size()) {
      strangers_.push_back({Channel(*std::move(connection), kLongestHello), Clock::now() + kStrangersTime});
    }
  }
  return {};
}

Result<bool> Assembly::heard(Stranger& stranger) {
  const Result<std::optional<Frame>> frame = stranger.channel.poll_frame();
  if (!frame) { return true; }
  if (!*frame) { return Clock::now() >= stranger.until; }
  const std::optional<Hello> hello = (*frame)->kind == FrameKind::hello ? hello_in((*frame)->payload) : std::nullopt;
  if (!hello) { return true; }
  const Status taken = take(*hello, stranger.channel);
  if (taken) { return true; }
  stranger.channel.end(FrameKind::refused, Clock::now() + kRefusalTime);
  return Error{taken.error().kind, fmt::format("rank {}: {}", hello->rank, taken.error().message)};
}

Status Assembly::take(const Hello& hello, Channel& channel) {
  if (Status good = fits(hello); !good) { return good; }
  Channel& own = others_[static_cast<std::size_t>(hello.rank) - 1];
  if (own.is_open()) { return invalid_input("two processes say that they are it"); }
  own = std::move(channel);
  own.allow(kLongestFrame);
  return {};
}

Status Assembly::fits(const Hello& hello) const {
  // The token first: nobody else is told more.
  if (!same_token(hello.token.value_or(""), credentials_.token.value_or(""))) {
    return invalid_input(fmt::format("{}: another than rank 0's", kToken.name));
  }
  if (hello.version != credentials_.version) {
    return invalid_input(fmt::format("version: {}, expected {} (rank 0's)", hello.version, credentials_.version));
  }
  if (hello.size != membership_.size) {
    return invalid_input(fmt::format("number of ranks: {}, expected {} (rank 0's)", hello.size, membership_.size));
  }
  if (hello.rank == 0) { return invalid_input("two processes say that they are it"); }
  return {};
}

std::size_t Assembly::present() const { return static_cast<std::size_t>(std::ranges::count_if(others_, &Channel::is_open)); }

Error Assembly::missing(milliseconds limit) const {
  std::string names;
  std::size_t many = 0;
  for (std::size_t at = 0; at < others_.size(); ++at) {
    if (others_[at].is_open() || ++many > kMostNamed) { continue; }
    names += fmt::format("{}{}", names.empty() ? "" : ", ", at + 1);
  }
  if (many > kMostNamed) { names += ", ..."; }
  return failed(fmt::format("rank{} {}: not come to port {} of {} within {} ({} of {} ranks are there)", many > 1 ? "s" : "", names,
                            membership_.port, membership_.host, in_seconds(limit), present() + 1, membership_.size));
}

void Assembly::end() {
  for (Channel& other : others_) {
    if (other.is_open()) { other.end(FrameKind::over, Clock::now() + kRefusalTime); }
  }
}

}  // namespace elbowroom::ranks
