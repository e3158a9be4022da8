#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "interposer/core/handles.hpp"
#include "interposer/core/rank_agreement.hpp"
#include "interposer/core/rules.hpp"

/// The decision logic of `elbowroom run`, and all that the hooks say to it. The hooks translate driver calls into facts and carry
/// out the decisions. The core knows no driver function, allocates nothing after `create`, throws nothing, and may be called by
/// every thread at once.
namespace elbowroom::interposer {

struct Extent {
  std::uint32_t x = 1, y = 1, z = 1;
  [[nodiscard]] constexpr std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

/// What the core asks about a stream that it meets for the first time.
struct StreamInfo {
  ContextId context = 0;
  std::int32_t device = 0;  ///< ordinal, 0..63
  std::uint32_t sms = 0;    ///< of its context, which may be given a part of the device; 0: those of the device
};

/// About a function (kernel) met for the first time or after a module was unloaded.
struct FunctionInfo {
  const char* name = nullptr;  ///< as the driver names it; copied (truncated); null: unknown, the function is passed through
  std::uint32_t registers = 0;
  std::uint32_t static_shared = 0;     ///< bytes
  std::uint32_t required_cluster = 1;  ///< blocks per cluster that it was compiled for, which no launch attribute names; 1: none
};

struct DeviceInfo {
  std::uint32_t sms = 0;                    ///< 0: unknown, which refuses shaping and the size test of the gate
  std::uint32_t shared_per_sm = 0;          ///< bytes
  std::uint32_t reserved_per_block = 1024;  ///< bytes
  std::uint32_t max_shared_per_block = 0;   ///< bytes, opted in
  std::uint32_t shared_granule = 128;  ///< bytes; shared memory is given to blocks in such pieces (on sm_80 and later by default)
  std::array<char, run::kLongestDeviceName + 1> name{};  ///< as the driver names it, zero-terminated; empty: unknown
  std::array<char, 24> bus_id{};                         ///< "0000:1b:00.0", zero-terminated; empty: unknown
};

struct Text {
  const char* data = nullptr;
  std::size_t size = 0;
};

/// Questions that only the driver can answer. Asked on first sight (of a stream, function, device, launch shape), never with the
/// core's lock held, on the thread that stated the fact. Any of them may be null: then everything about the thing is unknown.
struct Platform {
  void* self = nullptr;
  StreamInfo (*describe_stream)(void* self, StreamId stream) = nullptr;
  FunctionInfo (*describe_function)(void* self, FunctionId function) = nullptr;
  DeviceInfo (*describe_device)(void* self, std::int32_t device) = nullptr;
  /// Resident blocks per SM as the driver computes them; 0: unknown. Asked only where shaping is considered.
  std::uint32_t (*blocks_per_sm)(void* self, FunctionId function, std::uint32_t threads, std::uint32_t dynamic_shared) = nullptr;
  /// What earlier runs settled for (run/choices.hpp), in the same way.
  Text (*known_choices)(void* self) = nullptr;
  RankAgreement ranks{};  ///< asked and told once a step
  /// Whether the completion of a collective's end event was seen: asked without the lock.
  bool (*has_ended)(void* self, ContextId context, std::uint16_t slot) = nullptr;
  /// Has the device compare when a collective's begin event passes and when its end; false: it cannot, maybe with this one. Null:
  /// begins need not be seen before a launch waits for one. Asked without the lock, and then begin_told once behind the end.
  bool (*watch_begin)(void* self, ContextId context, std::uint16_t slot) = nullptr;
  bool (*begin_told)(void* self, ContextId context, std::uint16_t slot) = nullptr;
};

/// What an intercepted ncclAllReduce & co. said about the kernel that it is about to launch; all zero where nobody was asked.
struct CollectiveNote {
  std::uint64_t bytes = 0;  ///< grouped calls: the sum
  std::uint32_t ranks = 0;
  std::uint32_t library = 0;  ///< its version, as it names itself (22809)

