#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "fake_platform.hpp"

// Random programs of three threads on two devices and contexts. No gate may hang them, whatever other ranks do. A launch that
// waits for the begin of a collective waits for what that one waits for. None of it may be a collective that has not ended, but one
// that the launch is behind anyway.

namespace elbowroom::interposer {
namespace {

// A sanitizer takes ten times as long.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ELBOWROOM_TEST_SLOWED
#endif
#endif
#if defined(ELBOWROOM_TEST_SLOWED)
constexpr int kPrograms = 1'000;
#else
constexpr int kPrograms = 10'000;
#endif
constexpr int kSteps = 200;
constexpr std::array<ContextId, 2> kContexts = {0x1000, 0x2000};
constexpr std::array<StreamId, 3> kHandles = {0x10000, 0x20000, 0x30000};
constexpr std::array<EventId, 2> kEvents = {0x100, 0x200};

/// What a driver did with the program, by brute force: each operation a node, each order an edge.
class Driven {
 public:
  using Node = std::size_t;

  std::map<StreamId, StreamInfo> streams;

  /// Behind all that the stream holds; kernels on the legacy stream and on those that block for it also wait for each other.
  Node operation(StreamId id) {
    const Node node = edges_.size();
    edges_.push_back(held_[id]);
    held_[id] = {node};
    return node;
  }
  Node kernel(StreamId id) {
    const ContextId context = streams.at(id).context;
    const bool legacy = id == legacy_stream(context);
    std::vector<Node> before = held_[id];
    for (const auto& [other, info] : streams) {
      const bool joins = info.context == context && other != id && (legacy || other == legacy_stream(context));
      if (joins) { before.insert(before.end(), held_[other].begin(), held_[other].end()); }
    }
    held_[id] = before;
    return operation(id);
  }
  /// `known`: it has a begin of its own, which a graph has not.
  void collective(StreamId id, EventSlot begin_event, bool known) {
    const Node begun = kernel(id);
    if (begin_event != kNoEvent) { begins_[{streams.at(id).context, begin_event}] = begun; }
    const Node node = operation(id);
    collectives_.insert(node);
    newest_[streams.at(id).context] = {begun, node, known};
  }
  /// Whether a rule that knows the true order would have a launch wait for the begin of its device's newest collective: that one
  /// has not ended, the launch is not behind its begin yet, and the begin is behind no other collective that the launch is not
  /// behind.
  [[nodiscard]] bool may_gate(StreamId id) {
    const Newest& newest = newest_[streams.at(id).context];
    if (!newest.known || !collectives_.contains(newest.collective)) { return false; }
    const std::vector<bool> before = all_before(held_[id]);
    if (before[newest.begun]) { return false; }
    const std::set<Node> late = unended({newest.begun});
    return std::all_of(late.begin(), late.end(), [&](Node node) { return before[node]; });
  }
  void record(EventId event, StreamId id) { events_[event] = operation(id); }
  void wait(StreamId id, EventId event) {
    if (events_.contains(event)) { held_[id].push_back(events_[event]); }
  }
  void record_end(StreamId id, EventSlot slot) { ends_[{streams.at(id).context, slot}] = operation(id); }
  [[nodiscard]] bool has_ended(ContextId context, EventSlot slot) const {
    const auto found = ends_.find({context, slot});
    return found != ends_.end() && unended({found->second}).empty();
  }
  /// A collective that stands behind no other one is joined by its peers. False: all have ended.
  bool end_one(std::uint64_t dice) {
    std::vector<Node> may;
    for (const Node collective : collectives_) {
      if (unended(edges_[collective]).empty()) { may.push_back(collective); }
    }
    if (may.empty()) { return false; }
    collectives_.erase(may[dice % may.size()]);
    return true;
  }
  /// The gate; whether the launch may wait for the begin.
  bool gate(StreamId id, EventSlot slot) {
    const Node begun = begins_.at({streams.at(id).context, slot});
    const std::set<Node> late = unended({begun});
    const std::set<Node> own = unended(held_[id]);
    held_[id].push_back(begun);
    return std::includes(own.begin(), own.end(), late.begin(), late.end());
  }
  void forget(StreamId id) {
    streams.erase(id);
    held_.erase(id);
  }

 private:
  struct Newest {
    Node begun = 0;
    Node collective = 0;
    bool known = false;
  };

