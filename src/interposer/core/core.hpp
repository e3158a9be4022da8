#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "interposer/core/graph_facts.hpp"
#include "interposer/core/handles.hpp"
#include "interposer/core/pass_gate.hpp"
#include "interposer/core/rank_agreement.hpp"
#include "interposer/core/rest_gate.hpp"
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
  bool blocking = true;     ///< not created with CU_STREAM_NON_BLOCKING; default streams are blocking
  std::uint32_t sms = 0;    ///< of its context, which may be given a part of the device; 0: those of the device
  bool first = false;       ///< the program gave it a priority above the default
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
  /// What earlier runs learned (run/durations.hpp), readable from then on. Asked once, with the first device.
  Text (*known_durations)(void* self) = nullptr;
  /// What earlier runs settled for (run/choices.hpp), in the same way.
  Text (*known_choices)(void* self) = nullptr;
  RankAgreement ranks{};     ///< asked and told once a step
  RestGate* rest = nullptr;  ///< where the hooks read whether the program is left alone; null: they ask the core. Outlives it
  PassGate* pass = nullptr;  ///< where the hooks read whether a launch may take the short way (passing.hpp). Outlives the core
  /// Both clocks of the host. Asked with the lock held; null: no launch takes the short way.
  HostTime (*host_time)() = nullptr;
  /// Of the smallest part of the device that is known, such as a green context; 0: not known. Asked with the lock held.
  std::uint32_t (*least_sms)(void* self, std::int32_t device) = nullptr;
};

class PassingThread;
struct PassedLaunches;

/// What an intercepted ncclAllReduce & co. said about the kernel that it is about to launch; all zero where nobody was asked.
struct CollectiveNote {
  std::uint64_t communicator = 0;
  std::uint64_t bytes = 0;  ///< grouped calls: the sum
  std::uint32_t ranks = 0;
  std::uint32_t library = 0;  ///< its version, as it names itself (22809)
  bool asked = false;         ///< the library asked how many blocks it may take

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
  bool records_event = false;          ///< the program's own attributes name an event that the launch records
  /// Programmatic dependent launch: its blocks may wait on their SMs for what is before it. What we put there costs the pair its
  /// overlap, no more.
  bool programmatic = false;
  CollectiveNote note;
  std::uint64_t host_time_ns = 0;   ///< a monotonic clock's; equal to or later than every earlier fact of this thread
  PassingThread* thread = nullptr;  ///< the calling one; null: it always goes the long way
};

/// Why a control was not applied to a launch; the report's words.
enum class Refusal : std::uint8_t {
  none,
  queued_collective,    ///< gate: the collective waits behind another one, for which the compute does not
  host_dependency,      ///< gate: the collective waits for something the host or another process may do later
  late_collective,      ///< gate: the collective is expected to start later than the compute could
  short_collective,     ///< gate: expected to end too soon to be worth it
  small_compute,        ///< gate: the compute kernel leaves enough SMs free
  no_event,             ///< gate: the collective has no completion event of ours (a graph, its own event, a failed attribute)
  several_waves,        ///< gate: it and others beside it have more blocks than there are SMs, so they may not all begin at once
  other_context,        ///< gate: the collective belongs to another context of the device
  other_capture,        ///< gate: one of the two is captured, or in another capture
  programmatic_launch,  ///< gate: a captured dependent launch has an edge of its own kind, beside which ours may be refused
  order_lost,           ///< gate: a table overflowed, the program's order is no longer known in full
  own_priority,         ///< priority: the program set one
  fills_device,         ///< priority: with others it would leave no SM to what its peers may wait for
  cooperative_launch,   ///< shape, Never pad
  cluster_launch,       ///< shape, Never pad
  single_wave,          ///< shape, Never pad: may hold a grid barrier or have sized its grid by occupancy
  already_at_cap,       ///< shape: residency is at or under the cap
  no_pad,               ///< shape: no amount of shared memory gives that residency
  unknown_residency,    ///< shape: the driver did not say
  captured_trial,  ///< gate, shape: auto compares its controls while it runs, and a captured graph would keep what is being tried
  own_choice,      ///< SM target: auto compares, and each rank of several would choose by itself
  passed_through,  ///< the function failed with a control before, or is unknown
  count
};
const char* text(Refusal refusal);

/// Index of a completion event that the hooks keep for (context, slot), made on first use without timing. Inside a capture they
/// keep a second set, because a captured event must not be waited for outside. Collectives take the slots in turn, so that only the
/// last kEventSlots of them can be waited for.
using EventSlot = std::uint16_t;
constexpr EventSlot kNoEvent = 0xffff;
constexpr std::size_t kEventSlots = 256;

