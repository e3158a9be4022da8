#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>
#include <optional>

#include "interposer/core/ab_trial.hpp"
#include "interposer/core/core.hpp"
#include "interposer/core/durations.hpp"
#include "interposer/core/event_records.hpp"
#include "interposer/core/known_choices.hpp"
#include "interposer/core/known_durations.hpp"
#include "interposer/core/needed_sms.hpp"
#include "interposer/core/own_mutex.hpp"
#include "interposer/core/passing.hpp"
#include "interposer/core/policy.hpp"
#include "interposer/core/program_order.hpp"
#include "interposer/core/ranks_in_step.hpp"
#include "interposer/core/rest.hpp"
#include "interposer/core/step_marks.hpp"
#include "interposer/core/step_stretch.hpp"
#include "interposer/core/table.hpp"

namespace elbowroom::interposer {

constexpr std::size_t kRefusals = static_cast<std::size_t>(Refusal::count);

constexpr EventSlot slot_of(Serial serial) { return static_cast<EventSlot>(serial % kEventSlots); }

struct AppliedCounts {
  std::uint64_t priority = 0, gate = 0, shape = 0, sm_target = 0;
};

/// All functions of one name that take the same of an SM, whatever module and context they were loaded into. What every launch
/// touches is in one cache line. Between two launches a program uses more memory than a core's cache has, and each line comes from
/// afar.
struct alignas(kCacheLine) KernelRecord {
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
  // as last launched by the long way (passing.hpp)
  std::uint32_t threads = 0;
  std::uint32_t dynamic_shared = 0;
  std::uint32_t cluster = 1;

  std::uint64_t id = 0;  ///< hash of its whole name, the same in every process
  std::uint64_t launches = 0;
  std::uint64_t in_window = 0;
  AppliedCounts applied;
  std::array<std::uint32_t, kRefusals> refused{};
  std::array<char, 192> name;  ///< the beginning of it

