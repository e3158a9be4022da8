#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <future>
#include <string>
#include <vector>

#include "ranks/hub.hpp"
#include "unit/ranks/peers.hpp"

namespace elbowroom::ranks {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Hub, AsksAllAndHearsThemInTheirOrder) {
  const int port = free_port();
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
  const int port = free_port();
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
      {1, 3, {"1.1", "0123456789abcdef", mac}, "rank 1: version: 1.1, expected 1.0 (rank 0's)"},
      {1, 4, credentials(), "rank 1: number of ranks: 4, expected 3 (rank 0's)"},
      {0, 3, credentials(), "rank 0: two processes say that they are it"},
  };
  for (const Case& one : cases) {
    const int port = free_port();
    auto other = echo(membership_of_rank(one.rank, one.size, port), one.own);
    const auto hub = Hub::gather(membership_of_rank(0, 3, port), credentials(), 10s);
    ASSERT_FALSE(hub);
    EXPECT_EQ(hub.error().message, one.complaint);
    EXPECT_EQ(hub.error().kind, ErrorKind::invalid_input);
    EXPECT_EQ(other.get(), "refused");
  }
}

TEST(Hub, SendsAwayWhoCannotProveItselfAndGoesOn) {
  const int port = free_port();
  auto meeting = std::async(std::launch::async, [&] { return Hub::gather(membership_of_rank(0, 2, port), credentials(), 10s); });
  const auto refused = Spoke::join(membership_of_rank(1, 2, port), {"1.0", "fedcba9876543210", mac}, 1s);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("has another ELBOWROOM_TOKEN"));
  // A proof of another hello, as somebody who overheard it would send.
  Channel replaying(saying(port, bytes_of(FrameKind::hello, bytes_of(hello_of(1, 2)))), kLongestHello);
  ASSERT_TRUE(replaying.wait_for_frame(Clock::now() + 10s));
  const std::string old = ranks_proof(credentials(), hello_of(1, 2), "an older number.");
  ASSERT_TRUE(replaying.send(FrameKind::answer, old, Clock::now() + 1s));
  EXPECT_FALSE(replaying.wait_for_frame(Clock::now() + 10s)) << "is told anything";
  auto rank = echo(membership_of_rank(1, 2, port));
  auto hub = meeting.get();
  ASSERT_TRUE(hub) << hub.error().message;
  hub->reset();
  EXPECT_EQ(rank.get(), "over");
}

TEST(Hub, CountsWhoWasSentAway) {
  const int port = free_port();
  auto meeting = std::async(std::launch::async, [&] { return Hub::gather(membership_of_rank(0, 2, port), credentials(), 2s); });
  Hello other_job = hello_of(1, 2);
  other_job.job += 1;
  const Socket http = saying(port, "GET / HTTP/1.1\r\n\r\n");
  const Socket job = saying(port, bytes_of(FrameKind::hello, bytes_of(other_job)));
  Channel proofless(saying(port, bytes_of(FrameKind::hello, bytes_of(hello_of(1, 2)))), kLongestHello);
  ASSERT_TRUE(proofless.wait_for_frame(Clock::now() + 10s));
  ASSERT_TRUE(proofless.send(FrameKind::answer, "", Clock::now() + 1s));
  EXPECT_EQ(
      meeting.get().error().message,
      "rank 1: not come to port " + std::to_string(port) +
          " of 127.0.0.1 within 2.0 s (1 of 2 ranks are there; connections refused: 1 as no rank's, 1 without this run's token, "
          "1 of other jobs)");
}

TEST(Hub, SilentConnectionsKeepNoRankOut) {
  const int port = free_port();
  auto meeting = std::async(std::launch::async, [&] { return Hub::gather(membership_of_rank(0, 2, port), credentials(), 20s); });
  std::vector<Socket> silent;
  for (int at = 0; at < 200; ++at) { silent.push_back(saying(port, "")); }
  auto rank = echo(membership_of_rank(1, 2, port));
  auto hub = meeting.get();
  ASSERT_TRUE(hub) << hub.error().message;
  hub->reset();
  EXPECT_EQ(rank.get(), "over");
}

TEST(Hub, SilentRanksAtTheEndAreWaitedForTogether) {
  constexpr int silent_ranks = 40;
  const int port = free_port();
  auto meeting =
      std::async(std::launch::async, [&] { return Hub::gather(membership_of_rank(0, silent_ranks + 2, port), credentials(), 5s); });
  std::vector<Channel> silent;
  for (int rank = 1; rank <= silent_ranks; ++rank) { silent.push_back(arriving(port, hello_of(rank, silent_ranks + 2))); }
  const auto until = Clock::now() + 5s;
  EXPECT_FALSE(meeting.get());
  EXPECT_LT(Clock::now() - until, silent_ranks * 100ms);
}