struct Decision {
  Ticket ticket = 0;
  std::uint32_t dynamic_shared = 0;           ///< bytes to launch with; the program's own unless the launch is shaped
  EventSlot completion_event = kNoEvent;      ///< add CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT with this event (flags 0)
  EventSlot wait_on = kNoEvent;               ///< cuStreamWaitEvent(stream, event) before the launch
  bool priority = false;                      ///< add CU_LAUNCH_ATTRIBUTE_PRIORITY with the context's greatest priority
  bool time_it = false;                       ///< record timing events around the launch (never while anything is being captured)
  bool captured = false;                      ///< the stream is being captured, as far as the core was told
  std::uint64_t capture = 0;                  ///< by which capture, as the driver numbers them; 0: that is not known
  bool is_collective = false, joins = false;  ///< joins: its stream, or another, stands behind more once the driver has it
  bool waits_for_host = false;                ///< its kernel does: tell on_host_dependency once more when the driver has taken it
  ContextId context = 0;                      ///< of the stream, where anything is decided
  /// Not zero: a step of the program begins with this launch. Record a timing event before it, tell `on_step_time` later.
  std::uint64_t step = 0;
  bool in_window = false;           ///< in order and in time: for the hooks' own accounting of overhead
  Refusal refusal = Refusal::none;  ///< the first control that was refused; for the report

  /// The launch goes exactly as the program asked, with nothing before or after it.
  [[nodiscard]] constexpr bool untouched(std::uint32_t asked_dynamic) const {
    return !priority && !time_it && step == 0 && completion_event == kNoEvent && wait_on == kNoEvent &&
           dynamic_shared == asked_dynamic;
  }
};

enum class LaunchOutcome : std::uint8_t {
  ok,          ///< launched as decided
  plain_ok,    ///< launched as the program asked, because the hooks could not carry the decision out (e.g. no event could be made)
  relaunched,  ///< failed as decided, then launched as the program asked: the function goes without that control from now on
  failed       ///< failed as the program asked, or came into a capture that is not followed
};

/// Chains of collectives that may be under way at once without an order between them.
constexpr unsigned kChains = 64;

/// A host synchronisation in progress: what will be known finished when it returns. Taken before the driver is called, because
/// another thread may enqueue more, or record the event again, in the meantime.
struct SyncPoint {
  std::array<std::uint32_t, kChains> collectives{};  ///< of each chain of collectives (collectives.hpp), up to which one
  bool any_collective = false;
  std::uint32_t era = 0;  ///< of the numbers of collectives
  std::uint64_t host_actions = 0;
  std::uint64_t sequence = 0;
  StreamId stream = 0;
  std::uint64_t busy_until = 0;
  EventId event = 0;          ///< that is waited for
  std::uint64_t records = 0;  ///< of it so far: another one while the host waits says nothing of this point
  ContextId context = 0;      ///< all of it is waited for, and some context is in doubt
  std::uint64_t doubts = 0;   ///< of contexts so far
};

constexpr std::uint64_t kAllTaken = ~std::uint64_t{0};  ///< RecordPoint::collectives_taken that leaves out none

/// What was told so far, before a call that is about to be made: the record of an event, a wait for one, an operation.
struct RecordPoint {
  std::uint64_t host_dependencies = 0;  ///< how many waits for the host were told so far
  std::uint64_t records = 0;            ///< of the event so far; of a record, this one with them
  bool collectives = false;             ///< some may not be over, and something may be gated on those behind them
  std::uint64_t collectives_taken = 0;  ///< how many the driver was told to have taken so far
  std::uint64_t streams_joined = 0;     ///< how often it was told so far that a stream stands behind another
};