  /// Blocks per cluster of a launch.
  [[nodiscard]] std::uint32_t cluster_of(const LaunchFacts& facts) const { return std::max(facts.cluster, required_cluster); }
};

/// One kernel with one grid, block and size of data: what duration is learned for.
struct LaunchKind {
  std::uint16_t kernel = 0;
  std::uint8_t size_class = 0;  ///< of a collective: the binary logarithm of its bytes, rounded down; 0: unknown
  bool timing_pending = false;
  std::uint32_t residency_of = 0;  ///< whose `residency` is: the kernel, and where models differ the device; 0: nobody's yet
  std::uint32_t residency = 0;     ///< blocks per SM; 0: unknown
  std::uint64_t launches = 0;
  bool has_company = false;  ///< of a collective: compute was expected beside one
  DurationSamples samples;
};

struct Function {
  std::uint16_t kernel = 0;
  std::uint32_t loaded = 0;  ///< generation of modules in which the handle had this meaning
};

struct Totals {
  std::uint64_t launches = 0;
  std::uint64_t captured = 0;
  std::uint64_t graph_launches = 0;
  std::uint64_t in_window = 0;
  std::uint64_t in_order_only = 0;
  std::uint64_t relaunched = 0;
  std::uint64_t overflowed = 0;  ///< launches left alone because a table was full
  AppliedCounts applied;
  std::array<std::uint64_t, kRefusals> refused{};
};

constexpr std::size_t kMaxKernels = 2048;
constexpr std::size_t kMaxKinds = 16384;
constexpr std::uint64_t kOtherKinds = 2;  ///< keys of kinds are odd

/// Which launch a ticket names.
struct TicketFields {
  bool collective = false;
  bool priority = false, gate = false, shape = false;
  std::size_t kind = 0;
  // of a collective
  Serial serial = 0;
  std::uint32_t era = 0;  ///< of its serial, as much of it as a ticket holds
  // of another launch
  JoinId join = 0;     ///< ProgramOrder::open_launch
  EventSlot slot = 0;  ///< of the event that it waits for, if it is gated
};
constexpr std::uint32_t kEraMask = (1U << 13U) - 1;
Ticket pack(const TicketFields& fields);
TicketFields unpack(Ticket ticket);

/// Everything that was learned. First what every launch touches.
inline constexpr int kMostQuestions = 4;  ///< bounds the cost of a launch beside collectives by the hundred

struct Knowledge {
  std::uint32_t modules = 1, newest_modules = 1;  ///< generations
  TimingAllowance timing_allowance;
  NeededSms needed_sms;
  Controls active;
  bool collectives_seen = false;
  bool several_ranks = false;  ///< or an unknown number of them launched a collective together
  Totals totals;
  ProgramOrder order;
  std::array<std::uint64_t, kMaxDevices> compute_until{};  ///< expected end of all compute, per device
  std::array<std::uint8_t, kEventSlots> waiting{};         ///< launches that are about to wait for the slot's event
  FixedTable<Function, 16384> functions;
  FixedTable<std::uint16_t, 4096> kernel_by_name;  ///< and by footprint
  std::array<KernelRecord, kMaxKernels>
      kernels{};  ///< the first stands for kernels that cannot be told apart, and is passed through
  std::size_t kernel_count = 1;
  FixedTable<LaunchKind, kMaxKinds> kinds;
  KnownDurations durations;
  Text choices;                        ///< of earlier runs
  std::uint32_t library = 0;           ///< version of the communication library; 0: not seen
  decltype(DeviceInfo::name) model{};  ///< of the first device
  bool models_differ = false;          ///< some device is of another
  std::array<DeviceInfo, kMaxDevices> devices{};
  std::array<DeviceNames, kMaxDevices> device_names{};  ///< those of the rules that each has
  std::uint64_t devices_known = 0;                      ///< bit per device
  StepMarks steps;
  StepStretches stretches;
  AbTrial trial;
  RanksInStep ranks;                                  ///< who tries and chooses the arms of `trial`
  std::uint64_t step = 0;                             ///< number of the last one that began
  AbTrial::State compared = AbTrial::State::waiting;  ///< of the controls, here or by whom this process follows
  bool disturbed = false;                             ///< no rest until the next comparison begins or ends
  std::uint64_t published = 0;                        ///< ProgramOrder::published() when a round of the short way last ended by it
  unsigned announced = 0;                             ///< threads about to tell what no rest may sleep through
  std::array<std::uint16_t, kMaxKernels> report_order{};

  Knowledge();
  /// Stands for all kinds that found no room. Nothing is learned of it.
  [[nodiscard]] LaunchKind* other_kinds() { return kinds.find(kOtherKinds); }
  /// A launch beside these collectives is counted, and they have company. Whether it is in a window.
  bool count_beside(KernelRecord& kernel, Beside& beside);
  /// That blocks of the stream can run on; 0: not known.
  [[nodiscard]] std::uint32_t sms_of(const Stream& stream) const {
    return stream.info.sms != 0 ? stream.info.sms : devices[static_cast<std::size_t>(stream.info.device)].sms;
  }
  void count_refusal(KernelRecord& kernel, Refusal refusal) {
    ++kernel.refused[static_cast<std::size_t>(refusal)];
    ++totals.refused[static_cast<std::size_t>(refusal)];
  }
  /// Null where it has none, or none any more.
  [[nodiscard]] Collective* collective_of(const TicketFields& ticket) {
    return is_of_era(ticket) ? order.collectives().find(ticket.serial) : nullptr;
  }
  /// Of a collective whose number means something.
  [[nodiscard]] bool is_of_era(const TicketFields& ticket) const {
    return ticket.collective && ticket.era == (order.era() & kEraMask);
  }
  /// Fetches what a launch will touch, all at once instead of one after the other. Needs no lock: it reads nothing.
  void prefetch(const LaunchFacts& facts) const {
    prefetch_object(*this, &totals.in_order_only + 1);
    functions.prefetch(facts.function);
    order.prefetch(facts.stream);
    __builtin_prefetch(compute_until.data(), 1);
  }
  /// The same once the kernel is known.
  void prefetch(std::uint16_t kernel, std::uint64_t kind) const {
    __builtin_prefetch(&kernels[kernel], 1);
    kinds.prefetch(kind);
  }
};

struct CoreState {
  /// The lock of the core while in scope.
  class Hold;

