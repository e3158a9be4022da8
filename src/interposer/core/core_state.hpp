#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include "interposer/core/ab_trial.hpp"
#include "interposer/core/core.hpp"
#include "interposer/core/fast_path.hpp"
#include "interposer/core/known_choices.hpp"
#include "interposer/core/lanes.hpp"
#include "interposer/core/own_mutex.hpp"
#include "interposer/core/policy.hpp"
#include "interposer/core/ranks_in_step.hpp"
#include "interposer/core/step_marks.hpp"
#include "interposer/core/step_stretch.hpp"
#include "interposer/core/table.hpp"

namespace elbowroom::interposer {

constexpr std::size_t kRefusals = static_cast<std::size_t>(Refusal::count);

constexpr EventSlot slot_of(Serial serial) { return static_cast<EventSlot>(serial % kEventSlots); }

struct AppliedCounts {
  std::uint64_t priority = 0, gate = 0, shape = 0, sm_target = 0;
};

/// All functions of one name that take the same of an SM, whatever module and context they were loaded into.
struct KernelRecord {
  std::uint32_t registers = 0;
  std::uint32_t static_shared = 0;
  std::uint32_t required_cluster = 1;
  std::uint32_t cap = 0;  ///< blocks per SM by a rule for its name; 0: none
  bool communication = false;
  bool waits_for_host = false;
  bool left_alone = false;  ///< communicates by a rule's word alone, or computes as well: no priority, and nothing waits for it
  bool passed_through = false;
  bool event_refused =
      false;  ///< a launch with priority and completion event failed: the event, which drivers learned later, goes first
  // as last launched
  std::uint32_t threads = 0;
  std::uint32_t dynamic_shared = 0;
  std::uint32_t cluster = 1;

  std::uint64_t id = 0;  ///< hash of its whole name, the same in every process
  std::uint64_t launches = 0;
  std::uint64_t in_window = 0;
  AppliedCounts applied;
  std::array<std::uint32_t, kRefusals> refused{};
  std::array<char, 128> name;  ///< the beginning of it

  /// Blocks per cluster of a launch.
  [[nodiscard]] std::uint32_t cluster_of(const LaunchFacts& facts) const { return std::max(facts.cluster, required_cluster); }
};

/// Collectives of one kernel and size class.
struct CollectiveKind {
  std::uint16_t kernel = 0;
  std::uint8_t size_class = 0;  ///< the binary logarithm of its bytes, rounded down; 0: unknown
  std::uint64_t launches = 0;
};

struct Function {
  std::uint16_t kernel = 0;
  std::uint32_t loaded = 0;  ///< generation of modules in which the handle had this meaning
};

struct Totals {
  std::uint64_t launches = 0;
  std::uint64_t at_rest = 0;
  std::uint64_t graph_launches = 0;
  std::uint64_t in_window = 0;
  std::uint64_t in_order_only = 0;
  std::uint64_t relaunched = 0;
  AppliedCounts applied;
  std::array<std::uint64_t, kRefusals> refused{};
};

constexpr std::size_t kMaxKernels = 1024;

/// Which launch a ticket names.
struct TicketFields {
  bool collective = false;
  bool priority = false, gate = false, shape = false;
  std::uint16_t kernel = 0;
  Serial serial = 0;  ///< of a collective, or of the one that the launch waits for
};
Ticket pack(const TicketFields& fields);
TicketFields unpack(Ticket ticket);

inline constexpr int kMostQuestions = 3;  ///< to the driver, about end events at one launch

/// A collective whose events show whether the driver tells of begins.
struct WatchedBegin {
  Serial serial = 0;  ///< 0: none
  Serial next = 0;    ///< which may be watched: each that shows nothing doubles it
  bool ready = false;
};

/// Everything that was learned.
struct Knowledge {
  std::uint32_t modules = 1;  ///< generation
  Controls active;
  bool several_ranks = false;  ///< or an unknown number of them launched a collective together
  /// A cooperative launch was seen, or a cluster above four: neither finds room beside many blocks of high priority.
  bool no_priority = false;
  Totals totals;
  Lanes lanes;
  std::array<std::uint8_t, kEventSlots> waiting{};  ///< launches that are about to wait for the slot's event
  std::array<bool, kEventSlots> recording{};        ///< whether the slot's end event is about to be recorded
  FixedTable<Function, 8192> functions;
  FixedTable<std::uint16_t, 2 * kMaxKernels> kernel_by_name;  ///< and by footprint
  std::array<KernelRecord, kMaxKernels>
      kernels{};  ///< the first stands for kernels that cannot be told apart, and is passed through
  std::size_t kernel_count = 1;
  FixedTable<CollectiveKind, 512> kinds;
  FixedTable<std::uint32_t, 512> residency;  ///< blocks per SM, of a kernel with a block and dynamic shared memory, on a device
  Text choices;                              ///< of earlier runs
  std::uint32_t library = 0;                 ///< version of the communication library; 0: not seen
  decltype(DeviceInfo::name) model{};        ///< of the first device
  bool models_differ = false;                ///< some device is of another
  std::array<DeviceInfo, kMaxDevices> devices{};
  std::array<DeviceNames, kMaxDevices> device_names{};  ///< those of the rules that each has
  std::uint64_t devices_known = 0;                      ///< bit per device
  bool begins_seen = false;                             ///< a begin event passed before the end of its collective
  WatchedBegin watched;
  StepMarks steps;
  StepStretches stretches;
  AbTrial trial;
  RanksInStep ranks;                                  ///< who tries and chooses the arms of `trial`
  std::uint64_t next_ask_ns = 0;                      ///< when ends are asked for again
  std::uint64_t step = 0;                             ///< number of the last one that began
  AbTrial::State compared = AbTrial::State::waiting;  ///< of the controls, here or by whom this process follows
  bool resting = false;                               ///< the program runs as it is, between steps that are counted
  std::array<std::uint16_t, kMaxKernels> report_order{};