  /// The binary logarithm of the bytes, rounded down; 0 where they are unknown.
  [[nodiscard]] constexpr std::uint8_t size_class() const {
    return static_cast<std::uint8_t>(bytes == 0 ? 0 : std::bit_width(bytes) - 1);
  }
};

struct LaunchFacts {
  StreamId stream = 0;
  FunctionId function = 0;
  Extent grid;
  Extent block;
  std::uint32_t dynamic_shared = 0;  ///< bytes, as the program asked
  std::uint32_t cluster = 1;         ///< blocks per cluster; 1: none
  bool cooperative = false;
  bool sets_priority = false;          ///< the program's own attributes name a priority: the core leaves it
  bool sets_completion_event = false;  ///< the program's own attributes name a launch completion event: it cannot be gated on
  CollectiveNote note;
  std::uint64_t host_time_ns = 0;  ///< a monotonic clock's; equal to or later than every earlier fact of this thread
};

/// Why a control was not applied to a launch.
enum class Refusal : std::uint8_t {
  none,
  queued_collective,   ///< gate: the collective waits behind another one, for which the compute does not
  short_collective,    ///< gate: expected to end too soon to be worth it
  small_compute,       ///< gate: the compute kernel leaves enough SMs free
  no_event,            ///< gate: the collective has no completion event of ours (a graph, its own event, a failed attribute)
  several_waves,       ///< gate: it and others beside it have more blocks than there are SMs, so they may not all begin at once
  other_context,       ///< gate: the collective belongs to another context of the device
  other_capture,       ///< gate: something is being captured
  unseen_begin,        ///< gate: the driver was not seen yet to tell of a begin before the end
  order_lost,          ///< gate: more streams carry collectives than are told apart
  own_priority,        ///< priority: the program set one
  fills_device,        ///< priority: with others it would leave no SM to what its peers may wait for
  cooperative_launch,  ///< shape, Never pad
  cluster_launch,      ///< shape, Never pad
  single_wave,         ///< shape, Never pad: may hold a grid barrier or have sized its grid by occupancy
  already_at_cap,      ///< shape: residency is at or under the cap
  no_pad,              ///< shape: no amount of shared memory gives that residency
  unknown_residency,   ///< shape: the driver did not say
  own_choice,          ///< SM target: auto compares, and each rank of several would choose by itself
  passed_through,      ///< the function failed with a control before, or is unknown
  count
};
/// The report's words, by reason.
inline constexpr std::array<const char*, static_cast<std::size_t>(Refusal::count)> kRefusalWords{
    "none",
    "gate: the collective queues behind another",
    "gate: the collective is short",
    "gate: the kernel leaves SMs free",
    "gate: the collective has no completion event",
    "gate: the collective's blocks may not all begin at once",
    "gate: the collective is in another context",
    "gate: something is being captured",
    "gate: no event was seen yet that tells of a begin before the end",
    "gate: more streams carry collectives than are told apart",
    "priority: the program sets its own",
    "priority: the collectives may take more than half of the SMs",
    "shape: cooperative launch",
    "shape: cluster launch",
    "shape: the grid fits in one wave",
    "shape: residency is at or under the cap",
    "shape: no shared memory gives that residency",
    "shape: residency unknown",
    "SM target: under auto each rank would choose by itself",
    "passed through",
};
inline const char* text(Refusal refusal) { return kRefusalWords[static_cast<std::size_t>(refusal)]; }

/// Index of the two events that the hooks keep for (context, slot), made on first use: the one tells of a collective's begin, the
/// other of its end. Collectives take the slots in turn, so that only the last kEventSlots of them can be waited for.
using EventSlot = std::uint16_t;
constexpr EventSlot kNoEvent = 0xffff;
constexpr std::size_t kEventSlots = 256;

struct Decision {
  Ticket ticket = 0;
  std::uint32_t dynamic_shared = 0;       ///< bytes to launch with; the program's own unless the launch is shaped
  EventSlot completion_event = kNoEvent;  ///< add CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT with this event (flags 0)
  EventSlot wait_on = kNoEvent;           ///< cuStreamWaitEvent(stream, event) before the launch
  bool priority = false;                  ///< add CU_LAUNCH_ATTRIBUTE_PRIORITY with the context's greatest priority
  bool is_collective = false;
  ContextId context = 0;  ///< of the stream, where anything is decided
  /// Not zero: a step of the program begins with this launch. Record a timing event before it, tell `on_step_time` later.
  std::uint64_t step = 0;
  bool in_window = false;           ///< in order and in time: for the hooks' own accounting of overhead
  Refusal refusal = Refusal::none;  ///< the first control that was refused; for the report