  [[nodiscard]] std::vector<bool> all_before(std::vector<Node> open) const {
    std::vector<bool> seen(edges_.size());
    while (!open.empty()) {
      const Node node = open.back();
      open.pop_back();
      if (seen[node]) { continue; }
      seen[node] = true;
      open.insert(open.end(), edges_[node].begin(), edges_[node].end());
    }
    return seen;
  }
  [[nodiscard]] std::set<Node> unended(const std::vector<Node>& from) const {
    const std::vector<bool> seen = all_before(from);
    std::set<Node> found;
    std::copy_if(collectives_.begin(), collectives_.end(), std::inserter(found, found.end()),
                 [&](Node node) { return seen[node]; });
    return found;
  }

  std::vector<std::vector<Node>> edges_;  ///< to what comes before
  std::map<StreamId, std::vector<Node>> held_;
  std::set<Node> collectives_;  ///< that have not ended
  std::map<std::pair<ContextId, EventSlot>, Node> begins_, ends_;
  std::map<EventId, Node> events_;
  std::map<ContextId, Newest> newest_;
};

/// Of compute launches.
struct Gates {
  int set = 0;
  int possible = 0;  ///< by a rule that knows the true order, while no collective of the device is under way
  int of_those = 0;  ///< that were set
};

class RandomProgram {
 public:
  explicit RandomProgram(std::uint64_t seed) : random_(seed) {
    fake_.names = {{kGemm, "gemm"}, {kAllReduce, "ncclDevKernel_AllReduce"}};
    add(legacy_stream(kContexts[0]), 0);
    Platform platform = fake_.platform();
    platform.self = this;
    platform.describe_stream = [](void* self, StreamId stream) {
      const auto& streams = static_cast<RandomProgram*>(self)->driven_.streams;
      return streams.contains(stream) ? streams.at(stream) : StreamInfo{kContexts[0]};
    };
    platform.describe_function = [](void* self, FunctionId function) {
      return FunctionInfo{static_cast<RandomProgram*>(self)->fake_.names[function].c_str(), 64, 0, 1};
    };
    platform.describe_device = [](void* self, std::int32_t) { return static_cast<RandomProgram*>(self)->fake_.device; };
    platform.known_choices = nullptr;
    platform.has_ended = [](void* self, ContextId context, std::uint16_t slot) {
      return static_cast<RandomProgram*>(self)->driven_.has_ended(context, slot);
    };
    core_ = Core::create(rules_of(Policy::gate), platform, fake_.fast_path);
  }

  Gates run() {
    for (int i = 0; i < kSteps && !testing::Test::HasFailure(); ++i) {
      now_ns_ += below(30'000);
      auto& thread = threads_[below(threads_.size())];
      if (thread.empty()) { call(thread); }
      const auto step = thread.front();
      thread.pop_front();
      step();
    }
    return gates_;
  }

 private:
  using Thread = std::deque<std::function<void()>>;

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  template <class... Words>
  void log(const Words&... words) {
    ((log_ << words << ' '), ...);
    log_ << '\n';
  }
  void add(StreamId id, std::size_t context) { driven_.streams[id] = {kContexts[context], static_cast<std::int32_t>(context % 2)}; }
  StreamId some_stream() {
    auto at = driven_.streams.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(below(driven_.streams.size())));
    return at->first;
  }
  /// A program destroys no stream that another thread uses.
  bool used(StreamId id) const { return used_.contains(id); }

  // Each call in the steps that another thread may come between: the facts before, the driver's call, the facts behind it.
  void call(Thread& thread) {
    const std::uint64_t dice = below(100);
    const StreamId stream = some_stream();
    const EventId event = kEvents[below(kEvents.size())];
    if (dice < 12) {
      collective(thread, stream, below(12) == 0);
    } else if (dice < 45) {
      compute(thread, stream);
    } else if (dice < 55) {
      record(thread, stream, event);
    } else if (dice < 69) {
      wait(thread, stream, event);
    } else if (dice < 72) {
      toggle(thread, kHandles[below(kHandles.size())]);
    } else if (dice < 73) {
      thread.emplace_back([this] { core_->on_capture_begin(); });
      thread.emplace_back([this] { core_->on_capture_end(); });
    } else {
      thread.emplace_back([this, all = below(3) == 0] {
        while (driven_.end_one(random_()) && all) {}
      });
    }
  }
  void hold(Thread& thread, StreamId stream) {
    used_.insert(stream);
    thread.emplace_back([this, stream] { used_.erase(used_.find(stream)); });
  }

