#include <sys/mman.h>

#include <array>
#include <new>
#include <span>
#include <utility>

#include "interposer/core/own_mutex.hpp"
#include "interposer/nccl/functions.hpp"
#include "interposer/nccl/library_version.hpp"
#include "interposer/nccl/notes.hpp"
#include "interposer/nccl/state.hpp"
#include "interposer/process/process.hpp"
#include "interposer/process/routes.hpp"

namespace elbowroom::interposer::nccl {
using namespace process;
namespace {

// What the calls of one thread said that NCCL has not yet turned into kernels. There is one sum for each stream, as many as one
// group may reasonably touch. Notes beyond are dropped, and their kernels are known by name and grid alone. Of communicators there
// is room for more: ranks that share a budget in unlike ways would hang.
struct Notes {
  struct Entry {
    nccl::Stream stream;
    CollectiveNote note;
  };
  // Of one communicator, whatever its streams; what NCCL asks its tuner about.
  struct Calls {
    nccl::Communicator communicator;
    std::uint32_t collectives;
  };
  std::array<Entry, 16> entries;
  std::array<Calls, 128> calls;
  std::size_t count = 0;
  std::size_t communicators = 0;
};

// The calls of one thread. The notes are no thread's own variable: of those a library may bring few where it is not loaded at the
// very start, and with auditors (LD_AUDIT) no library is.
struct Calling {
  Notes* notes = nullptr;  // null: nothing is noted
  int depth = 0;           // of groups and calls in progress
  int calls_of_library = 0;
  bool simulates = false;
  bool asked = false;  // NCCL asked its tuner about something of it
};

thread_local constinit Calling calling{};

void give_notes_back() {
  Notes* const notes = std::exchange(calling.notes, nullptr);
  if (notes != nullptr) { munmap(notes, sizeof(Notes)); }
}

// From the thread's first call of NCCL to its end, of the system: the program's allocator may be what called. Null where there is
// no memory, where nobody would tell of the end, and in a handler that interrupted this.
Notes* own_notes() {
  if (calling.notes != nullptr || OwnMutex::held_here()) { return calling.notes; }
  const OwnMutex::Busy taking;
  if (!at_thread_end(&give_notes_back)) { return nullptr; }
  void* const memory = mmap(nullptr, sizeof(Notes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) { calling.notes = new (memory) Notes; }
  return calling.notes;
}

std::span<Notes::Entry> noted_entries() {
  Notes* const notes = calling.notes;
  return notes == nullptr ? std::span<Notes::Entry>() : std::span(notes->entries).first(notes->count);
}
std::span<Notes::Calls> noted_calls() {
  Notes* const notes = calling.notes;
  return notes == nullptr ? std::span<Notes::Calls>() : std::span(notes->calls).first(notes->communicators);
}

std::uint64_t bytes_of(nccl::DataType type) {
  constexpr std::array<std::uint64_t, 12> kBytes{1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return type >= 0 && static_cast<std::size_t>(type) < kBytes.size() ? kBytes[static_cast<std::size_t>(type)] : 1;
}

// Not hooked; cheap next to the collective itself.
std::uint32_t ranks_of(nccl::Communicator communicator) {
  using CommCount = int (*)(nccl::Communicator, int*);
  static constinit LibraryFunctions<1> functions(HookedLibrary::kNccl, {"ncclCommCount"});
  const auto comm_count = functions.get<CommCount>(0);
  int ranks = 0;
  return comm_count != nullptr && comm_count(communicator, &ranks) == 0 && ranks > 0 ? static_cast<std::uint32_t>(ranks) : 0;
}

void add_note(Notes& notes, nccl::Stream stream, const CollectiveNote& note) {
  for (Notes::Entry& entry : noted_entries()) {
    if (entry.stream == stream) {
      entry.note.bytes += note.bytes;
      return;
    }
  }
  if (notes.count == notes.entries.size()) { return; }
  notes.entries[notes.count++] = {stream, note};
}

void add_call(Notes& notes, nccl::Communicator communicator, bool asks) {
  for (Notes::Calls& calls : noted_calls()) {
    if (calls.communicator == communicator) {
      calls.collectives += asks ? 1 : 0;
      return;
    }
  }
  if (notes.communicators == notes.calls.size()) { return; }
  notes.calls[notes.communicators++] = {communicator, asks ? 1U : 0U};
}

// A call or group in progress; the last one to end takes the notes with it.
class Scope {
 public:
  Scope() { ++calling.depth; }
  ~Scope() { leave(); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  static void leave() {
    if (calling.depth > 0) { --calling.depth; }
    if (calling.depth > 0) { return; }
    if (calling.notes != nullptr) { calling.notes->count = calling.notes->communicators = 0; }
    calling.asked = false;
  }
};

// While a function of NCCL that may launch is called.
class Launching {
 public:
  Launching() { ++calling.calls_of_library; }
  ~Launching() { --calling.calls_of_library; }
  Launching(const Launching&) = delete;
  Launching& operator=(const Launching&) = delete;
};

// Sends, receives and what is made of them do not.
template <auto Ours>
constexpr bool kAsksTuner = true;
template <>
constexpr bool kAsksTuner<&ncclAlltoAll> = false;
template <>
constexpr bool kAsksTuner<&ncclGather> = false;
template <>
constexpr bool kAsksTuner<&ncclScatter> = false;
template <>
constexpr bool kAsksTuner<&ncclSend> = false;
template <>
constexpr bool kAsksTuner<&ncclRecv> = false;

// `parts`: how many times the count is sent by each rank; 0: once for each rank.
template <auto Ours, class... Arguments>
int collective(const CallTarget<Ours>& target, nccl::Communicator communicator, nccl::Stream stream, std::size_t count,
               nccl::DataType type, std::uint32_t parts, Arguments... arguments) {
  if (!target.followed()) { return target(arguments...); }
  const Scope scope;
  state().calls.fetch_add(1, std::memory_order_relaxed);
  const std::uint32_t ranks = ranks_of(communicator);
  const std::uint64_t bytes = count * bytes_of(type) * (parts == 0 ? ranks : parts);
  if (Notes* const notes = own_notes()) {
    add_note(*notes, stream, {reinterpret_cast<std::uintptr_t>(communicator), bytes, ranks, library_version()});
    // An empty one is no task of NCCL's.
    add_call(*notes, communicator, kAsksTuner<Ours> && count > 0);
  }
  const Launching launching;
  return target(arguments...);
}

}  // namespace

CollectiveNote note_of(const void* stream) {
  for (const Notes::Entry& entry : noted_entries()) {
    if (entry.stream != stream) { continue; }
    CollectiveNote note = entry.note;
    note.asked = calling.asked;
    return note;
  }
  return {};
}

void note_asked() {
  if (calling.depth == 0) { return; }
  calling.asked = true;
}

// Communicators do not overlap, so that the nearest one below is the only one that can hold the address.
std::uintptr_t communicator_around(std::uintptr_t address) {
  constexpr std::uintptr_t kMostBytes = std::uintptr_t{1} << 20U;
  std::uintptr_t nearest = 0;
  for (const Notes::Calls& calls : noted_calls()) {
    const auto begin = reinterpret_cast<std::uintptr_t>(calls.communicator);
    if (begin <= address && begin > nearest) { nearest = begin; }
  }
  return address - nearest < kMostBytes ? nearest : 0;
}

std::uintptr_t only_communicator() {
  const std::span<Notes::Calls> calls = noted_calls();
  return calls.size() == 1 ? reinterpret_cast<std::uintptr_t>(calls.front().communicator) : 0;
}

std::uint32_t collectives_in_group(std::uintptr_t communicator) {
  for (const Notes::Calls& calls : noted_calls()) {
    if (reinterpret_cast<std::uintptr_t>(calls.communicator) == communicator) { return calls.collectives; }
  }
  return 0;
}

bool is_launching() { return calling.calls_of_library > 0; }
bool simulates() { return calling.simulates; }

}  // namespace elbowroom::interposer::nccl

using namespace elbowroom::interposer::process;
using namespace elbowroom::interposer::nccl;

int ncclGroupStart() {
  const CallTarget<&ncclGroupStart> target(__builtin_return_address(0));
  const int result = target();
  if (result == 0) { ++calling.depth; }
  return result;
}

int ncclGroupEnd() {
  const CallTarget<&ncclGroupEnd> target(__builtin_return_address(0));
  const Launching launching;
  const int result = target();
  Scope::leave();
  return result;
}

// The group ends here too.
int ncclGroupSimulateEnd(void* estimate) {
  const CallTarget<&ncclGroupSimulateEnd> target(__builtin_return_address(0));
  calling.simulates = true;
  const int result = target(estimate);
  calling.simulates = false;
  Scope::leave();
  return result;
}

int ncclAllReduce(const void* send, void* receive, std::size_t count, nccl::DataType type, nccl::Operation operation,
                  nccl::Communicator communicator, nccl::Stream stream) {
  return collective(CallTarget<&ncclAllReduce>(__builtin_return_address(0)), communicator, stream, count, type, 1, send, receive,
                    count, type, operation, communicator, stream);
}

int ncclReduce(const void* send, void* receive, std::size_t count, nccl::DataType type, nccl::Operation operation, int root,
               nccl::Communicator communicator, nccl::Stream stream) {
  return collective(CallTarget<&ncclReduce>(__builtin_return_address(0)), communicator, stream, count, type, 1, send, receive,
                    count, type, operation, root, communicator, stream);
}

int ncclBcast(void* buffer, std::size_t count, nccl::DataType type, int root, nccl::Communicator communicator,
              nccl::Stream stream) {
  return collective(CallTarget<&ncclBcast>(__builtin_return_address(0)), communicator, stream, count, type, 1, buffer, count, type,
                    root, communicator, stream);
}

int ncclBroadcast(const void* send, void* receive, std::size_t count, nccl::DataType type, int root,
                  nccl::Communicator communicator, nccl::Stream stream) {
  return collective(CallTarget<&ncclBroadcast>(__builtin_return_address(0)), communicator, stream, count, type, 1, send, receive,
                    count, type, root, communicator, stream);
}

int ncclReduceScatter(const void* send, void* receive, std::size_t count, nccl::DataType type, nccl::Operation operation,
                      nccl::Communicator communicator, nccl::Stream stream) {
  return collective(CallTarget<&ncclReduceScatter>(__builtin_return_address(0)), communicator, stream, count, type, 0, send,
                    receive, count, type, operation, communicator, stream);
}

int ncclAllGather(const void* send, void* receive, std::size_t count, nccl::DataType type, nccl::Communicator communicator,
                  nccl::Stream stream) {
  return collective(CallTarget<&ncclAllGather>(__builtin_return_address(0)), communicator, stream, count, type, 1, send, receive,
                    count, type, communicator, stream);
}

int ncclAlltoAll(const void* send, void* receive, std::size_t count, nccl::DataType type, nccl::Communicator communicator,
                 nccl::Stream stream) {
  return collective(CallTarget<&ncclAlltoAll>(__builtin_return_address(0)), communicator, stream, count, type, 0, send, receive,
                    count, type, communicator, stream);
}

int ncclGather(const void* send, void* receive, std::size_t count, nccl::DataType type, int root, nccl::Communicator communicator,
               nccl::Stream stream) {
  return collective(CallTarget<&ncclGather>(__builtin_return_address(0)), communicator, stream, count, type, 1, send, receive,
                    count, type, root, communicator, stream);
}

int ncclScatter(const void* send, void* receive, std::size_t count, nccl::DataType type, int root, nccl::Communicator communicator,
                nccl::Stream stream) {
  return collective(CallTarget<&ncclScatter>(__builtin_return_address(0)), communicator, stream, count, type, 0, send, receive,
                    count, type, root, communicator, stream);
}

int ncclSend(const void* send, std::size_t count, nccl::DataType type, int peer, nccl::Communicator communicator,
             nccl::Stream stream) {
  return collective(CallTarget<&ncclSend>(__builtin_return_address(0)), communicator, stream, count, type, 1, send, count, type,
                    peer, communicator, stream);
}

int ncclRecv(void* receive, std::size_t count, nccl::DataType type, int peer, nccl::Communicator communicator,
             nccl::Stream stream) {
  return collective(CallTarget<&ncclRecv>(__builtin_return_address(0)), communicator, stream, count, type, 1, receive, count, type,
                    peer, communicator, stream);
}