  /// The launch goes exactly as the program asked, with nothing before or after it.
  [[nodiscard]] constexpr bool untouched(std::uint32_t asked_dynamic) const {
    return !priority && step == 0 && completion_event == kNoEvent && wait_on == kNoEvent && dynamic_shared == asked_dynamic;
  }
};

enum class LaunchOutcome : std::uint8_t {
  ok,          ///< launched as decided
  plain_ok,    ///< launched as the program asked, because the hooks could not carry the decision out (e.g. no event could be made)
  relaunched,  ///< failed as decided, then launched as the program asked: the function goes without that control from now on
  failed       ///< failed as the program asked
};

/// The SM count to set around a call of cuBLAS: 0 leaves the library as it is.
struct SmTarget {
  std::uint32_t sms = 0;
};

/// The newest collective of a stream that is about to be destroyed: the slot of the end event that is to be recorded behind it, and
/// told by on_end_recorded. kNoEvent: none is.
struct LastEnd {
  Ticket ticket = 0;
  ContextId context = 0;
  EventSlot slot = kNoEvent;
};

struct RecordMark;
struct WaitMark;
class FastPath;
class ReportWriter;

/// Launches by the long way, and the time of their hooks without the program's own call.
struct LaunchCost {
  std::uint64_t calls = 0, ns = 0, median_ns = 0;
};

/// What only the hooks know about the process; for the report. All pointers are read during the call alone.
struct ProcessFacts {
  int pid = 0;
  const char* program = "";
  int device_count = 0;
  std::uint64_t begun_ns = 0;  ///< when the driver was first called, by the clock of launches
  const char* const* driver_entries = nullptr;
  std::size_t driver_entry_count = 0;
  const char* const* passed_through = nullptr;  ///< "function: reason", beyond what the core passed through itself
  std::size_t passed_through_count = 0;
  LaunchCost outside, inside;                       ///< of windows
  void (*write_more)(ReportWriter& out) = nullptr;  ///< further members of the document
};

/// Where the report goes, piece by piece; pieces are not zero-terminated.
struct Sink {
  void* self = nullptr;
  void (*write)(void* self, const char* data, std::size_t size) = nullptr;
};

class Core {
 public:
  /// All memory is taken here (below 1 MiB). Null when there is none: pass everything through. A launch that `fast_path` takes
  /// needs no decision.
  static std::unique_ptr<Core> create(const Rules& rules, const Platform& platform, FastPath& fast_path);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  /// Whether the order of streams is followed now; lock-free. Where it is not, hooks of events and waits tell nothing.
  [[nodiscard]] bool follows_order() const;

  // --- kernels: call on_launch before the driver, and on_launched after it unless the ticket is zero ---
  Decision on_launch(const LaunchFacts& facts);
  /// Until `ok` is told, nothing is gated on the collective of this ticket. The slot of the end event that is to be recorded behind
  /// it now, and told by on_end_recorded; kNoEvent: none.
  EventSlot on_launched(Ticket ticket, LaunchOutcome outcome);
  void on_end_recorded(Ticket ticket, bool recorded);  ///< for each such slot, whether or not the driver took the record
  /// True: end events are to have a time now, so that watch_begin can take their collective; lock-free.
  [[nodiscard]] bool times_ends() const;
  /// What the stream does may wait for other ranks, the host or another process: a graph, a collective by copy engines, a wait for
  /// the host. It counts as a collective of unknown content until its end event is over.
  enum class Unknown : std::uint8_t { graph, wait };
  Decision on_unknown(StreamId stream, Unknown what, std::uint64_t host_time_ns);
  /// The step that Decision::step named took this long on the device, from its event to the event of the step with the next number.
  void on_step_time(std::uint64_t step, std::uint64_t nanoseconds);
  void on_step_lost(std::uint64_t step);  ///< its time will never be known
  void on_module_unload();                ///< or a library's: function handles may now mean something else

  // --- streams and events ---
  LastEnd on_stream_destroy(StreamId stream);  ///< before the driver: the handle may be reused at once
  void on_event_destroy(EventId event);        ///< before the driver
  [[nodiscard]] RecordMark before_record(EventId event, StreamId stream);
  void after_record(EventId event, const RecordMark& mark, bool recorded);
  [[nodiscard]] WaitMark before_wait(EventId event);
  void after_wait(StreamId stream, EventId event, const WaitMark& mark);
  /// A call records events and is not followed: around it, nothing is known of any.
  void forget_events();

  // --- stream capture ---
  void on_capture_begin();  ///< before the driver
  void on_capture_end();    ///< after it, and where none began
  /// Whether any stream is being captured: calls that may invalidate a capture must be put off, and the driver is asked whether a
  /// stream is captured. What is told of those that are is nothing. Lock-free.
  [[nodiscard]] bool capturing() const;

  // --- cuBLAS ---
  /// Before a cuBLAS call on this stream. Tell `on_library_gemm_done` where the target was set.
  SmTarget on_library_gemm(StreamId stream, const Product& product, std::uint64_t host_time_ns);
  void on_library_gemm_done(LaunchOutcome outcome);

  /// One document of run/process_report.hpp.
  void report(const ProcessFacts& process, const Sink& sink);

 private:
  explicit Core(std::unique_ptr<struct CoreState> state);
  std::unique_ptr<CoreState> state_;
};

}  // namespace elbowroom::interposer