/// The SM count to set around a call of cuBLAS: 0 leaves the library as it is.
struct SmTarget {
  std::uint32_t sms = 0;
};

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
  /// All memory is taken here (a few MiB). Null when there is none: pass everything through.
  static std::unique_ptr<Core> create(const Rules& rules, const Platform& platform);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  /// A launch of the function needs no decision: it goes as the program asked, and on_launch is not to be called. Lock-free, and so
  /// cheap that it comes before everything else.
  [[nodiscard]] bool leaves_alone(FunctionId function);
  [[nodiscard]] bool at_rest() const;  ///< nothing that orders streams is followed now; lock-free
  /// Where the thread of that number writes down what it launches by the short way (passing.hpp). Numbers of threads that have
  /// ended may come again. Null: nowhere.
  PassedLaunches* passed_launches(std::uint32_t thread);

  // --- kernels: call on_launch before the driver, and on_launched after it unless the ticket is zero ---
  /// The compute launch or collective of the facts takes its place in the program's order here: threads that order their launches
  /// by themselves are seen in their order.
  Decision on_launch(const LaunchFacts& facts);
  /// Until `ok` is told, nothing is gated on the collective of this ticket.
  void on_launched(Ticket ticket, LaunchOutcome outcome);
  /// A launch that Decision::time_it asked about has finished, and took this long between its two events.
  void on_timing(Ticket ticket, std::uint64_t nanoseconds, std::uint64_t host_time_ns);
  void on_timing_lost(Ticket ticket);  ///< the same launch's events failed or were given up: its time will not come
  /// The step that Decision::step named took this long on the device, from its event to the event of the step with the next number.
  void on_step_time(std::uint64_t step, std::uint64_t nanoseconds);
  void on_step_lost(std::uint64_t step);  ///< its time will never be known
  void on_module_unload();                ///< or a library's: function handles may now mean something else
  /// A context may end with its modules in this call. Until the other is told, or on_module_unload(), no function is as it was
  /// known.
  [[nodiscard]] ModuleAges begin_release();
  void end_release(const ModuleAges& begun);  ///< what begin_release() said; the context lives on

  // --- streams and events: after the driver said success, except where noted ---
  /// Optional: streams that were never created here are asked for by Platform::describe_stream.
  void on_stream_create(StreamId stream, const StreamInfo& info);
  /// Before the driver: the handle may be reused at once. Empty: it was not known.
  std::optional<StreamInfo> on_stream_destroy(StreamId stream);
  void on_stream_kept(StreamId stream, const StreamInfo& info);  ///< the driver refused, and what it holds was forgotten
  void on_thread_end(std::uint32_t thread);                      ///< its per-thread streams go; another thread may get its number
  void on_event_destroy(EventId event);                          ///< before the driver
  /// Before the driver is called; each is followed by one of the next two. Lock-free.
  [[nodiscard]] RecordPoint before_event_record(EventId event);
  /// The event stands behind no wait for the host that was told after `before`: another thread may have enqueued it behind the
  /// record. `captured`: the driver says so of the stream. Where the core knows of no capture, nothing is known of the event then.
  void on_event_record(EventId event, StreamId stream, const RecordPoint& before, bool captured = false);
  void on_event_not_recorded(EventId event, const RecordPoint& before);  ///< the driver refused, or records it when a graph runs
  /// How often the event was recorded so far, or is being recorded. Lock-free.
  [[nodiscard]] std::uint64_t event_records(EventId event) const;
  [[nodiscard]] RecordPoint before_operation() const;          ///< what was told so far; lock-free
  [[nodiscard]] RecordPoint before_wait(EventId event) const;  ///< and event_records()
  /// Before the driver makes the stream wait for the event, as another thread may go on behind it before the call returns. Tell
  /// `after_wait` of what it says last of all. `records` is as below.
  [[nodiscard]] WaitId before_stream_wait(StreamId stream, EventId event, std::uint64_t records);
  void after_wait(WaitId wait);
  /// `before`: before_wait() from before the driver. Recorded anew since, the event may have been either of two.
  void on_stream_wait(StreamId stream, EventId event, const RecordPoint& before);
  /// What is not followed records the event: another process, a launch, a graph or a whole context. Of a graph nobody says which
  /// event, and kSomeEvent stands for it. Call one before the driver and the other behind it, whatever the driver said. Until it is
  /// recorded again, the event says nothing of what it stands behind.
  void before_unseen_record(EventId event);
  void after_unseen_record(EventId event);
  /// All streams of a context wait for the event, also those yet to be made. Which ones they are is not followed. `records` is as
  /// above. Call it before the driver, as another thread may go on behind it, and after it, as another may have recorded the event.
  void on_context_wait(EventId event, std::uint64_t records);
  void begin_unplaced();  ///< a call begins that orders what is not known before it returns: nothing is gated meanwhile
  void end_unplaced();
  void on_devices_wait();  ///< what follows on several devices waits for all that was launched on them: not followed
  /// Whether what was launched so far may be waited for. False: nothing of it is behind late peers or the host. Lock-free.
  [[nodiscard]] bool may_be_waited_for() const;
  /// An operation without kernel that may order other streams, as one of a *legacy* stream does. `before`: before_operation().
  void on_stream_operation(StreamId stream, const RecordPoint& before);
  /// NCCL is about to put a collective by copy engines on the stream, which waits for other ranks and holds no SM. Says only the
  /// ticket, of which on_launched is to be told, and whether it joins.
  Decision on_copying_collective(StreamId stream, std::uint64_t host_time_ns);
  /// Memory is freed in a stream's order, before the driver. What is allocated on another one, after it, may get it, and the driver
  /// makes that stream wait then.
  void on_memory_freed();
  [[nodiscard]] WaitId before_allocation(StreamId stream);  ///< as before_stream_wait
  void on_memory_allocated(StreamId stream);
  /// What follows on the stream waits for something that the host, another process or a kernel's store may do later. So it is
  /// after cuStreamWaitValue*, wait operations of cuStreamBatchMemOp, cuLaunchHostFunc and cuStreamAddCallback. External
  /// semaphores and waits for IPC or external events do it too. Call it before the driver, as another thread may go on behind it
  /// before the call returns. Call it once more after it, as another may have waited for the stream in between. The point is that
  /// it is over.
  SyncPoint on_host_dependency(StreamId stream);

  // --- host synchronisation: take the point before the driver call, tell it after it returned success ---
  SyncPoint event_point(EventId event);
  SyncPoint stream_point(StreamId stream);     ///< also synchronous copies: with the (legacy or per-thread) default stream
  SyncPoint context_point(ContextId context);  ///< cuCtxSynchronize; not cuMemFree, which only may wait for the device
  /// Also after cuEventQuery or cuStreamQuery said that it is finished (a point whose driver call failed is simply dropped).
  void on_synchronized(const SyncPoint& point, std::uint64_t host_time_ns);

  /// Before cuCtxDestroy or a reset of the primary context: its streams and functions are gone. What they hold is under way until
  /// the driver has ended the context: take a context_point before this, and tell on_synchronized then.
  void on_context_destroy(ContextId context);

  // --- stream capture and graphs ---
  /// Before the driver begins one: what must be asked of the stream is asked now, because a question may break a capture.
  void before_capture(StreamId stream);
  /// `capture`: the driver's number of it; 0: it does not say.
  void on_capture_begin(StreamId stream, std::uint64_t capture = 0);
  /// Before the driver ends the capture that this stream began; what it held, for the graph's later launches. Zero counts where the
  /// core knew of no capture.
  GraphFacts on_capture_end(StreamId stream);
  /// A graph counts as one operation. A graph that holds collectives is live like a collective; nothing can be gated on it.
  /// Call before the driver. `behind` is the GraphStep::newest of the last launch of this executable graph, as the driver puts each
  /// launch behind the ones before; 0: there was none.
  GraphStep on_graph_launch(StreamId stream, const GraphFacts& graph, std::uint64_t host_time_ns, std::uint32_t behind = 0);
  /// The graph is made ready on the stream, behind its launches before: `behind`, and the GraphStep::newest that it gives back.
  GraphStep on_graph_upload(StreamId stream, std::uint32_t behind);
  /// Another thread may have launched the graph meanwhile, and so before: the stream may stand behind all up to `newest`.
  void on_graph_followed(StreamId stream, std::uint32_t newest);
  [[nodiscard]] std::uint32_t newest_collective() const;  ///< its number; lock-free
  /// After the driver, last of all: whether it launched the graph, or made it ready.
  void after_graph(const GraphStep& begun, bool taken);
  [[nodiscard]] std::uint64_t needed_sms(std::uint32_t sms) const;  ///< NeededSms::beside_first
  /// Whether any stream is being captured, so that calls which may invalidate a capture must be put off. Lock-free.
  [[nodiscard]] bool capturing() const;

  // --- cuBLAS ---
  /// Whether any product may get a target now: before the cost of finding out what kind of product one is.
  [[nodiscard]] bool sets_targets();
  /// Before a cuBLAS call on this stream. Tell `on_library_gemm_done` where the target was set.
  SmTarget on_library_gemm(StreamId stream, const Product& product, std::uint64_t host_time_ns);
  void on_library_gemm_done(LaunchOutcome outcome);
  /// What `on_library_gemm` would say, for a question that launches nothing. Asks the driver about no stream: this one may be gone.
  /// Nothing: it is not known.
  std::optional<SmTarget> expected_sm_target(StreamId stream, const Product& product, std::uint64_t host_time_ns);
  /// The same before a thread's first product, for a stream that is there: what all ranks have in common, 0 where each decides.
  SmTarget common_sm_target(StreamId stream, const Product& product, std::uint64_t host_time_ns);

  [[nodiscard]] std::uint64_t launches_at_rest() const;  ///< that were left alone

  /// One document of run/process_report.hpp.
  void report(const ProcessFacts& process, const Sink& sink);

 private:
  explicit Core(std::unique_ptr<struct CoreState> state);
  std::unique_ptr<CoreState> state_;
};

}  // namespace elbowroom::interposer
