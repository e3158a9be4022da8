#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "fake_hip.hpp"

/// What lies behind the handles, and the queues that make it run.
namespace fake_hip {

enum class Kind : std::uint64_t { kStream = 0xa0a0, kEvent, kModule, kFunction, kGraph, kNode, kExec, kContext };

struct Graph;
struct Capture {
  Graph* graph = nullptr;
  hip::Stream origin = nullptr;
  int mode = 0;
  bool invalidated = false, ended = false;
};

/// One operation of a stream.
struct Operation {
  std::uint64_t serial = 0;                                         ///< in the order of all calls
  std::uint64_t asked_at = 0;                                       ///< modelled time of the host
  bool is_kernel = false;                                           ///< shares its device with other kernels
  std::function<bool()> can_run;                                    ///< null: yes
  std::function<std::uint64_t()> nanoseconds;                       ///< null: 0
  std::function<void(std::uint64_t begin, std::uint64_t end)> run;  ///< null: nothing
  std::function<std::uint64_t()> not_before;                        ///< null: 0; modelled time
};

struct Stream {
  Kind kind = Kind::kStream;
  int device = 0;
  unsigned flags = 0;
  int priority = 0;
  bool alive = true, legacy = false;
  std::vector<std::uint32_t> mask;
  Capture* capture = nullptr;
  std::deque<Operation> queue;
  std::uint64_t time_ns = 0;