TEST(Hub, TwoJobsOfOneHostMeetTheirOwnRanks) {
  const auto member = [](int rank, const char* job) {
    Membership membership = membership_of_rank(rank, 2, 1);
    membership.named = false;
    membership.job = "a test of " + std::to_string(getpid()) + job;
    return membership;
  };
  const Credentials none{"1.0"};
  auto one = echo(member(1, "one"), none);
  auto other = echo(member(1, "other"), none);
  std::array hubs{Hub::gather(member(0, "one"), none, 10s), Hub::gather(member(0, "other"), none, 10s)};
  for (auto& hub : hubs) {
    ASSERT_TRUE(hub) << hub.error().message;
    EXPECT_TRUE((*hub)->ask("a"));
    EXPECT_THAT(*(*hub)->replies(), ElementsAre("1a"));
    hub->reset();
  }
  EXPECT_EQ(one.get(), "over");
  EXPECT_EQ(other.get(), "over");
}

TEST(Hub, AJobThatNothingNamesIsRefused) {
  Membership nameless = membership_of_rank(0, 2, 1);
  nameless.named = false;
  nameless.job.clear();
  EXPECT_EQ(Hub::gather(nameless, {"1.0"}, 10s).error().message,
            "ELBOWROOM_JOB: not set, expected a word that no other job has, because a test tells its jobs by none");
}

TEST(Hub, RefusesASecondProcessOfARankAndEndsTheFirst) {
  const int port = free_port();
  std::array others{echo(membership_of_rank(1, 3, port)), echo(membership_of_rank(1, 3, port))};
  const auto hub = Hub::gather(membership_of_rank(0, 3, port), credentials(), 10s);
  ASSERT_FALSE(hub);
  EXPECT_EQ(hub.error().message, "rank 1: two processes say that they are it");
  EXPECT_THAT((std::vector{others[0].get(), others[1].get()}), ::testing::UnorderedElementsAre("over", "refused"));
}

TEST(Hub, SendsStrangersAwayAndGoesOn) {
  const int port = free_port();
  auto meeting = std::async(std::launch::async, [&] { return Hub::gather(membership_of_rank(0, 2, port), credentials(), 10s); });
  const Hello hello = hello_of(1, 2);
  const std::string whole = bytes_of(FrameKind::hello, bytes_of(hello));
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
  const int port = free_port();
  auto other = echo(membership_of_rank(1, 3, port));
  auto meeting = std::async(std::launch::async, [&] { return Hub::gather(membership_of_rank(0, 3, port), credentials(), 10s); });
  Channel gone = arriving(port, hello_of(2, 3));
  auto hub = meeting.get();
  ASSERT_TRUE(hub) << hub.error().message;
  gone = Channel();
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
  const int port = free_port();
  auto meeting = std::async(std::launch::async,
                            [&] { return Hub::gather(membership_of_rank(0, 2, port), credentials(), 1ms + kLeastPatience); });
  Channel mute = arriving(port, hello_of(1, 2));
  const auto hub = meeting.get();
  ASSERT_TRUE(hub) << hub.error().message;
  const auto begin = Clock::now();
  ASSERT_TRUE((*hub)->ask("a"));
  EXPECT_EQ((*hub)->replies().error().message, "rank 1: no answer within 5.0 s");
  EXPECT_GE(Clock::now() - begin, kLeastPatience);
  EXPECT_LT(Clock::now() - begin, kLeastPatience + 2s);
  // An answer that comes too late is none to the next question.
  ASSERT_TRUE(mute.send(FrameKind::reply, "late", Clock::now() + 1s));
  EXPECT_EQ((*hub)->ask("b").error().message, "rank 1: no answer within 5.0 s");
  EXPECT_FALSE((*hub)->replies());
}

TEST(Hub, NamesARankThatSaysSomethingElse) {
  const int port = free_port();
  auto meeting = std::async(std::launch::async, [&] { return Hub::gather(membership_of_rank(0, 2, port), credentials(), 10s); });
  Channel wrong = arriving(port, hello_of(1, 2));
  ASSERT_TRUE(wrong.send(FrameKind::alive, "", Clock::now() + 1s));
  const auto hub = meeting.get();
  ASSERT_TRUE(hub && (*hub)->ask("a"));
  EXPECT_EQ((*hub)->replies().error().message, "rank 1: a message that is no answer");
}

TEST(Hub, ThePortOfSomebodyElseIsNamed) {
  const int port = free_port();
  const auto taken = listen_at({std::string(kLoopback), port});
  ASSERT_TRUE(taken);
  const auto hub = Hub::gather(membership_of_rank(0, 2, port), credentials(), 10s);
  ASSERT_FALSE(hub);
  EXPECT_EQ(hub.error().message,
            "ELBOWROOM_PORT: port " + std::to_string(port) + " of 127.0.0.1 cannot be listened at: Address already in use");
}

TEST(Hub, WithoutATokenNoOtherHostIsMet) {
  Membership elsewhere = membership_of_rank(0, 2, free_port());
  elsewhere.host = "192.0.2.1";
  elsewhere.here = false;
  const Credentials none{"1.0"};
  EXPECT_THAT(Hub::gather(elsewhere, none, 10s).error().message,
              HasSubstr("ELBOWROOM_TOKEN: not set, expected a token of all ranks"));
  elsewhere.rank = 1;
  EXPECT_THAT(Spoke::join(elsewhere, none, 10s).error().message, HasSubstr("rank 0 is on 192.0.2.1"));
}

}  // namespace
}  // namespace elbowroom::ranks
