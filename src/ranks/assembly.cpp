#include "ranks/assembly.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/text_hash.hpp"

namespace elbowroom::ranks {
namespace {

using std::chrono::milliseconds;

// Until it has proved who it is.
constexpr milliseconds kStrangersTime(5000);
constexpr milliseconds kRefusalTime(100);
constexpr milliseconds kLastWord(1000);
constexpr milliseconds kRest(100);
// Beside those that are missing.
constexpr std::size_t kMostStrangers = 64;
constexpr std::size_t kMostNamed = 8;

}  // namespace

Result<std::vector<Channel>> Assembly::all_within(milliseconds limit) {
  const Deadline until = Clock::now() + limit;
  Result<Meeting> meeting = meeting_of(membership_, credentials_.token.has_value());
  if (!meeting) { return meeting.error(); }
  meeting_ = *std::move(meeting);
  const Result<Descriptor> listener = listen_at(meeting_);
  if (!listener) { return listener.error(); }
  others_.resize(static_cast<std::size_t>(membership_.size) - 1);
  Status good;
  while (good && present() < others_.size()) { good = Clock::now() < until ? wait(*listener, until) : Status(missing(limit)); }
  if (good) { return std::move(others_); }
  end_all(others_, FrameKind::over, Clock::now() + kLastWord);
  return good.error();
}

Status Assembly::wait(const Descriptor& listener, Deadline until) {
  if (rests_ && Clock::now() >= *rests_) { rests_.reset(); }
  // A listener without descriptors to give stays readable.
  std::vector<pollfd> events{{rests_ ? -1 : listener.get(), POLLIN, 0}};
  if (rests_) { until = std::min(until, *rests_); }
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
  if (!rests_) { accept_all(listener); }
  return {};
}

/// So many at a time that those who are there are heard between.
void Assembly::accept_all(const Descriptor& listener) {
  for (std::size_t many = 0; many < kMostStrangers; ++many) {
    std::optional<Socket> connection = accept_from(listener);
    if (!connection) {
      const bool none_left = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
      if (!none_left) { return; }
      make_room(Refusal::no_descriptor);
      rests_ = Clock::now() + kRest;
      return;
    }
    if (!of_this_user(*connection)) {
      refuse(Refusal::user);
      continue;
    }
    if (strangers_.size() >= kMostStrangers + others_.size()) { make_room(Refusal::too_many); }
    strangers_.push_back({Channel(*std::move(connection), kLongestHello), Clock::now() + kStrangersTime});
  }
}

/// The one that has been silent for longest goes. A rank speaks at once, and comes again where it was sent away.
void Assembly::make_room(Refusal why) {
  refuse(why);
  if (!strangers_.empty()) { strangers_.erase(strangers_.begin()); }
}

bool Assembly::refuse(Refusal why) {
  ++refused_[why];
  return true;
}

Result<bool> Assembly::heard(Stranger& stranger) {
  const Result<std::optional<Frame>> frame = stranger.channel.poll_frame();
  const Refusal unproved = stranger.hello ? Refusal::token : Refusal::no_rank;
  if (!frame) { return refuse(unproved); }
  if (!*frame) { return Clock::now() >= stranger.until && refuse(unproved); }
  if (!stranger.hello) { return challenged(stranger, **frame); }
  if ((*frame)->kind != FrameKind::answer || !same_proof((*frame)->payload, stranger.expected)) { return refuse(Refusal::token); }
  const Status taken = take(*stranger.hello, stranger.channel);
  if (taken) { return true; }
  stranger.channel.end(FrameKind::refused);
  stranger.channel.wait_for_end(Clock::now() + kRefusalTime);
  return Error{taken.error().kind, fmt::format("rank {}: {}", stranger.hello->rank, taken.error().message)};
}

Result<bool> Assembly::challenged(Stranger& stranger, const Frame& frame) {
  std::optional<Hello> hello = frame.kind == FrameKind::hello ? hello_in(frame.payload) : std::nullopt;
  if (!hello) { return refuse(Refusal::no_rank); }
  if (hello->job != detail::hash_of(membership_.job)) { return refuse(Refusal::job); }
  const Result<std::string> number = new_number();
  if (!number) { return number.error(); }
  const Challenge challenge{*number, leaders_proof(credentials_, *hello, *number)};
  if (!stranger.channel.send(FrameKind::challenge, bytes_of(challenge), Clock::now())) { return refuse(Refusal::no_rank); }
  stranger.expected = ranks_proof(credentials_, *hello, *number);
  stranger.hello = *std::move(hello);
  return heard(stranger);
}

Status Assembly::take(const Hello& hello, Channel& channel) {
  if (Status good = fits(hello); !good) { return good; }
  Channel& own = others_[static_cast<std::size_t>(hello.rank) - 1];
  if (own.is_open()) { return invalid_input("two processes say that they are it"); }
  own = std::move(channel);
  own.allow(kLongestFrame);
  // Should it have gone, that is seen when it is asked first.
  static_cast<void>(own.send(FrameKind::accepted, {}, Clock::now()));
  return {};
}

Status Assembly::fits(const Hello& hello) const {
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
  return failed(fmt::format("rank{} {}: not come to {} within {} ({} of {} ranks are there{})", many > 1 ? "s" : "", names,
                            meeting_.in_words(), in_seconds(limit), present() + 1, membership_.size, refusals()));
}

std::string Assembly::refusals() const {
  static constexpr std::array<std::pair<Refusal, std::string_view>, 6> words{{{Refusal::no_rank, "as no rank's"},
                                                                              {Refusal::token, "without this run's token"},
                                                                              {Refusal::job, "of other jobs"},
                                                                              {Refusal::user, "of other users"},
                                                                              {Refusal::too_many, "because they were silent"},
                                                                              {Refusal::no_descriptor, "for want of descriptors"}}};
  std::string text;
  for (const auto& [why, in_words] : words) {
    const auto found = refused_.find(why);
    if (found == refused_.end()) { continue; }
    text += fmt::format("{} {} {}", text.empty() ? "; connections refused:" : ",", found->second, in_words);
  }
  return text;
}

}  // namespace elbowroom::ranks