  /// That blocks of the stream can run on; 0: not known.
  [[nodiscard]] std::uint32_t sms_of(const Stream& stream) const {
    return stream.info.sms != 0 ? stream.info.sms : devices[static_cast<std::size_t>(stream.info.device)].sms;
  }
  void count_refusal(KernelRecord& kernel, Refusal refusal) {
    ++kernel.refused[static_cast<std::size_t>(refusal)];
    ++totals.refused[static_cast<std::size_t>(refusal)];
  }
};

struct CoreState {
  /// The lock of the core while in scope.
  class Hold;

  CoreState(const Rules& the_rules, const Platform& the_platform, FastPath& fast);

  const Rules rules;
  const Platform platform;
  OwnMutex mutex;
  std::atomic<unsigned> captures{0};
  std::atomic<bool> times_ends{false};  ///< until a collective is watched
  std::atomic<bool> follows_order{false};
  FastPath& fast_path;
  Knowledge known;

  /// Function handles may now mean something else.
  void forget_functions();
  [[nodiscard]] bool has_several_ranks() const {
    return known.several_ranks || (platform.ranks.several != nullptr && platform.ranks.several());
  }
  /// Of the device that the stream is on; a device of which nothing is known is one of all.
  [[nodiscard]] DeviceNames names_on(const Stream& stream) const {
    return known.device_names[static_cast<std::size_t>(stream.info.device)] | kEveryDevice;
  }

  // Look-ups ask the platform about what is new, with the lock released meanwhile: pointers into tables must be taken after the
  // last one.
  Stream& meet_stream(StreamId stream, Hold& hold);
  void meet_device(std::int32_t device, Hold& hold);
  /// Index of the kernel; 0 where it is unknown.
  std::uint16_t meet_function(FunctionId function, Hold& hold);
  std::uint32_t meet_residency(const LaunchFacts& facts, std::uint16_t kernel, std::int32_t device, Hold& hold);

