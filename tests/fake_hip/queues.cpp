#include <algorithm>
#include <chrono>
#include <thread>

#include "runtime.hpp"

// The queues of streams. Operations run when the program calls: there are no threads, so that a run is the same every time.

namespace fake_hip {
namespace {

constexpr auto kPatience = std::chrono::seconds(10);
constexpr int kMostDevices = 16;

struct Queues {
  std::vector<Stream*> waiting;  // those with operations
  std::array<Stream*, kMostDevices> legacy{};
  // Modelled, of each device: the end of kernels without priority, of all blocking streams, of the default stream, of all.
  std::array<std::uint64_t, kMostDevices> busy_until{}, blocking_until{}, legacy_until{}, all_until{};
  std::uint64_t serial = 0;
  std::uint64_t host_ns = 0;
};

Queues& queues() {
  static auto* made = new Queues;
  return *made;
}

Stream& legacy_stream(int device) {
  Stream*& stream = queues().legacy[static_cast<std::size_t>(device)];
  if (stream == nullptr) {
    stream = keep(new Stream);
    stream->device = device;
    stream->legacy = true;
  }
  return *stream;
}

Stream& per_thread_stream(int device) {
  thread_local std::array<Stream*, kMostDevices> own{};
  Stream*& stream = own[static_cast<std::size_t>(device)];
  if (stream == nullptr) {
    stream = keep(new Stream);
    stream->device = device;
  }
  return *stream;
}

// A legacy stream's operation waits for what blocking streams were given before it, and theirs for what it was given before them.
bool waits_for_default(const Stream& stream, const Operation& operation) {
  for (const Stream* other : queues().waiting) {
    if (other == &stream || other->device != stream.device || other->queue.empty()) { continue; }
    const bool ordered = (stream.legacy && other->blocking()) || (stream.blocking() && other->legacy);
    if (ordered && other->queue.front().serial < operation.serial) { return true; }
  }
  return false;
}

std::uint64_t ordered_begin(const Stream& stream) {
  const auto device = static_cast<std::size_t>(stream.device);
  if (stream.legacy) { return std::max(stream.time_ns, queues().blocking_until[device]); }
  return stream.blocking() ? std::max(stream.time_ns, queues().legacy_until[device]) : stream.time_ns;
}

void keep_end(const Stream& stream, std::uint64_t end) {
  const auto device = static_cast<std::size_t>(stream.device);
  queues().all_until[device] = std::max(queues().all_until[device], end);
  if (stream.legacy) { queues().legacy_until[device] = end; }
  if (stream.blocking()) { queues().blocking_until[device] = std::max(queues().blocking_until[device], end); }
}

void run_first(Stream& stream) {
  const Operation operation = std::move(stream.queue.front());
  stream.queue.pop_front();
  std::uint64_t begin = std::max(ordered_begin(stream), operation.asked_at);
  if (operation.not_before) { begin = std::max(begin, operation.not_before()); }
  std::uint64_t& busy = queues().busy_until[static_cast<std::size_t>(stream.device)];
  const bool overtakes = stream.priority == kGreatestPriority && !settings().priority_ignored;
  const bool shares = operation.is_kernel && !overtakes;
  if (shares) { begin = std::max(begin, busy); }
  const std::uint64_t end = begin + (operation.nanoseconds ? operation.nanoseconds() : 0);
  if (shares) { busy = end; }
  stream.time_ns = end;
  keep_end(stream, end);
  if (operation.run) { operation.run(begin, end); }
}

bool run_some() {
  bool any = false;
  for (std::size_t i = 0; i < queues().waiting.size(); ++i) {
    Stream& stream = *queues().waiting[i];
    while (!stream.queue.empty()) {
      const Operation& first = stream.queue.front();
      if (waits_for_default(stream, first) || (first.can_run && !first.can_run())) { break; }
      run_first(stream);
      any = true;
    }
  }
  return any;
}

void drop_finished() {
  std::erase_if(queues().waiting, [](const Stream* stream) { return stream->queue.empty(); });
}

}  // namespace

const std::vector<Stream*>& waiting_streams() { return queues().waiting; }

Stream* stream_of(hip::Stream handle, bool per_thread_default) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  const int device = current_device();
  if (value == hip::kStreamPerThread || (value == 0 && per_thread_default)) { return &per_thread_stream(device); }
  if (value <= hip::kStreamLegacy) { return &legacy_stream(device); }
  Stream* stream = object<Stream>(handle);
  return stream != nullptr && stream->alive ? stream : nullptr;
}

void enqueue(Stream& stream, Operation operation, Node* node) {
  if (stream.capture != nullptr) {
    Node* made = keep(node != nullptr ? node : new Node);
    if (node == nullptr) { made->type = -1; }
    made->operation = std::move(operation);
    stream.capture->graph->nodes.push_back(made);
    return;
  }
  delete node;
  operation.serial = ++queues().serial;
  operation.asked_at = queues().host_ns;
  if (stream.queue.empty()) { queues().waiting.push_back(&stream); }
  stream.queue.push_back(std::move(operation));
  if (!is_lazy()) { pump(); }
}

void pump() {
  while (run_some()) {}
  drop_finished();
}

bool run_until(const std::function<bool()>& done) {
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    pump();
    if (done()) { return true; }
    if (std::chrono::steady_clock::now() > give_up) { return false; }
    runtime_mutex().unlock();
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    runtime_mutex().lock();
  }
}

bool is_idle(const Stream& stream) {
  if (!stream.queue.empty()) { return false; }
  return !stream.legacy || std::ranges::all_of(queues().waiting, [&](const Stream* other) {
    return other->device != stream.device || !other->blocking() || other->queue.empty();
  });
}

void host_knows(std::uint64_t time_ns) { queues().host_ns = std::max(queues().host_ns, time_ns); }
std::uint64_t end_of(const Stream& stream) { return ordered_begin(stream); }
std::uint64_t end_of_device(int device) { return queues().all_until[static_cast<std::size_t>(device)]; }

}  // namespace fake_hip

std::size_t fake_hip_waiting() {
  const std::lock_guard lock(fake_hip::runtime_mutex());
  std::size_t waiting = 0;
  for (const fake_hip::Stream* stream : fake_hip::waiting_streams()) { waiting += stream->queue.size(); }
  return waiting;
}
