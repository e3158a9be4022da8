#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <future>
#include <optional>
#include <string>
#include <thread>

#include "ranks/spoke.hpp"
#include "unit/ranks/peers.hpp"

namespace elbowroom::ranks {
namespace {

TEST(Spoke, SaysThatRankZeroIsNotThere) {
  const int port = free_port();
  const auto spoke = Spoke::join(membership_of_rank(1, 2, port), credentials(), 300ms);
  ASSERT_FALSE(spoke);
  EXPECT_EQ(spoke.error().message,
            "rank 0: not at port " + std::to_string(port) + " of 127.0.0.1 within 0.3 s: Connection refused");
}

/// Rank 0 as it is to a rank that it has taken.
class Leader {
 public:
  explicit Leader(int port) : listener_(*listen_at({std::string(kLoopback), port})) {}

  Channel meet() {
    std::optional<Socket> socket;
    while (!(socket = accept_from(listener_))) { std::this_thread::sleep_for(1ms); }
    Channel channel(*std::move(socket), kLongestHello);
    const auto frame = channel.wait_for_frame(Clock::now() + 10s);
    const auto hello = frame && *frame ? hello_in((*frame)->payload) : std::nullopt;
    EXPECT_TRUE(hello);
    if (!hello) { return channel; }
    const std::string number(16, 'n');
    const Challenge challenge{number, leaders_proof(credentials(), *hello, number)};
    EXPECT_TRUE(channel.send(FrameKind::challenge, bytes_of(challenge), Clock::now() + 1s));
    EXPECT_EQ((*channel.wait_for_frame(Clock::now() + 10s))->payload, ranks_proof(credentials(), *hello, number));
    EXPECT_TRUE(channel.send(FrameKind::accepted, {}, Clock::now() + 1s));
    return channel;
  }

 private:
  Descriptor listener_;
};

TEST(Spoke, GivesSomebodyElseNeitherItsTokenNorItsWork) {
  const int port = free_port();
  const Descriptor listener = *listen_at({std::string(kLoopback), port});
  auto join = std::async(std::launch::async, [&] { return Spoke::join(membership_of_rank(1, 2, port), credentials(), 1s); });
  std::optional<Socket> socket;
  while (!(socket = accept_from(listener))) { std::this_thread::sleep_for(1ms); }
  Channel impostor(*std::move(socket), kLongestHello);
  const auto frame = impostor.wait_for_frame(Clock::now() + 10s);
  ASSERT_TRUE(frame && *frame);
  EXPECT_EQ((*frame)->payload.find(*credentials().token), std::string::npos);
  ASSERT_TRUE(impostor.send(FrameKind::challenge, bytes_of(Challenge{std::string(16, 'n'), "no proof"}), Clock::now() + 1s));
  EXPECT_FALSE(impostor.wait_for_frame(Clock::now() + 10s)) << "the rank proves itself to an impostor";
  EXPECT_EQ(join.get().error().message, "rank 0: not at port " + std::to_string(port) +
                                            " of 127.0.0.1 within 1.0 s: who is met there has another ELBOWROOM_TOKEN");
}

TEST(Spoke, SaysThatRankZeroHasGoneWithoutAWord) {
  const int port = free_port();
  Leader leader(port);
  auto other = echo(membership_of_rank(1, 2, port));
  Channel connection = leader.meet();
  connection = Channel();
  EXPECT_EQ(other.get(), "rank 0: its connection has ended");
}

TEST(Spoke, SaysThatRankZeroIsSilentAndNotWhileItIsAlive) {
  const int port = free_port();
  Leader leader(port);
  auto join = std::async(std::launch::async, [&] { return Spoke::join(membership_of_rank(1, 2, port), credentials(), 1s); });
  Channel connection = leader.meet();
  Result<Spoke> spoke = join.get();
  ASSERT_TRUE(spoke);
  const auto begin = Clock::now();
  auto word = std::async(std::launch::async, [&] { return spoke->next(kNoInterrupts); });
  std::this_thread::sleep_for(2s);
  ASSERT_TRUE(connection.send(FrameKind::alive, "", Clock::now() + 1s));
  EXPECT_EQ(word.get().error().message, "rank 0: not heard of for 5.0 s");
  EXPECT_GE(Clock::now() - begin, 7s);
}

TEST(Spoke, ASignalGivesRankZeroAMomentToEnd) {
  const int port = free_port();
  Leader leader(port);
  auto join = std::async(std::launch::async, [&] { return Spoke::join(membership_of_rank(1, 2, port), credentials(), 10s); });
  Channel connection = leader.meet();
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
  ASSERT_TRUE(connection.send(FrameKind::over, "", Clock::now() + 1s));
  EXPECT_EQ(std::get<End>(*spoke->next(read_end.get())), End::over);
}

TEST(Spoke, IsSilentAboutRankZeroWhereBothAreEnded) {
  const int port = free_port();
  Leader leader(port);
  auto join = std::async(std::launch::async, [&] { return Spoke::join(membership_of_rank(1, 2, port), credentials(), 10s); });
  Channel connection = leader.meet();
  Result<Spoke> spoke = join.get();
  ASSERT_TRUE(spoke);
  std::array<int, 2> signals = {};
  ASSERT_EQ(pipe(signals.data()), 0);
  const Descriptor read_end(signals[0]);
  const Descriptor write_end(signals[1]);
  auto word = std::async(std::launch::async, [&] { return spoke->next(read_end.get()); });
  connection = Channel();
  std::this_thread::sleep_for(50ms);
  ASSERT_EQ(write(write_end.get(), "x", 1), 1);
  const Result<Word> ended = word.get();
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(std::get<End>(*ended), End::interrupted);
}

}  // namespace
}  // namespace elbowroom::ranks
