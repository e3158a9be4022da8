#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "interposer/core/core.hpp"
#include "interposer/core/fast_path.hpp"
#include "interposer/core/lanes.hpp"

namespace elbowroom::interposer {

/// What a driver would answer, and a core that asks it. Ids: kernels from 1 (`function`), streams as described or blocking.
class FakePlatform {
 public:
  std::map<StreamId, StreamInfo> streams;
  std::map<FunctionId, std::string> names;
  DeviceInfo device{132, 233'472, 1'024, 232'448, 128, {"NVIDIA H200"}};
  std::map<FunctionId, std::uint32_t> registers;  ///< of functions that have not 64
  std::uint32_t required_cluster = 1;
  std::uint32_t residency = 8;
  std::string choices;                                 ///< what earlier runs settled for
  RankAgreement ranks;                                 ///< with other processes; none at first
  std::array<std::atomic<bool>, kEventSlots> ended{};  ///< of the end events
  std::atomic<int> function_questions = 0;             ///< asked by any thread
  FastPath fast_path;
  bool watches_begins = false;  ///< whether begins count where they were told alone
  bool tells_begins = false;
  int begins_watched = 0;

  /// The first question of a launch hook.
  [[nodiscard]] bool leaves_alone(FunctionId function, std::uint64_t blocks, StreamId stream) {
    return fast_path.take(function, blocks) || fast_path.take_settled(function, stream);
  }

  [[nodiscard]] Platform platform() {
    Platform made{this,
                  &FakePlatform::describe_stream,
                  &FakePlatform::describe_function,
                  &FakePlatform::describe_device,
                  &FakePlatform::blocks_per_sm,
                  &FakePlatform::known_choices};
    made.ranks = ranks;
    made.has_ended = [](void* self, ContextId, std::uint16_t slot) { return static_cast<FakePlatform*>(self)->ended[slot].load(); };
    if (watches_begins) {
      made.watch_begin = [](void* self, ContextId, std::uint16_t) {
        return ++static_cast<FakePlatform*>(self)->begins_watched > 0;
      };
      made.begin_told = [](void* self, ContextId, std::uint16_t) { return static_cast<FakePlatform*>(self)->tells_begins; };
    }
    return made;
  }

 private:
  static StreamInfo describe_stream(void* self, StreamId stream) {
    const auto& streams = static_cast<FakePlatform*>(self)->streams;
    const auto found = streams.find(stream);
    return found == streams.end() ? StreamInfo{} : found->second;
  }
  static FunctionInfo describe_function(void* self, FunctionId function) {
    auto* fake = static_cast<FakePlatform*>(self);
    ++fake->function_questions;
    const auto found = fake->names.find(function);
    if (found == fake->names.end()) { return {}; }
    const auto registers = fake->registers.find(function);
    return {found->second.c_str(), registers == fake->registers.end() ? 64U : registers->second, 1'024, fake->required_cluster};
  }
  static DeviceInfo describe_device(void* self, std::int32_t /*device*/) { return static_cast<FakePlatform*>(self)->device; }
  static Text known_choices(void* self) {
    const std::string& text = static_cast<FakePlatform*>(self)->choices;
    return {text.data(), text.size()};
  }
  static std::uint32_t blocks_per_sm(void* self, FunctionId /*function*/, std::uint32_t /*threads*/, std::uint32_t /*dynamic*/) {
    return static_cast<FakePlatform*>(self)->residency;
  }
};

constexpr FunctionId kGemm = 1;
constexpr FunctionId kAllReduce = 2;
constexpr FunctionId kAllGather = 3;
constexpr ContextId kContext = 0x1000;
constexpr StreamId kComputeStream = 0x2000;
constexpr StreamId kCommStream = 0x3000;
constexpr StreamId kOtherComputeStream = 0x4000;

inline std::string report_of(Core& core) {
  std::string text;
  core.report(ProcessFacts{},
              {&text, [](void* self, const char* data, std::size_t size) { static_cast<std::string*>(self)->append(data, size); }});
  return text;
}

/// A program on one device with two compute streams and a communication stream, none of which blocks.
class Program {
 public:
  explicit Program(const Rules& rules, RankAgreement ranks = {}, bool watches_begins = false) {
    fake.ranks = ranks;
    fake.watches_begins = watches_begins;
    fake.names = {{kGemm, "nvjet_sm90_gemm"},
                  {kAllReduce, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"},
                  {kAllGather, "ncclDevKernel_AllGather_RING_LL"}};
    for (const StreamId stream : {kComputeStream, kCommStream, kOtherComputeStream}) { fake.streams[stream] = {kContext}; }
    core = Core::create(rules, fake.platform(), fake.fast_path);
  }

  /// A launch at `now_ns` that fills the device; the collective's 24 blocks otherwise.
  [[nodiscard]] LaunchFacts facts(FunctionId function, StreamId stream) const {
    LaunchFacts facts;
    facts.stream = stream;
    facts.function = function;
    facts.grid = {function == kGemm ? 4'096U : 24U, 1, 1};
    facts.block = {512, 1, 1};
    facts.host_time_ns = now_ns;
    return facts;
  }
  Decision launch(FunctionId function, StreamId stream, LaunchOutcome outcome = LaunchOutcome::ok) {
    return launch(facts(function, stream), outcome);
  }
  Decision launch(const LaunchFacts& facts, LaunchOutcome outcome = LaunchOutcome::ok) {
    const Decision decision = core->on_launch(facts);
    tell(decision.ticket, facts.stream, outcome);
    if (decision.step != 0) {
      if (decision.step == step_ + 1) { core->on_step_time(step_, now_ns - step_began_); }
      step_ = decision.step;
      step_began_ = now_ns;
    }
    return decision;
  }
  /// What the hooks do once the driver has answered.
  void tell(Ticket ticket, StreamId stream, LaunchOutcome outcome) {
    const EventSlot slot = core->on_launched(ticket, outcome);
    if (slot == kNoEvent) { return; }
    fake.ended[slot] = false;
    core->on_end_recorded(ticket, true);
    slots_of_[stream].push_back(slot);
  }
  Decision launch_unknown(StreamId stream, Core::Unknown what = Core::Unknown::graph) {
    const Decision begun = core->on_unknown(stream, what, now_ns);
    tell(begun.ticket, stream, LaunchOutcome::ok);
    return begun;
  }
  /// All collectives of the stream end, and the host lives to see it.
  void finish(StreamId stream, std::uint64_t later_ns = 100'000) {
    for (const EventSlot slot : slots_of_[stream]) { fake.ended[slot] = true; }
    slots_of_[stream].clear();
    now_ns += later_ns;
  }
  /// `to` waits for all that `from` holds.
  void order(StreamId from, StreamId to) {
    constexpr EventId kEvent = 0x9000;
    record(kEvent, from);
    wait(to, kEvent);
  }
  void record(EventId event, StreamId stream) const { core->after_record(event, core->before_record(event, stream), true); }
  void wait(StreamId stream, EventId event) const { core->after_wait(stream, event, core->before_wait(event)); }
  [[nodiscard]] std::string report() const { return report_of(*core); }

  FakePlatform fake;
  std::unique_ptr<Core> core;
  std::uint64_t now_ns = 1'000'000'000;

 private:
  std::map<StreamId, std::vector<EventSlot>> slots_of_;
  std::uint64_t step_ = 0;
  std::uint64_t step_began_ = 0;
};

inline Rules rules_of(Policy policy) {
  Rules rules;
  rules.policy = policy;
  return rules;
}

}  // namespace elbowroom::interposer