  void collective(Thread& thread, StreamId stream, bool unknown) {
    const Decision decision =
        unknown ? core_->on_unknown(stream, Core::Unknown::graph, now_ns_) : core_->on_launch(facts(kAllReduce, stream));
    log(unknown ? "graph" : "collective", std::hex, stream, "slot", decision.completion_event);
    const bool fails = below(12) == 0;
    const ContextId context = driven_.streams.at(stream).context;
    ++under_way_[context];
    thread.emplace_back([=, this] {
      if (!fails) { driven_.collective(stream, decision.completion_event, !unknown); }
    });
    thread.emplace_back([=, this, &thread] {
      --under_way_[context];
      const EventSlot slot = core_->on_launched(decision.ticket, fails ? LaunchOutcome::failed : LaunchOutcome::ok);
      if (slot == kNoEvent) { return; }
      thread.emplace_front([=, this] { core_->on_end_recorded(decision.ticket, true); });
      thread.emplace_front([=, this] { driven_.record_end(stream, slot); });
    });
    hold(thread, stream);
  }
  void compute(Thread& thread, StreamId stream) {
    const bool possible = !core_->capturing() && under_way_[driven_.streams.at(stream).context] == 0 && driven_.may_gate(stream);
    gates_.possible += possible ? 1 : 0;
    if (fake_.leaves_alone(kGemm, 4'096, stream)) {
      thread.emplace_back([=, this] { driven_.kernel(stream); });
      hold(thread, stream);
      return;
    }
    const Decision decision = core_->on_launch(facts(kGemm, stream));
    log("compute", std::hex, stream, "waits for", decision.wait_on);
    if (decision.wait_on != kNoEvent) {
      ++gates_.set;
      gates_.of_those += possible ? 1 : 0;
      thread.emplace_back([=, this] { EXPECT_TRUE(driven_.gate(stream, decision.wait_on)) << log_.str(); });
    }
    thread.emplace_back([=, this] { driven_.kernel(stream); });
    thread.emplace_back([=, this] { core_->on_launched(decision.ticket, LaunchOutcome::ok); });
    hold(thread, stream);
  }
  void record(Thread& thread, StreamId stream, EventId event) {
    log("record", std::hex, event, "on", stream);
    const RecordMark mark = core_->before_record(event, stream);
    const bool fails = below(12) == 0;
    thread.emplace_back([=, this] {
      if (!fails) { driven_.record(event, stream); }
    });
    thread.emplace_back([=, this] { core_->after_record(event, mark, !fails); });
    hold(thread, stream);
  }
  void wait(Thread& thread, StreamId stream, EventId event) {
    log("wait", std::hex, stream, "for", event);
    const WaitMark mark = core_->before_wait(event);
    thread.emplace_back([=, this] { driven_.wait(stream, event); });
    thread.emplace_back([=, this] { core_->after_wait(stream, event, mark); });
    hold(thread, stream);
  }
  void toggle(Thread& thread, StreamId handle) {
    if (!driven_.streams.contains(handle)) {
      const std::size_t context = below(8) == 0 ? 1 : 0;
      log("create", std::hex, handle);
      add(handle, context);
    } else if (!used(handle)) {
      log("destroy", std::hex, handle);
      const LastEnd last = core_->on_stream_destroy(handle);
      if (last.slot != kNoEvent) {
        driven_.record_end(handle, last.slot);
        core_->on_end_recorded(last.ticket, true);
      }
      driven_.forget(handle);
    }
    thread.emplace_back([] {});
  }
  LaunchFacts facts(FunctionId function, StreamId stream) const {
    LaunchFacts facts;
    facts.function = function;
    facts.stream = stream;
    facts.grid = {function == kGemm ? 4'096U : 24U, 1, 1};
    facts.host_time_ns = now_ns_;
    return facts;
  }

  FakePlatform fake_;
  std::mt19937_64 random_;
  Driven driven_;
  std::unique_ptr<Core> core_;
  std::array<Thread, 3> threads_;
  std::multiset<StreamId> used_;
  std::ostringstream log_;
  std::uint64_t now_ns_ = 1'000'000;
  Gates gates_;
  std::map<ContextId, int> under_way_;  ///< collectives that the driver has not answered for
};

TEST(CoreGates, HangNoRandomProgram) {
  Gates gates;
  for (int seed = 0; seed < kPrograms && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const Gates of_one = RandomProgram(static_cast<std::uint64_t>(seed)).run();
    gates.set += of_one.set;
    gates.possible += of_one.possible;
    gates.of_those += of_one.of_those;
  }
  EXPECT_GT(gates.set, kPrograms / 5) << "the programs must reach what the test is about";
  std::printf("%d gates in %d random programs; of %d that the true order allows %.1f %% are lost\n", gates.set, kPrograms,
              gates.possible, 100.0 - 100.0 * gates.of_those / gates.possible);
}

}  // namespace
}  // namespace elbowroom::interposer
