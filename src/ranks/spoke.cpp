#include "ranks/spoke.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "ranks/hello.hpp"

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

}  // namespace

Result<Spoke> Spoke::join(const Membership& membership, const Credentials& credentials, milliseconds limit) {
  Result<Socket> socket = connect_to({membership.host, membership.port, !credentials.token}, limit);
  if (!socket) { return socket.error(); }
  Channel channel(*std::move(socket), kLongestFrame);
  const Hello hello{credentials.version, membership.rank, membership.size, credentials.token};
  const Status sent = channel.send(FrameKind::hello, bytes_of(hello), Clock::now() + limit);
  if (!sent) { return of_leader(sent.error().message); }
  return Spoke(std::move(channel), std::max(limit, kLeastPatience));
}

Result<Word> Spoke::next(int interrupts) {
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
