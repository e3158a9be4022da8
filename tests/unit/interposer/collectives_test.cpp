#include "interposer/core/collectives.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "interposer/core/program_order.hpp"

namespace elbowroom::interposer {
namespace {

constexpr ContextId kOnlyContext = 0x1000;
constexpr World kEager{0, 0};

CollectiveFacts timed(std::uint64_t start, std::uint64_t end) {
  CollectiveFacts facts;
  facts.expected = {start, end};
  facts.duration_known = true;
  return facts;
}

/// Streams without an order between them, unless a collective is added behind what another stream holds.
struct Streams {
  explicit Streams(std::size_t count) : before(count), chain(count) {}

  Serial add(std::size_t stream, const CollectiveFacts& facts, const World& world = kEager) {
    return all->add(facts, world, kOnlyContext, before[stream], chain[stream], 0);
  }
  [[nodiscard]] std::vector<Serial> beside(const Before& of, const Span& span, const World& world = kEager) const {
    Beside found(*all, all->chains_of(world), of, span);
    std::vector<Serial> serials;
    for (Serial serial = found.next(); serial != 0; serial = found.next()) { serials.push_back(serial); }
    return serials;
  }

  std::unique_ptr<Collectives> all = std::make_unique<Collectives>();
  std::vector<Before> before;
  std::vector<std::uint8_t> chain;
};

TEST(Collectives, AreBesideWhatTheyOverlapInTime) {
  Streams streams(1);
  streams.add(0, timed(100, 200));
  EXPECT_TRUE(streams.beside({}, {50, 100}).empty());
  EXPECT_EQ(streams.beside({}, {50, 101}), std::vector<Serial>{1});
  EXPECT_EQ(streams.beside({}, {199, 300}), std::vector<Serial>{1});
  EXPECT_TRUE(streams.beside({}, {200, 300}).empty());
  EXPECT_EQ(streams.beside({}, {50}), std::vector<Serial>{1}) << "what begins earlier may last until it comes";
  EXPECT_TRUE(streams.beside({}, {200}).empty()) << "begins when the collective has ended";
  EXPECT_TRUE(streams.beside(streams.before[0], {}).empty()) << "is ordered behind it";
}

TEST(Collectives, OfUnknownDurationAreNeverRuledOut) {
  Streams streams(1);
  streams.add(0, CollectiveFacts{});
  streams.add(0, timed(100, 200));
  EXPECT_EQ(streams.beside({}, {900, 901}), std::vector<Serial>{1}) << "the first may last for ever";
  EXPECT_EQ(streams.beside({}, {150, 160}), (std::vector<Serial>{2, 1})) << "the youngest first";
}

// Streams of their own chain each; 65 streams that nothing orders are one more than there are chains.
TEST(Collectives, ForgetTheOldestChainWhereTooManyAreUnderWay) {
  Streams streams(kChains + 1);
  for (std::size_t i = 0; i < kChains; ++i) { streams.add(i, CollectiveFacts{}); }
  EXPECT_EQ(streams.all->forgotten(), 0U);
  EXPECT_EQ(streams.beside({}, {}).size(), kChains);
  streams.add(kChains, CollectiveFacts{});
  EXPECT_EQ(streams.all->forgotten(), 1U);
  EXPECT_EQ(streams.all->find(1), nullptr);
  EXPECT_EQ(streams.beside({}, {}).size(), kChains);
}

TEST(Collectives, OfStreamsThatWaitForEachOtherShareAChain) {
  Streams streams(1'000);
  for (std::size_t i = 0; i < streams.before.size(); ++i) {
    if (i > 0) { streams.all->join(streams.before[i], streams.before[i - 1]); }
    streams.add(i, CollectiveFacts{});
  }
  EXPECT_EQ(streams.all->forgotten(), 0U);
  EXPECT_EQ(streams.beside({}, {}).size(), 1'000U);
  EXPECT_EQ(streams.beside(streams.before[499], {}).size(), 500U) << "500 are ordered before, 500 behind";
}

TEST(Collectives, WithdrawnOnesWereNeverThere) {
  Streams streams(1);
  const Serial first = streams.add(0, CollectiveFacts{});
  const Serial middle = streams.add(0, CollectiveFacts{});
  const Serial last = streams.add(0, CollectiveFacts{});
  streams.all->withdraw(middle);
  EXPECT_EQ(streams.beside({}, {}), (std::vector<Serial>{last, first}));
  streams.all->withdraw(last);
  EXPECT_EQ(streams.beside({}, {}), std::vector<Serial>{first});
  EXPECT_EQ(streams.all->find(last), nullptr);
  streams.all->withdraw(first);
  EXPECT_TRUE(streams.beside({}, {}).empty());
}

TEST(Collectives, KnowWhatStandsBetween) {
  Streams streams(2);
  const Serial first = streams.add(0, CollectiveFacts{});
  const Serial second = streams.add(0, timed(0, 1));
  const Serial third = streams.add(0, timed(1, 2));
  EXPECT_FALSE(streams.all->any_between(first, streams.before[1]));
  EXPECT_TRUE(streams.all->any_between(second, streams.before[1]));
  streams.all->finish(first);
  EXPECT_FALSE(streams.all->any_between(second, streams.before[1]));
  EXPECT_TRUE(streams.all->any_between(third, streams.before[1]));
}

// Of 1,000 blocks nothing is left when that one is over, though the chain never is.
TEST(Collectives, KnowHowManyBlocksMayRunBesideOne) {
  Streams streams(2);
  const auto of = [](std::uint32_t blocks) {
    CollectiveFacts facts;
    facts.blocks = blocks;
    return facts;
  };
  const Serial large = streams.add(0, of(1'000));
  streams.add(0, of(24));
  const Serial asked = streams.add(1, of(8));
  const auto beside = [&] { return streams.all->blocks_beside(*streams.all->find(asked), {}); };
  EXPECT_EQ(beside(), 1'000U) << "one of a chain at a time";
  EXPECT_EQ(streams.all->blocks_beside(*streams.all->find(asked), streams.before[0]), 0U)
      << "what is ordered before is over by then";
  streams.all->finish(large);
  streams.add(0, of(16));
  EXPECT_EQ(beside(), 24U);
}

// A receive for a peer that is late, 8,192 collectives on another stream, and one behind the receive.
TEST(Collectives, KnowThatAForgottenOneIsNotOver) {
  Streams streams(3);
  CollectiveFacts receive;
  receive.blocks = 4;
  const Serial late = streams.add(0, receive);
  for (std::size_t i = 0; i < Collectives::kKept; ++i) { streams.add(1, timed(i, i + 1)); }
  EXPECT_EQ(streams.all->find(late), nullptr) << "its place was needed";
  EXPECT_TRUE(streams.all->any_unfinished(streams.before[0]));
  streams.all->finish(streams.before[1]);  // of the others each is known to be over
  const Serial beside = streams.add(2, timed(0, 1));
  EXPECT_EQ(streams.all->blocks_beside(*streams.all->find(beside), {}), 4U);
  EXPECT_EQ(streams.all->blocks_beside(*streams.all->find(beside), streams.before[0]), 0U);
  EXPECT_FALSE(streams.all->any_between(beside, {}));
  const Before after_receive = streams.before[0];
  const Serial behind = streams.add(0, timed(0, 1));
  EXPECT_TRUE(streams.all->any_between(behind, {}));
  EXPECT_FALSE(streams.all->any_between(behind, after_receive)) << "whoever waits for the receive waits for it anyway";
  streams.all->finish(after_receive);
  EXPECT_FALSE(streams.all->any_between(behind, {}));
  EXPECT_EQ(streams.all->blocks_beside(*streams.all->find(beside), {}), 0U);
}

// Until the collective is over, whatever becomes of those behind it.
TEST(Collectives, HaveBesideThemWhatHoldsItsPlaceBehindOne) {
  Streams streams(3);
  CollectiveFacts receive;
  receive.blocks = 4;
  const Serial late = streams.add(0, receive);
  const Serial asked = streams.add(2, timed(0, 1));
  const auto beside = [&] { return streams.all->blocks_beside(*streams.all->find(asked), {}); };
  streams.all->hold(streams.before[1], 100, 0);
  EXPECT_EQ(beside(), 4U) << "behind nothing";
  const Before behind_late = streams.before[0];
  const Serial failed = streams.add(0, receive);
  streams.all->hold(behind_late, 10, 0);
  EXPECT_EQ(beside(), 14U);
  streams.all->withdraw(failed);
  EXPECT_EQ(beside(), 14U);
  streams.add(0, receive);
  EXPECT_EQ(beside(), 14U);
  streams.all->hold(behind_late, ~std::uint64_t{0}, 0);
  EXPECT_EQ(beside(), kUnknownBlocks);
  streams.all->finish(streams.before[0]);
  EXPECT_EQ(beside(), 0U);
  EXPECT_EQ(streams.all->find(late), nullptr);
}

TEST(Collectives, HaveBesideThemWhatHoldsItsPlaceBehindAForgottenOne) {
  Streams streams(3);
  CollectiveFacts receive;
  receive.blocks = 4;
  streams.add(0, receive);
  streams.all->hold(streams.before[0], 10, 0);
  for (std::size_t i = 0; i < Collectives::kKept; ++i) { streams.add(1, timed(i, i + 1)); }
  streams.all->finish(streams.before[1]);
  const Serial asked = streams.add(2, timed(0, 1));
  EXPECT_EQ(streams.all->blocks_beside(*streams.all->find(asked), {}), 14U);
  streams.all->hold(streams.before[0], 20, 0);
  EXPECT_EQ(streams.all->blocks_beside(*streams.all->find(asked), {}), 34U);
}

// Nobody may stand where the forgotten one stood and be taken to be behind it.
TEST(Collectives, LeaveTheChainOfAForgottenOneToWhatIsBehindIt) {
  Streams streams(3);
  streams.add(0, CollectiveFacts{});
  for (std::size_t i = 0; i < Collectives::kKept; ++i) { streams.add(1, timed(i, i + 1)); }
  streams.all->finish(streams.before[1]);
  const Serial other = streams.add(2, CollectiveFacts{});
  EXPECT_NE(streams.chain[2], streams.chain[0]);
  EXPECT_FALSE(streams.all->any_between(other, {}));
  streams.add(0, CollectiveFacts{});
  EXPECT_EQ(streams.chain[0], 0U) << "its own stream's next one is behind it";
}

TEST(Collectives, OfACaptureAreOverWithItThoughForgotten) {
  Streams streams(2);
  const World captured{0, 7};
  streams.add(0, CollectiveFacts{}, captured);
  for (std::size_t i = 0; i < Collectives::kKept; ++i) { streams.add(1, timed(i, i + 1)); }
  EXPECT_TRUE(streams.all->any_unfinished(streams.before[0]));
  streams.all->finish_capture(7);
  EXPECT_FALSE(streams.all->any_unfinished(streams.before[0]));
}

// With one more than there are chains two that nothing orders stand in one.
TEST(Collectives, SayWhenTheOrderOfAChainMeansNothing) {
  Streams streams(kChains + 1);
  for (std::size_t i = 0; i < kChains; ++i) { streams.add(i, CollectiveFacts{}); }
  EXPECT_FALSE(streams.all->mixed());
  streams.add(kChains, CollectiveFacts{});
  EXPECT_TRUE(streams.all->mixed());
  for (std::size_t i = 1; i <= kChains; ++i) { streams.all->finish(streams.before[i]); }
  EXPECT_TRUE(streams.all->mixed()) << "the first may not be over";
  streams.all->finish_all();
  EXPECT_FALSE(streams.all->mixed());
}

/// Some thousand collectives on a few streams, some of unknown duration, some finished, some withdrawn, and what a look at each
/// says.
RC_GTEST_PROP(Collectives, AreFoundAsBySearchingThroughAll, (std::uint32_t seed)) {
  std::mt19937 random(seed);
  const auto below = [&](std::uint64_t limit) { return static_cast<std::uint64_t>(random() % limit); };
  constexpr std::size_t kStreams = 4;
  Streams streams(kStreams);
  std::vector<std::uint64_t> clocks(kStreams, 1);
  const std::uint64_t rarely_unknown = 2 + below(400);
  const std::size_t count = 1 + below(3'000);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t stream = below(kStreams);
    if (below(50) == 0) {
      const std::size_t other = below(kStreams);
      streams.all->join(streams.before[stream], streams.before[other]);
      clocks[stream] = std::max(clocks[stream], clocks[other]);
    }
    const std::uint64_t start = clocks[stream] + below(20);
    clocks[stream] = start + 1 + below(30);
    CollectiveFacts facts = timed(start, clocks[stream]);
    if (below(rarely_unknown) == 0) {
      facts.duration_known = false;
      facts.expected.end = start;
    }
    const Serial serial = streams.add(stream, facts);
    if (below(100) == 0) { streams.all->withdraw(serial - static_cast<Serial>(below(std::min<std::size_t>(serial, 3)))); }
    if (below(1'000) == 0) { streams.all->finish(streams.before[below(kStreams)]); }
  }
  for (int question = 0; question < 20; ++question) {
    const Before& before = question % 2 == 0 ? Before{} : streams.before[below(kStreams)];
    const std::uint64_t start = below(*std::max_element(clocks.begin(), clocks.end()) + 10);
    const Span span{start, question % 5 == 0 ? Span{}.end : start + 1 + below(100)};
    std::vector<Serial> wanted;
    for (auto serial = static_cast<Serial>(count); serial > 0; --serial) {
      const Collective* collective = streams.all->find(serial);
      if (collective == nullptr || serial <= before[collective->chain]) { continue; }
      const Interval& when = collective->expected;
      if (!collective->duration_known || (span.start < when.end && when.start < span.end)) { wanted.push_back(serial); }
    }
    RC_ASSERT(streams.beside(before, span) == wanted);
  }
}

// Streams were not followed for a time, in which some event may have been recorded behind a collective.
TEST(ProgramOrder, AfterARestAnUnknownEventMayHoldAnything) {
  const auto order = std::make_unique<ProgramOrder>();
  Stream* first = order->add_stream(0x2000, {kOnlyContext, 0, false});
  Stream* second = order->add_stream(0x3000, {kOnlyContext, 0, false});
  const auto launch_behind_unknown = [&] {
    order->end_launch(order->add_collective(*first, order->open(*first), {}, 0), true);
    order->wait(*second, 0x9000, true, {});
    const Serial behind = order->add_collective(*second, order->open(*second), {}, 0);
    order->end_launch(behind, true);
    return order->may_queue(*order->collectives().find(behind), {});
  };
  EXPECT_FALSE(launch_behind_unknown()) << "an event that was never recorded";
  order->begin_anew();
  EXPECT_TRUE(launch_behind_unknown());
}

TEST(ProgramOrder, NumbersCollectivesAnewWhenTheNumbersAreUsedUp) {
  const auto order = std::make_unique<ProgramOrder>(std::numeric_limits<Serial>::max() - 2);
  constexpr StreamId kStream = 0x2000, kOther = 0x3000;
  constexpr EventId kEvent = 0x9000;
  Stream* stream = order->add_stream(kStream, {kOnlyContext, 0, false});
  Stream* other = order->add_stream(kOther, {kOnlyContext, 0, false});
  const auto launch = [&] {
    const Serial serial = order->add_collective(*stream, order->open(*stream), {}, 0);
    order->end_launch(serial, true);
    return serial;
  };
  const auto record = [&] {
    RecordPoint before;
    before.collectives_taken = order->collectives().taken();
    before.streams_joined = order->streams_joined();
    order->record(kEvent, *stream, before, true);
  };
  launch();
  const Serial last = launch();
  EXPECT_EQ(last, std::numeric_limits<Serial>::max());
  record();
  const SyncPoint point = order->point_of(*stream);
  ASSERT_TRUE(point.any_collective);
  EXPECT_EQ(launch(), 1U);
  EXPECT_EQ(order->era(), 1U);
  order->finish(point);  // what was taken before says nothing of the new numbers
  order->wait(*other, kEvent, true, {});
  EXPECT_TRUE(order->beside(*other, order->open(*other), {}).any());
  record();
  order->wait(*other, kEvent, true, {});
  EXPECT_FALSE(order->beside(*other, order->open(*other), {}).any());
}

}  // namespace
}  // namespace elbowroom::interposer