  CoreState(const Rules& the_rules, const Platform& the_platform);

  /// On huge pages where the system has them: the tables are MiBs of which a launch touches a little everywhere.
  static void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t& tag) noexcept;
  static void operator delete(void* memory, std::align_val_t alignment) noexcept;
  static void operator delete(void* memory, std::align_val_t alignment, const std::nothrow_t& tag) noexcept;

  const Rules rules;
  const Platform platform;
  OwnMutex mutex;
  std::atomic<unsigned> captures{0};
  std::atomic<bool> memory_freed{false};  ///< in a stream's order, ever
  std::atomic<std::uint64_t> host_dependencies{0};
  const bool may_gate = controls(rules, trial_arms(rules) - 1).gate;  ///< in some arm: the last one has all that any has
  std::atomic<bool> collectives_pending{false};                       ///< some may not be over
  std::atomic<Serial> newest_collective{0};
  std::atomic<std::uint64_t> collectives_taken{0};  ///< Collectives::taken()
  std::atomic<std::uint64_t> streams_joined{0};     ///< ProgramOrder::streams_joined()
  std::atomic<std::uint32_t> unplaced{0};           ///< calls under way: Core::begin_unplaced
  EventRecords event_records;
  Rest rest{platform.rest};
  Passing passing{platform.pass};
  Knowledge known;

  void begin();
  /// Function handles may now mean something else.
  void forget_functions();
  [[nodiscard]] bool has_several_ranks() const {
    return known.several_ranks || (platform.ranks.several != nullptr && platform.ranks.several());
  }
  /// What stands where is not known in full: a table overflowed, an order is not followed, or it is about to come.
  [[nodiscard]] bool order_lost() const { return known.order.lost() || unplaced.load(std::memory_order_acquire) != 0; }
  /// Whether products get targets now: where several ranks share them, before the first collective as well.
  [[nodiscard]] bool sets_targets() const { return known.active.sm_target && (!dormant() || has_several_ranks()); }
  /// No collective was ever launched and nothing is being captured: order and time are of no interest.
  [[nodiscard]] bool dormant() const { return !known.collectives_seen && known.order.captures_active() == 0; }

  /// Of the device that the stream is on; a device of which nothing is known is one of all.
  [[nodiscard]] DeviceNames names_on(const Stream& stream) const {
    return known.device_names[static_cast<std::size_t>(stream.info.device)] | kEveryDevice;
  }

  // Look-ups ask the platform about what is new, with the lock released meanwhile: pointers into tables must be taken after the
  // last one.
  /// False: no table has room.
  bool meet_stream(StreamId stream, Hold& hold);
  /// Null where nothing is followed, or no table has room.
  Stream* followed_stream(StreamId stream, Hold& hold);
  void meet_device(std::int32_t device, Hold& hold);
  /// Index of the kernel; 0 where it is unknown.
  std::uint16_t meet_function(FunctionId function, Hold& hold);
  void meet_residency(const LaunchFacts& facts, std::uint16_t kernel, std::uint64_t kind_key, Hold& hold);