  [[nodiscard]] bool blocking() const { return !legacy && (flags & hip::kStreamNonBlocking) == 0; }
  [[nodiscard]] hip::Stream handle() { return reinterpret_cast<hip::Stream>(this); }
};

/// What one record of an event becomes.
struct Completion {
  bool done = false;
  std::uint64_t time_ns = 0;
};

struct Event {
  Kind kind = Kind::kEvent;
  unsigned flags = 0;
  bool alive = true;
  Capture* capture = nullptr;
  const Stream* stream = nullptr;      ///< where it was recorded last
  std::shared_ptr<Completion> latest;  ///< null: never recorded
  bool of_interposer = false;          ///< which made it to ask about it: its records are counted, and not written down
};

struct Function {
  Kind kind = Kind::kFunction;
  std::string name;
  FakeKernel kernel;
  bool is_symbol = false;  ///< launched by the functions that take a host function
};

struct Module {
  Kind kind = Kind::kModule;
  std::vector<std::unique_ptr<Function>> functions;
};

struct Node {
  Kind kind = Kind::kNode;
  int type = hip::kGraphNodeKernel;
  hip::KernelNodeParams kernel{};
  int priority = 0;
  Graph* child = nullptr;
  Operation operation;
};

struct Graph {
  Kind kind = Kind::kGraph;
  std::vector<Node*> nodes;
  std::vector<std::pair<hip::GraphNode, hip::GraphNode>> edges;  ///< of nodes that were added one by one
};

struct Exec {
  Kind kind = Kind::kExec;
  Graph* graph = nullptr;
};

/// Objects stay when their handles are destroyed, because old handles are still looked at; a leak checker finds them here.
/// With the mutex held.
std::vector<void*>& kept_objects();
template <class T>
T* keep(T* made) {
  kept_objects().push_back(made);
  return made;
}

/// The object of a handle, or null where it is of another kind.
template <class T, class Handle>
T* object(Handle handle) {
  const auto* candidate = reinterpret_cast<const T*>(handle);
  const bool valid = reinterpret_cast<std::uintptr_t>(handle) > 0xfff && candidate->kind == T{}.kind;
  return valid ? const_cast<T*>(candidate) : nullptr;
}

/// A new object, or one in the place of that which fake_hip_reuse named. With the mutex held.
void*& reused_object();
template <class T>
T* make_object() {
  T* reused = object<T>(reused_object());
  if (reused == nullptr) { return keep(new T); }
  reused_object() = nullptr;
  *reused = T{};
  return reused;
}

// --- calls (log.cpp) ---
/// All of the runtime's state is guarded by this one mutex; operations run with it held.
std::mutex& runtime_mutex();
FakeHipCall named(const char* name);
/// Writes a call down (unless it is only a question) and asks what was told to fail; anything but 0 is the call's result.
/// With the mutex held.
int enter(FakeHipCall& call, bool logged);
/// Remembers the call's result for hipGetLastError of this thread, and returns it.
int leave(int result);
int take_last_error();
int peek_last_error();
bool everything_finished();
bool is_lazy();

/// Makes one call of the runtime: `body` runs with the mutex held unless the call was made to fail.
template <class Body>
int make_call(FakeHipCall call, Body&& body) {
  const std::lock_guard lock(runtime_mutex());
  const int injected = enter(call, true);
  return leave(injected != 0 ? injected : body());
}
template <class Body>
int question(const char* name, Body&& body) {
  const std::lock_guard lock(runtime_mutex());
  FakeHipCall call = named(name);
  const int injected = enter(call, false);
  return leave(injected != 0 ? injected : body());
}

// --- devices (devices.cpp) ---
struct Settings {
  int devices = 2;
  std::string arch = "gfx90a";
  std::size_t memory = 68'702'699'520;
  bool priority_ignored = false, no_priorities = false, lazy = false, sticky = false;
  std::string failing;
};
const Settings& settings();
int current_device();
/// The default stream of a call whose name ends in `_spt`.
constexpr bool kPerThread = true;

constexpr int kComputeUnits = 110;
constexpr int kGreatestPriority = -1;
constexpr int kLeastPriority = 1;
constexpr std::size_t kSharedPerUnit = 65536;

// --- queues (queues.cpp); with the mutex held ---
/// The stream that a handle means on this thread; null: it is none (any more).
Stream* stream_of(hip::Stream handle, bool per_thread_default);
/// Those with operations that did not run yet.
const std::vector<Stream*>& waiting_streams();
/// Puts an operation on a stream, or into the graph that is being captured there (`node` says as what), and runs what can run.
void enqueue(Stream& stream, Operation operation, Node* node = nullptr);
/// Runs what can run.
void pump();
/// Runs operations until `done`; false: nothing that this or another thread did in ten seconds let it come true. Gives the mutex up
/// while it waits.
bool run_until(const std::function<bool()>& done);
bool is_idle(const Stream& stream);
/// Waits until it is; the result of the call that does.
int finish_stream(Stream& stream);
/// The host has learned that something had ended by then (modelled): what it asks for next begins no earlier.
void host_knows(std::uint64_t time_ns);
/// When the stream's work ends (modelled), and for a default stream that of those that it waits for.
std::uint64_t end_of(const Stream& stream);
/// When the work of a device ends.
std::uint64_t end_of_device(int device);

// --- captures (graphs.cpp); with the mutex held ---
void join_capture(Stream& stream, Capture* capture);
void begin_capture(Stream& stream, int mode, Graph* graph);
Graph* end_capture(Stream& stream, bool& broken);
/// Whether this thread may not make calls now that a capture in global mode forbids; marks the capture as broken.
bool breaks_capture();
/// The same of a question about an event, whatever the thread's mode. The runtime takes the event for one of the capture that its
/// stream is in, though it was recorded before.
bool breaks_capture(const Event& event);
void forget_captures();

// --- kernels (kernels.cpp) ---
/// A launch as an operation; arguments are copied now.
Operation launch_operation(const Function& function, const FakeHipCall& call, int device);
std::uint64_t default_nanoseconds(const FakeLaunch& launch);
/// Blocks of a kernel that fit on a compute unit.
int residency(const Function& function, int threads, std::size_t dynamic_shared);
Function* function_named(const std::string& name);
Function* make_function(const FakeKernel& kernel);

}  // namespace fake_hip
