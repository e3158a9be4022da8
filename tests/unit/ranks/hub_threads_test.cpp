#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "ranks/hello.hpp"
#include "ranks/hub.hpp"
#include "ranks/spoke.hpp"

namespace elbowroom::ranks {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kNoInterrupts = -1;

Membership membership_of_rank(int rank, int size, int port) { return {"a test", rank, size, rank, std::string(kLoopback), port}; }

const Credentials& credentials() {
  static const Credentials known{"1.0", "0123456789abcdef"};
  return known;
}

/// A rank that answers each request with its number and the request, and how it ended.
std::future<std::string> echo(Membership membership, Credentials own = credentials()) {
  return std::async(std::launch::async, [membership = std::move(membership), own = std::move(own)]() -> std::string {
    Result<Spoke> spoke = Spoke::join(membership, own, 10s);
    if (!spoke) { return spoke.error().message; }
    while (true) {
      const Result<Word> word = spoke->next(kNoInterrupts);
      if (!word) { return word.error().message; }
      if (const auto* end = std::get_if<End>(&*word)) { return *end == End::over ? "over" : "refused"; }
      spoke->reply(std::to_string(membership.rank) + std::get<std::string>(*word));
    }
  });
}

/// A connection that says what it is given.
Socket saying(int port, std::string_view bytes) {
  Result<Socket> socket = connect_to({std::string(kLoopback), port, true}, 10s);
  EXPECT_TRUE(socket && socket->send(bytes, Clock::now() + 1s));
  return socket ? *std::move(socket) : Socket();
}

std::string hello_bytes(const Hello& hello) { return bytes_of(FrameKind::hello, bytes_of(hello)); }

TEST(Hub, AsksAllAndHearsThemInTheirOrder) {
  const int port = *free_port();
  std::vector<std::future<std::string>> others;
  for (const int rank : {3, 1, 2}) { others.push_back(echo(membership_of_rank(rank, 4, port))); }
  {
    const auto hub = Hub::gather(membership_of_rank(0, 4, port), credentials(), 10s);
    ASSERT_TRUE(hub) << hub.error().message;
    for (const std::string& request : {std::string("a"), std::string(), std::string(5'000'000, 'x')}) {
      ASSERT_TRUE((*hub)->ask(request));
      EXPECT_THAT(*(*hub)->replies(), ElementsAre("1" + request, "2" + request, "3" + request));
    }
  }
  for (auto& other : others) { EXPECT_EQ(other.get(), "over"); }
}

TEST(Hub, NamesThoseWhoDoNotCome) {
  const int port = *free_port();
  auto other = echo(membership_of_rank(2, 4, port));
  const auto begin = Clock::now();
  const auto hub = Hub::gather(membership_of_rank(0, 4, port), credentials(), 500ms);
  ASSERT_FALSE(hub);
  EXPECT_EQ(hub.error().message,
            "ranks 1, 3: not come to port " + std::to_string(port) + " of 127.0.0.1 within 0.5 s (2 of 4 ranks are there)");
  EXPECT_LT(Clock::now() - begin, 3s);
  EXPECT_EQ(other.get(), "over");
}

TEST(Hub, RefusesARankThatIsNoneOfItsOwn) {
  struct Case {
    int rank;
    int size;
    Credentials own;
    std::string complaint;
  };
  const std::vector<Case> cases = {
      {1, 3, {"1.0", "fedcba9876543210"}, "rank 1: ELBOWROOM_TOKEN: another than rank 0's"},
      {1, 3, {"1.0", std::nullopt}, "rank 1: ELBOWROOM_TOKEN: another than rank 0's"},
      {1, 3, {"1.1", "0123456789abcdef"}, "rank 1: version: 1.1, expected 1.0 (rank 0's)"},
      {1, 4, credentials(), "rank 1: number of ranks: 4, expected 3 (rank 0's)"},
      {0, 3, credentials(), "rank 0: two processes say that they are it"},
  };
  for (const Case& one : cases) {
    const int port = *free_port();
    auto other = echo(membership_of_rank(one.rank, one.size, port), one.own);
    const auto hub = Hub::gather(membership_of_rank(0, 3, port), credentials(), 10s);
    ASSERT_FALSE(hub);
    EXPECT_EQ(hub.error().message, one.complaint);
    EXPECT_EQ(hub.error().kind, ErrorKind::invalid_input);
    EXPECT_EQ(other.get(), "refused");
  }
}

TEST(Hub, RefusesASecondProcessOfARankAndEndsTheFirst) {
  const int port = *free_port();
  std::array others{echo(membership_of_rank(1, 3, port)), echo(membership_of_rank(1, 3, port))};
  const auto hub = Hub::gather(membership_of_rank(0, 3, port), credentials(), 10s);
  ASSERT_FALSE(hub);
  EXPECT_EQ(hub.error().message, "rank 1: two processes say that they are it");
  EXPECT_THAT((std::vector{others[0].get(), others[1].get()}), ::testing::UnorderedElementsAre("over", "refused"));
}

TEST(Hub, SendsStrangersAwayAndGoesOn) {
  const int port = *free_port();
  auto meeting = std::async(std::launch::async, [&] { return Hub::gather(membership_of_rank(0, 2, port), credentials(), 10s); });
  const Hello hello{"1.0", 1, 2, credentials().token};
  const std::string whole = hello_bytes(hello);
  const Socket http = saying(port, "GET / HTTP/1.1\r\n\r\n");
  const Socket silent = saying(port, "");
  const Socket half = saying(port, whole.substr(0, whole.size() - 1));
  const Socket greedy = saying(port, std::string("\1\0\0\0\x10", 5));
  const Socket other_kind = saying(port, bytes_of(FrameKind::reply, bytes_of(hello)));
  auto other = echo(membership_of_rank(1, 2, port));
  auto hub = meeting.get();
  ASSERT_TRUE(hub) << hub.error().message;
  ASSERT_TRUE((*hub)->ask("a"));
  EXPECT_THAT(*(*hub)->replies(), ElementsAre("1a"));
  hub->reset();
  EXPECT_EQ(other.get(), "over");
}

TEST(Hub, NamesARankThatIsGoneAndSaysSoFromThenOn) {
  const int port = *free_port();
  auto other = echo(membership_of_rank(1, 3, port));
  auto meeting = std::async(std::launch::async, [&] { return Hub::gather(membership_of_rank(0, 3, port), credentials(), 10s); });
  Socket gone = saying(port, hello_bytes({"1.0", 2, 3, credentials().token}));
  auto hub = meeting.get();
  ASSERT_TRUE(hub) << hub.error().message;
  gone = Socket();
  // What is sent may be taken before the end is seen.
  const Status asked = (*hub)->ask("a");
  const auto replies = (*hub)->replies();
  ASSERT_FALSE(replies);
  EXPECT_EQ(replies.error().message, "rank 2: its connection has ended");
  EXPECT_EQ((*hub)->ask("b").error().message, "rank 2: its connection has ended");
  hub->reset();
  EXPECT_EQ(other.get(), "over");
}

TEST(Hub, NamesARankThatDoesNotAnswer) {
  const int port = *free_port();
  auto meeting = std::async(std::launch::async,
                            [&] { return Hub::gather(membership_of_rank(0, 2, port), credentials(), 1ms + kLeastPatience); });
  Socket mute = saying(port, hello_bytes({"1.0", 1, 2, credentials().token}));
  const auto hub = meeting.get();
  ASSERT_TRUE(hub) << hub.error().message;
  const auto begin = Clock::now();
  ASSERT_TRUE((*hub)->ask("a"));
  EXPECT_EQ((*hub)->replies().error().message, "rank 1: no answer within 5.0 s");
  EXPECT_GE(Clock::now() - begin, kLeastPatience);
  EXPECT_LT(Clock::now() - begin, kLeastPatience + 2s);
  // An answer that comes too late is none to the next question.
  ASSERT_TRUE(mute.send(bytes_of(FrameKind::reply, "late"), Clock::now() + 1s));
  EXPECT_EQ((*hub)->ask("b").error().message, "rank 1: no answer within 5.0 s");
  EXPECT_FALSE((*hub)->replies());
}

TEST(Hub, NamesARankThatSaysSomethingElse) {
  const int port = *free_port();
  auto meeting = std::async(std::launch::async, [&] { return Hub::gather(membership_of_rank(0, 2, port), credentials(), 10s); });
  Socket wrong = saying(port, hello_bytes({"1.0", 1, 2, credentials().token}) + bytes_of(FrameKind::alive, ""));
  const auto hub = meeting.get();
  ASSERT_TRUE(hub && (*hub)->ask("a"));
  EXPECT_EQ((*hub)->replies().error().message, "rank 1: a message that is no answer");
}

TEST(Hub, ThePortOfSomebodyElseIsNamed) {
  const int port = *free_port();
  const auto taken = listen_at({std::string(kLoopback), port, true});
  ASSERT_TRUE(taken);
  const auto hub = Hub::gather(membership_of_rank(0, 2, port), credentials(), 10s);
  ASSERT_FALSE(hub);
  EXPECT_EQ(hub.error().message,
            "ELBOWROOM_PORT: port " + std::to_string(port) + " of 127.0.0.1 cannot be listened at: Address already in use");
}

TEST(Hub, WithoutATokenNoOtherHostIsMet) {
  Membership elsewhere = membership_of_rank(0, 2, *free_port());
  elsewhere.host = "192.0.2.1";
  const Credentials none{"1.0", std::nullopt};
  EXPECT_THAT(Hub::gather(elsewhere, none, 10s).error().message,
              HasSubstr("ELBOWROOM_TOKEN: not set, expected a token of all ranks"));
  elsewhere.rank = 1;
  EXPECT_THAT(Spoke::join(elsewhere, none, 10s).error().message, HasSubstr("rank 0 is on 192.0.2.1"));
}

TEST(Spoke, SaysThatRankZeroIsNotThere) {
  const int port = *free_port();
  const auto spoke = Spoke::join(membership_of_rank(1, 2, port), credentials(), 300ms);
  ASSERT_FALSE(spoke);
  EXPECT_EQ(spoke.error().message,
            "rank 0: not at port " + std::to_string(port) + " of 127.0.0.1 within 0.3 s: Connection refused");
}

/// Rank 0 as it is to a rank: a connection that was taken.
class Leader {
 public:
  explicit Leader(int port) : listener_(*listen_at({std::string(kLoopback), port, true})) {}