  /// Blocks per SM that the rules leave the launch, by its kernel's name or footprint; 0: no rule is for it, or no cap is applied.
  [[nodiscard]] std::uint32_t cap_of(const KernelRecord& kernel, const LaunchFacts& facts);
  Decision decide(const LaunchFacts& facts, std::uint16_t kernel, Hold& hold);
  /// Of a kernel that waits for the host.
  Decision decide_wait(const LaunchFacts& facts, Hold& hold);
  /// From the first one on order and time are of interest.
  void see_collective() {
    if (!known.collectives_seen) { passing.forget_shapes(); }
    known.collectives_seen = true;
  }
  /// Makes the opened operation a collective.
  Serial add_collective(Stream& stream, Order& order, const CollectiveFacts& facts, std::uint64_t now, JoinId join = 0) {
    const Serial serial = known.order.add_collective(stream, order, facts, now, join);
    passing.close();
    collectives_pending.store(true, std::memory_order_relaxed);
    newest_collective.store(serial, std::memory_order_release);
    return serial;
  }
  /// The driver has the launch, or refused it.
  void end_launch(const TicketFields& fields, bool taken) {
    if (known.is_of_era(fields)) { known.order.end_launch(fields.serial, taken); }
    if (!fields.collective) { known.order.end_join(fields.join, taken); }
    if (!taken) { passing.close(); }  // its stream is to publish anew what it had put before itself
    collectives_taken.store(known.order.collectives().taken(), std::memory_order_release);
    streams_joined.store(known.order.streams_joined(), std::memory_order_release);
  }
  /// Makes a graph the stream's next operation.
  TicketFields place_graph(Stream& stream, const GraphFacts& graph, std::uint64_t key, std::uint64_t host_time_ns);
  /// Before the first launch of its kind: with what an earlier run learned of it.
  void begin_kind(LaunchKind& kind, std::uint64_t key);
  /// A launch that was not left alone: a collective, or a function that is met for the first time.
  void pass_at_rest(const LaunchFacts& facts, std::uint16_t kernel, std::uint64_t key);
  /// For a product that is about to be enqueued; nothing for a stream that was never met.
  SmTarget sm_target(StreamId stream, const Product& product, std::uint64_t host_time_ns);
  /// Of the controls.
  [[nodiscard]] unsigned arm_in_force() const;
  void put_in_force();
  /// Whether the times of steps are awaited, by what is compared here.
  [[nodiscard]] bool times_steps() const { return known.ranks.chooses() && known.trial.state() == AbTrial::State::trying; }
  /// What an earlier run settled for where collectives repeat as they do now.
  [[nodiscard]] std::optional<unsigned> remembered_arm() const;
  /// The number of the step that begins with this collective; 0: none does. May begin or end a rest: what was known of the
  /// program's order is gone after that, pointers into it included.
  std::uint64_t note_collective(std::uint64_t signature, std::uint64_t host_time_ns);
  /// Whether no control but the gate could ever act on the kernel.
  [[nodiscard]] bool may_pass_anywhere(const KernelRecord& kernel) const {
    return kernel.cap == 0 && rules.footprint_count == 0 && !kernel.passed_through;
  }
  /// The next launch of the shape on the stream may take the short way, from the thread that launches now; `kind` is null where
  /// none is known.
  void let_pass(const LaunchFacts& facts, std::uint16_t kernel, const LaunchKind* kind, const PassTerms& terms);
  /// What threads have launched by the short way takes its place in the program's order.
  void catch_up() {
    if (passing.any_unread()) { read_passed(); }
  }
  /// Blocking streams may stand behind more than when the round began.
  void end_passing_of_published() {
    if (known.published == known.order.published()) { return; }
    known.published = known.order.published();
    passing.close();
  }
  /// Adds what is known of launches by the short way to their kernels and kinds; nothing but the report needs that sooner.
  void count_all_passed();
  /// The stream waits for the host; the point is that it does no more, where it did not before.
  SyncPoint wait_for_host(Stream& stream) {
    const SyncPoint over = known.order.add_host_action(stream);
    host_dependencies.store(known.order.host_actions_told(), std::memory_order_release);
    return over;
  }
  /// Something on the stream must be followed from here on: ends a rest, which does not come back before the next comparison begins
  /// or ends. Null where no table has room for the stream.
  Stream* disturb(StreamId stream, Hold& hold);
  void refuse(KernelRecord& kernel, Decision& decision, Refusal refusal);

 private:
  [[nodiscard]] RankStanding standing() const {
    return platform.ranks.standing == nullptr ? RankStanding{} : platform.ranks.standing();
  }
  void read_passed();
  class Followed;
  void count_passed(const PassedKind& what, std::uint64_t launches);
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
  void end_rest();
};

class CoreState::Hold {
 public:
  explicit Hold(CoreState& state) : state_(state), lock_(state.mutex) { state.catch_up(); }
  ~Hold() { state_.end_passing_of_published(); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

  void release() { lock_.unlock(); }
  void take() { lock_.lock(); }

 private:
  CoreState& state_;
  std::unique_lock<OwnMutex> lock_;
};

}  // namespace elbowroom::interposer
