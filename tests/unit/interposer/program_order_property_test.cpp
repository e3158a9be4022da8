#include <gtest/gtest.h>

#include <array>
#include <iterator>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "fake_platform.hpp"
#include "order_oracle.hpp"

namespace elbowroom::interposer {
namespace {

// Random programs on two devices and three contexts: streams that are created, destroyed and created again under the same handle,
// default streams, events that are recorded again, seen or not, and destroyed, host synchronisation, captures that draw other
// streams in, graphs. Each call goes to the core and to the oracle; calls that the driver would refuse go to neither. All durations
// are unknown, so that order alone decides.

// A sanitizer takes ten times as long.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ELBOWROOM_TEST_SLOWED
#endif
#endif
#if defined(ELBOWROOM_TEST_SLOWED)
constexpr int kPrograms = 1'500;
#else
constexpr int kPrograms = 10'000;
#endif
constexpr int kCalls = 40;

struct Counts {
  int launches = 0, in_window = 0, captured = 0, collectives = 0;
};

class RandomProgram {
 public:
  RandomProgram(Core& core, FakePlatform& fake, std::uint64_t seed) : core_(core), fake_(fake), random_(seed) {
    fake_.streams.clear();
    for (std::size_t i = 0; i < kContexts.size(); ++i) {
      const auto device = static_cast<std::int32_t>(i % 2);
      add_stream(legacy_stream(kContexts[i]), {kContexts[i], device, true});
      add_stream(per_thread_stream(kContexts[i], 0), {kContexts[i], device, true});
      add_stream(per_thread_stream(kContexts[i], 1), {kContexts[i], device, true});
    }
  }
  ~RandomProgram() {
    for (const EventId event : kEvents) { core_.on_event_destroy(event); }
    for (const ContextId context : kContexts) {
      core_.on_synchronized(core_.context_point(context), 1);
      core_.on_context_destroy(context);
    }
  }
  RandomProgram(const RandomProgram&) = delete;
  RandomProgram& operator=(const RandomProgram&) = delete;

  void run(Counts& counts) {
    for (int i = 0; i < kCalls && !testing::Test::HasFailure(); ++i) { call(counts); }
  }

 private:
  static constexpr std::array<ContextId, 3> kContexts = {0x1000, 0x2000, 0x3000};
  static constexpr std::array<StreamId, 5> kHandles = {0x10000, 0x20000, 0x30000, 0x40000, 0x50000};
  static constexpr std::array<EventId, 5> kEvents = {0x100, 0x200, 0x300, 0x400, 0x500};

  struct Call {
    const char* what;
    std::uint64_t a, b;
  };

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  void log(const char* what, std::uint64_t a = 0, std::uint64_t b = 0) { calls_.push_back({what, a, b}); }
  [[nodiscard]] std::string listing() const {
    std::ostringstream text;
    for (const Call& call : calls_) { text << call.what << std::hex << " 0x" << call.a << " 0x" << call.b << "\n"; }
    return text.str();
  }
  void add_stream(StreamId id, const StreamInfo& info) {
    fake_.streams[id] = info;
    oracle_.streams[id] = {info, {}, {}, 0};
  }
  StreamId some_stream() {
    auto at = oracle_.streams.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(below(oracle_.streams.size())));
    return at->first;
  }
  /// The legacy stream is refused while a stream that it would wait for is being captured.
  bool usable(StreamId id) {
    if (!is_legacy_stream(id)) { return true; }
    for (const auto& [other, stream] : oracle_.streams) {
      if (stream.info.context == oracle_.streams.at(id).info.context && stream.info.blocking && oracle_.capturing(other)) {
        return false;
      }
    }
    return true;
  }

  void call(Counts& counts) {
    const std::uint64_t dice = below(100);
    const StreamId stream = some_stream();
    const EventId event = kEvents[below(kEvents.size())];
    if (dice < 38) {
      if (usable(stream)) { launch(stream, dice < 14, counts); }
    } else if (dice < 53) {
      if (usable(stream)) { record(event, stream); }
    } else if (dice < 71) {
      wait(stream, event);
    } else if (dice < 77) {
      toggle(kHandles[below(kHandles.size())]);
    } else if (dice < 80) {
      synchronize_stream(stream);
    } else if (dice < 83) {
      synchronize_event(event);
    } else if (dice < 84) {
      log("finish context", oracle_.streams.at(stream).info.context);
      core_.on_synchronized(core_.context_point(oracle_.streams.at(stream).info.context), 1);
      oracle_.finish_context(oracle_.streams.at(stream).info.context);
    } else if (dice < 90) {
      capture(stream);
    } else if (dice < 93) {
      if (usable(stream)) { graph(stream); }
    } else if (dice < 96) {
      forget(event);
    } else if (is_legacy_stream(stream) && usable(stream)) {
      log("copy on", stream);
      core_.on_stream_operation(stream, core_.before_operation());
      oracle_.operation(stream);
    }
  }