  Socket meet() {
    std::optional<Socket> socket;
    while (!(socket = accept_from(listener_))) { std::this_thread::sleep_for(1ms); }
    return *std::move(socket);
  }

 private:
  Descriptor listener_;
};

TEST(Spoke, SaysThatRankZeroHasGoneWithoutAWord) {
  const int port = *free_port();
  Leader leader(port);
  auto other = echo(membership_of_rank(1, 2, port));
  Socket connection = leader.meet();
  connection = Socket();
  EXPECT_EQ(other.get(), "rank 0: its connection has ended");
}

TEST(Spoke, SaysThatRankZeroIsSilentAndNotWhileItIsAlive) {
  const int port = *free_port();
  Leader leader(port);
  auto join = std::async(std::launch::async, [&] { return Spoke::join(membership_of_rank(1, 2, port), credentials(), 1ms); });
  Socket connection = leader.meet();
  Result<Spoke> spoke = join.get();
  ASSERT_TRUE(spoke);
  const auto begin = Clock::now();
  auto word = std::async(std::launch::async, [&] { return spoke->next(kNoInterrupts); });
  std::this_thread::sleep_for(2s);
  ASSERT_TRUE(connection.send(bytes_of(FrameKind::alive, ""), Clock::now() + 1s));
  EXPECT_EQ(word.get().error().message, "rank 0: not heard of for 5.0 s");
  EXPECT_GE(Clock::now() - begin, 7s);
}

TEST(Spoke, ASignalGivesRankZeroAMomentToEnd) {
  const int port = *free_port();
  Leader leader(port);
  auto join = std::async(std::launch::async, [&] { return Spoke::join(membership_of_rank(1, 2, port), credentials(), 10s); });
  Socket connection = leader.meet();
  Result<Spoke> spoke = join.get();
  ASSERT_TRUE(spoke);
  std::array<int, 2> signals = {};
  ASSERT_EQ(pipe(signals.data()), 0);
  const Descriptor read_end(signals[0]);
  const Descriptor write_end(signals[1]);
  ASSERT_EQ(write(write_end.get(), "x", 1), 1);
  const auto begin = Clock::now();
  const Result<Word> word = spoke->next(read_end.get());
  ASSERT_TRUE(word);
  EXPECT_EQ(std::get<End>(*word), End::interrupted);
  EXPECT_LT(Clock::now() - begin, 4s);
  ASSERT_TRUE(connection.send(bytes_of(FrameKind::over, ""), Clock::now() + 1s));
  EXPECT_EQ(std::get<End>(*spoke->next(read_end.get())), End::over);
}

TEST(Spoke, IsSilentAboutRankZeroWhereBothAreEnded) {
  const int port = *free_port();
  Leader leader(port);
  auto join = std::async(std::launch::async, [&] { return Spoke::join(membership_of_rank(1, 2, port), credentials(), 10s); });
  Socket connection = leader.meet();
  Result<Spoke> spoke = join.get();
  ASSERT_TRUE(spoke);
  std::array<int, 2> signals = {};
  ASSERT_EQ(pipe(signals.data()), 0);
  const Descriptor read_end(signals[0]);
  const Descriptor write_end(signals[1]);
  auto word = std::async(std::launch::async, [&] { return spoke->next(read_end.get()); });
  connection = Socket();
  std::this_thread::sleep_for(50ms);
  ASSERT_EQ(write(write_end.get(), "x", 1), 1);
  const Result<Word> ended = word.get();
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(std::get<End>(*ended), End::interrupted);
}

TEST(FreePort, IsOneThatCanBeListenedAt) {
  const auto port = free_port();
  ASSERT_TRUE(port);
  EXPECT_GE(*port, 20'000);
  EXPECT_LE(*port, 32'767);
  EXPECT_TRUE(listen_at({std::string(kLoopback), *port, true}));
}

}  // namespace
}  // namespace elbowroom::ranks
