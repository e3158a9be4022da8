#include "ranks/spoke.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/text_hash.hpp"
#include "ranks/handshake.hpp"
#include "ranks/hello.hpp"
#include "ranks/meeting.hpp"

namespace elbowroom::ranks {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kToEnd(2000);
// What ends rank 0 may be about to end this rank as well: a launcher sends one signal after the other.
constexpr milliseconds kBetweenSignals(300);

bool comes_soon(int interrupts) {
  pollfd event{interrupts, POLLIN, 0};
  return poll(&event, 1, static_cast<int>(kBetweenSignals.count())) == 1;
}

Error of_leader(std::string_view what) { return failed(fmt::format("rank 0: {}", what)); }

constexpr milliseconds kToGreet(5000);
constexpr milliseconds kBetweenGreetings(100);

/// Whether rank 0 takes this rank, or refuses it; `failed` where somebody else is met.
Result<bool> greet(Channel& channel, const Credentials& credentials, const Hello& hello, Deadline until) {
  if (Status sent = channel.send(FrameKind::hello, bytes_of(hello), until); !sent) { return sent.error(); }
  const Result<std::optional<Frame>> asked = channel.wait_for_frame(until);
  if (!asked) { return asked.error(); }
  const bool speaks = *asked && (*asked)->kind == FrameKind::challenge;
  const std::optional<Challenge> challenge = speaks ? challenge_in((*asked)->payload) : std::nullopt;
  if (!challenge) { return failed("who is met there does not speak as rank 0 does"); }
  if (!same_proof(challenge->proof, leaders_proof(credentials, hello, challenge->number))) {
    return failed("who is met there has another ELBOWROOM_TOKEN");
  }
  const std::string proof = ranks_proof(credentials, hello, challenge->number);
  if (Status sent = channel.send(FrameKind::answer, proof, until); !sent) { return sent.error(); }
  const Result<std::optional<Frame>> taken = channel.wait_for_frame(until);
  if (!taken) { return taken.error(); }
  if (*taken && (*taken)->kind == FrameKind::refused) { return false; }
  if (*taken && (*taken)->kind == FrameKind::accepted) { return true; }
  return failed("who is met there does not take this rank");
}

}  // namespace

Result<Spoke> Spoke::join(const Membership& membership, const Credentials& credentials, milliseconds limit) {
  const Deadline until = Clock::now() + limit;
  const Result<Meeting> meeting = meeting_of(membership, credentials.token.has_value());
  if (!meeting) { return meeting.error(); }
  std::string why;
  while (true) {
    Result<Socket> socket = connect_to(*meeting, until);
    if (!socket && socket.error().kind == ErrorKind::invalid_input) { return socket.error(); }
    if (!socket && why.empty()) { why = socket.error().message; }
    if (socket) {
      const Result<std::string> number = new_number();
      if (!number) { return number.error(); }
      const Hello hello{credentials.version, membership.rank, membership.size, detail::hash_of(membership.job), *number};
      Channel channel(*std::move(socket), kLongestHello);
      const Result<bool> taken = greet(channel, credentials, hello, std::min(until, Clock::now() + kToGreet));
      channel.allow(kLongestFrame);
      if (taken) { return Spoke(std::move(channel), std::max(limit, kLeastPatience), !*taken); }
      // A try that the time limit ends says nothing of who is there.
      if (why.empty() || Clock::now() < until) { why = taken.error().message; }
    }
    if (Clock::now() >= until) { break; }
    std::this_thread::sleep_for(kBetweenGreetings);
  }
  return of_leader(fmt::format("not at {} within {}: {}", meeting->in_words(), in_seconds(limit), why));
}

Result<Word> Spoke::next(int interrupts) {
  if (refused_) { return Word(End::refused); }
  Deadline until = Clock::now() + limit_;
  bool interrupted = false;
  while (true) {
    Result<std::optional<Frame>> frame = channel_.poll_frame();
    if (!frame && comes_soon(interrupts)) { return Word(End::interrupted); }
    if (!frame) { return of_leader(frame.error().message); }
    if (*frame) {
      if ((*frame)->kind == FrameKind::request) { return Word(std::move((*frame)->payload)); }
      if ((*frame)->kind == FrameKind::over) { return Word(End::over); }
      if ((*frame)->kind == FrameKind::refused) { return Word(End::refused); }
      if ((*frame)->kind != FrameKind::alive) { return of_leader("a message that it does not send"); }
      if (!interrupted) { until = Clock::now() + limit_; }
      continue;
    }
    if (Clock::now() >= until && interrupted) { return Word(End::interrupted); }
    if (Clock::now() >= until) { return of_leader(fmt::format("not heard of for {}", in_seconds(limit_))); }
    std::array<pollfd, 2> events{pollfd{channel_.descriptor(), POLLIN, 0}, pollfd{interrupted ? -1 : interrupts, POLLIN, 0}};
    if (poll(events.data(), events.size(), poll_limit(until)) < 0 && errno != EINTR) { return of_leader("cannot be waited for"); }
    if ((events[1].revents & POLLIN) == 0) { continue; }
    interrupted = true;
    until = Clock::now() + kToEnd;
  }
}

void Spoke::reply(std::string_view answer) { static_cast<void>(channel_.send(FrameKind::reply, answer, Clock::now() + limit_)); }

}  // namespace elbowroom::ranks