  /// Blocks per SM that the rules leave the launch, by its kernel's name or footprint; 0: no rule is for it, or no cap is applied.
  [[nodiscard]] std::uint32_t cap_of(const KernelRecord& kernel, const LaunchFacts& facts, const Stream& stream) const;
  Decision decide_collective(const LaunchFacts& facts, std::uint16_t kernel, Hold& hold);
  /// Of work that may wait for other ranks, the host or another process, with that many blocks.
  Decision decide_unknown(StreamId stream, std::uint32_t blocks, Hold& hold);
  Decision decide_compute(const LaunchFacts& facts, std::uint16_t kernel, Hold& hold);
  /// That the end event of the collective is recorded now, by the caller; kNoEvent: another call is about to record it.
  EventSlot reserve_end(Serial serial) {
    return std::exchange(known.recording[slot_of(serial)], true) ? kNoEvent : slot_of(serial);
  }
  /// Enters its lane. The ticket is 0 where no lane is left.
  Ticket enter(Stream& stream, const CollectiveFacts& facts, TicketFields fields);
  /// What launches ask about depends on the controls and on the collectives that have not ended.
  void publish();
  /// For a collective that is about to enter: asks for ends that nobody can ask for afterwards, or that leave a lane free.
  void make_room(StreamId stream, Hold& hold);
  /// Asks for the end of lanes' newest collectives, now and then.
  void refresh(std::uint64_t now_ns, Hold& hold);
  /// What counts launches of the fast path, for FastPath.
  auto counted() {
    return [this](std::uint16_t kernel, std::uint64_t launches) {
      known.kernels[kernel].launches += launches;
      known.totals.launches += launches;
      known.totals.at_rest += known.resting ? launches : 0;
    };
  }
  /// For a product that is about to be enqueued; nothing for a stream that was never met.
  SmTarget sm_target(StreamId stream, const Product& product);
  [[nodiscard]] bool sets_targets() const { return known.active.sm_target; }
  /// Of the controls.
  [[nodiscard]] unsigned arm_in_force() const;
  void put_in_force();
  /// What an earlier run settled for where collectives repeat as they do now.
  [[nodiscard]] std::optional<unsigned> remembered_arm() const;
  /// The number of the step that begins with this collective; 0: none does.
  std::uint64_t note_collective(std::uint64_t signature, std::uint64_t host_time_ns);
  /// At rest no step is timed but those of a trial.
  [[nodiscard]] std::uint64_t timed(std::uint64_t step) const {
    return known.resting && known.trial.state() != AbTrial::State::trying ? 0 : step;
  }
  void refuse(KernelRecord& kernel, Decision& decision, Refusal refusal);

 private:
  [[nodiscard]] RankStanding standing() const {
    return platform.ranks.standing == nullptr ? RankStanding{} : platform.ranks.standing();
  }
  bool takes_half(StreamId stream, const CollectiveFacts& facts, std::uint64_t now_ns, Hold& hold);
  Refusal decide_gate(const LaunchFacts& facts, StreamId stream, Serial& waits_for, Hold& hold);
  Refusal ask_gate(const LaunchFacts& facts, const Stream& stream, const Collective& collective, Serial& missing);
  bool ask_end(Serial serial, Hold& hold);
  /// True: the device was seen to tell of a begin before an end. Otherwise this collective may be watched.
  bool tells_begins(const Collective& collective, Hold& hold);
  void read_begin(Hold& hold);
  void ask_all_ends(Hold& hold);
  StepMarks::Mark count_step(std::uint64_t signature, std::uint64_t host_time_ns);
  void find_step();
  void lose_step();
  void begin_step();
  void begin_trial();
  void tell_ranks();
  [[nodiscard]] AbTrial::State comparison() const;
  std::uint16_t add_kernel(const FunctionInfo& info);
  std::uint16_t find_or_add_kernel(const FunctionInfo& info);
  void begin_or_end_rest(bool may_begin);
};

class CoreState::Hold {
 public:
  explicit Hold(CoreState& state) : lock_(state.mutex) {}
  void release() { lock_.unlock(); }
  void take() { lock_.lock(); }

 private:
  std::unique_lock<OwnMutex> lock_;
};

}  // namespace elbowroom::interposer