  void launch(StreamId stream, bool collective, Counts& counts) {
    log(collective ? "collective on" : "compute on", stream);
    LaunchFacts facts;
    facts.stream = stream;
    facts.function = collective ? kAllReduce : kGemm;
    facts.host_time_ns = 1;
    const Decision decision = core_.on_launch(facts);
    core_.on_launched(decision.ticket, LaunchOutcome::ok);
    const OrderOracle::Node node = oracle_.operation(stream);
    ++counts.launches;
    counts.captured += decision.captured ? 1 : 0;
    EXPECT_EQ(decision.captured, oracle_.capturing(stream)) << listing();
    if (collective) {
      ++counts.collectives;
      oracle_.collective(stream, node);
      return;
    }
    counts.in_window += decision.in_window ? 1 : 0;
    EXPECT_EQ(decision.in_window, oracle_.in_window(stream, node)) << listing();
  }

  void graph(StreamId stream) {
    // A captured launch of a graph is a node of the other graph; what that one holds is counted there.
    if (oracle_.capturing(stream)) { return; }
    log("graph on", stream);
    core_.after_graph(core_.on_graph_launch(stream, {1, 1}, 1), true);
    oracle_.collective(stream, oracle_.operation(stream));
  }

  void record(EventId event, StreamId stream) {
    log("record", event, stream);
    core_.on_event_record(event, stream, core_.before_event_record(event));
    oracle_.record(event, stream);
  }

  /// An event that is destroyed or recorded unseen says nothing any more. Where nobody says which one it is, only those of captures
  /// do.
  void forget(EventId event) {
    const std::uint64_t how = below(3);
    log(how == 0 ? "destroy event" : how == 1 ? "record unseen" : "record some unseen", event);
    if (how == 0) {
      core_.on_event_destroy(event);
    } else {
      core_.before_unseen_record(how == 1 ? event : kSomeEvent);
      core_.after_unseen_record(how == 1 ? event : kSomeEvent);
    }
    for (const EventId each : kEvents) {
      const bool is_eager = oracle_.recorded(each) && oracle_.capture_of(each) == 0;
      if (how == 2 ? is_eager : each == event) { oracle_.forget_event(each); }
    }
  }

  void wait(StreamId stream, EventId event) {
    if (!usable(stream)) { return; }
    if (oracle_.recorded(event)) {
      const int capture = oracle_.capture_of(event);
      const bool active = oracle_.is_active(capture);
      if (capture != 0 && (!active || is_legacy_stream(stream))) { return; }
      if (oracle_.capturing(stream) && oracle_.streams.at(stream).capture != capture) { return; }
    }
    log("wait", stream, event);
    core_.on_stream_wait(stream, event, core_.before_wait(event));
    oracle_.wait(stream, event);
  }

  void toggle(StreamId handle) {
    if (oracle_.streams.contains(handle)) {
      if (oracle_.capturing(handle)) { return; }
      log("destroy", handle);
      core_.on_stream_destroy(handle);
      oracle_.destroy(handle);
      return;
    }
    const std::size_t context = below(kContexts.size());
    const StreamInfo info{kContexts[context], static_cast<std::int32_t>(context % 2), below(2) == 0};
    log(info.blocking ? "create blocking" : "create non-blocking", handle, info.context);
    add_stream(handle, info);
    if (below(2) == 0) { core_.on_stream_create(handle, info); }
  }

  void synchronize_stream(StreamId stream) {
    if (oracle_.capturing(stream) || !usable(stream)) { return; }
    log("finish stream", stream);
    core_.on_synchronized(core_.stream_point(stream), 1);
    oracle_.finish_stream(stream);
  }

  void synchronize_event(EventId event) {
    if (oracle_.recorded(event) && oracle_.capture_of(event) != 0) { return; }
    log("finish event", event);
    core_.on_synchronized(core_.event_point(event), 1);
    oracle_.finish_event(event);
  }

  void capture(StreamId stream) {
    if (oracle_.is_origin(stream)) {
      log("end capture", stream);
      core_.on_capture_end(stream);
      oracle_.end_capture(stream);
    } else if (!oracle_.capturing(stream) && !is_legacy_stream(stream)) {
      log("begin capture", stream);
      core_.on_capture_begin(stream);
      oracle_.begin_capture(stream);
    }
  }

  Core& core_;
  FakePlatform& fake_;
  std::mt19937_64 random_;
  OrderOracle oracle_;
  std::vector<Call> calls_;
};

TEST(ProgramOrder, AgreesWithBruteForceOnRandomPrograms) {
  Rules rules = rules_of(Policy::observe);
  rules.timing = false;
  FakePlatform fake;
  fake.names = {{kGemm, "gemm"}, {kAllReduce, "ncclDevKernel_AllReduce"}};
  const auto core = Core::create(rules, fake.platform());
  Counts counts;
  for (int seed = 0; seed < kPrograms && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    RandomProgram(*core, fake, static_cast<std::uint64_t>(seed)).run(counts);
  }
  // The programs must reach what the test is about.
  EXPECT_GT(counts.in_window, counts.launches / 10);
  EXPECT_LT(counts.in_window, counts.launches / 2);
  EXPECT_GT(counts.captured, counts.launches / 50);
  RecordProperty("launches", counts.launches);
  RecordProperty("in_window", counts.in_window);
  RecordProperty("captured", counts.captured);
  RecordProperty("collectives", counts.collectives);
}

}  // namespace
}  // namespace elbowroom::interposer
