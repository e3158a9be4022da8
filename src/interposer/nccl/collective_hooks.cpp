#include <array>
#include <atomic>
#include <bit>

#include "interposer/core/table.hpp"
#include "interposer/nccl/functions.hpp"
#include "interposer/nccl/library_version.hpp"
#include "interposer/nccl/notes.hpp"
#include "interposer/nccl/state.hpp"
#include "interposer/process/meant.hpp"

namespace elbowroom::interposer::nccl {
using namespace process;
namespace {

// The calls of one thread that NCCL has not yet turned into kernels. There is one sum for each stream, as many as one group may
// reasonably touch. Notes beyond are dropped, and their kernels are known by name and grid alone. Of communicators there is room
// for more: ranks that share a budget in unlike ways would hang.
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
  std::size_t count;
  std::size_t communicators;
};

// Lent to threads for as long as their calls are in progress. A thread's own would be static TLS, of which a program may have none
// to spare: with LD_AUDIT it would not start. A thread that finds none free goes without.
constexpr std::size_t kThreads = 64;
constinit std::array<Notes, kThreads> lent{};
constinit std::atomic<std::uint64_t> in_use{0};

struct Thread {
  Notes* notes = nullptr;
  int depth = 0;  // of groups and calls in progress
  int calls_of_library = 0;
  bool simulates = false;
  bool asked = false;       // NCCL asked its tuner about something of it
  bool own_blocks = false;  // and no budget was in force
};
thread_local constinit Thread own{};

Notes* notes() {
  if (own.notes != nullptr) { return own.notes; }
  std::uint64_t used = in_use.load(std::memory_order_relaxed);
  while (~used != 0) {
    const auto place = static_cast<unsigned>(std::countr_one(used));
    if (!in_use.compare_exchange_weak(used, used | bit_at(place), std::memory_order_acquire)) { continue; }
    lent[place].count = lent[place].communicators = 0;
    return own.notes = &lent[place];
  }
  return nullptr;
}

void give_back() {
  if (own.notes == nullptr) { return; }
  const auto place = static_cast<unsigned>(own.notes - lent.data());
  own.notes = nullptr;
  in_use.fetch_and(~bit_at(place), std::memory_order_release);
}

std::uint64_t bytes_of(nccl::DataType type) {
  constexpr std::array<std::uint64_t, 12> kBytes{1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return type >= 0 && static_cast<std::size_t>(type) < kBytes.size() ? kBytes[static_cast<std::size_t>(type)] : 1;
}

// Not hooked; cheap next to the collective itself.
std::uint32_t ranks_of(CopyId copy, nccl::Communicator communicator) {
  using CommCount = int (*)(nccl::Communicator, int*);
  static constinit CopyFunctions<1> functions({"ncclCommCount"});
  const auto comm_count = functions.get<CommCount>(copy, 0);
  int ranks = 0;
  return comm_count != nullptr && comm_count(communicator, &ranks) == 0 && ranks > 0 ? static_cast<std::uint32_t>(ranks) : 0;
}

void add_note(Notes& notes, nccl::Stream stream, const CollectiveNote& note) {
  for (std::size_t i = 0; i < notes.count; ++i) {
    if (notes.entries[i].stream == stream) {
      notes.entries[i].note.bytes += note.bytes;
      return;
    }
  }
  if (notes.count == notes.entries.size()) { return; }
  notes.entries[notes.count++] = {stream, note};
}

void add_call(Notes& notes, nccl::Communicator communicator, bool asks) {
  for (std::size_t i = 0; i < notes.communicators; ++i) {
    if (notes.calls[i].communicator == communicator) {
      notes.calls[i].collectives += asks ? 1 : 0;
      return;
    }
  }
  if (notes.communicators == notes.calls.size()) { return; }
  notes.calls[notes.communicators++] = {communicator, asks ? 1U : 0U};
}

// A call or group in progress; the last one to end takes the notes with it.
class Scope {
 public:
  Scope() { ++own.depth; }
  ~Scope() { leave(); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  static void leave() {
    if (own.depth > 0) { --own.depth; }
    if (own.depth > 0) { return; }
    give_back();
    own.asked = own.own_blocks = false;
  }
};

// While a function of NCCL that may launch is called.
class Launching {
 public:
  Launching() { ++own.calls_of_library; }
  ~Launching() { --own.calls_of_library; }
  Launching(const Launching&) = delete;
  Launching& operator=(const Launching&) = delete;
};

// Sends, receives and what is made of them do not.
template <auto Ours>
constexpr bool kAsksTuner = true;
template <>
constexpr bool kAsksTuner<&ncclAlltoAll> = false;
template <>
constexpr bool kAsksTuner<&ncclSend> = false;
template <>
constexpr bool kAsksTuner<&ncclRecv> = false;

// `parts`: how many times the count is sent by each rank; 0: once for each rank.
template <auto Ours, class... Arguments>
int collective(const Meant<Ours>& meant, nccl::Communicator communicator, nccl::Stream stream, std::size_t count,
               nccl::DataType type, std::uint32_t parts, Arguments... arguments) {
  if (!meant.certain()) { return meant(arguments...); }
  const Scope scope;
  state().calls.fetch_add(1, std::memory_order_relaxed);
  const std::uint32_t ranks = ranks_of(meant.copy(), communicator);
  const std::uint64_t bytes = count * bytes_of(type) * (parts == 0 ? ranks : parts);
  if (Notes* const known = notes()) {
    add_note(*known, stream, {reinterpret_cast<std::uintptr_t>(communicator), bytes, ranks, library_version(meant.copy())});
    // An empty one is no task of NCCL's.
    add_call(*known, communicator, kAsksTuner<Ours> && count > 0);
  }
  const Launching launching;
  return meant(arguments...);
}

}  // namespace

CollectiveNote note_of(const void* stream) {
  const Notes* const known = own.notes;
  for (std::size_t i = 0; known != nullptr && i < known->count; ++i) {
    if (known->entries[i].stream != stream) { continue; }
    CollectiveNote note = known->entries[i].note;
    note.asked = own.asked;
    note.own_blocks = own.own_blocks;
    return note;
  }
  return {};
}

void note_asked(bool own_blocks) {
  if (own.depth == 0) { return; }
  own.asked = true;
  own.own_blocks = own_blocks;
}

// Communicators do not overlap, so that the nearest one below is the only one that can hold the address.
std::uintptr_t communicator_around(std::uintptr_t address) {
  constexpr std::uintptr_t kMostBytes = std::uintptr_t{1} << 20U;
  const Notes* const known = own.notes;
  std::uintptr_t nearest = 0;
  for (std::size_t i = 0; known != nullptr && i < known->communicators; ++i) {
    const auto begin = reinterpret_cast<std::uintptr_t>(known->calls[i].communicator);
    if (begin <= address && begin > nearest) { nearest = begin; }
  }
  return address - nearest < kMostBytes ? nearest : 0;
}

std::uintptr_t only_communicator() {
  const Notes* const known = own.notes;
  return known != nullptr && known->communicators == 1 ? reinterpret_cast<std::uintptr_t>(known->calls[0].communicator) : 0;
}

std::uint32_t collectives_in_group(std::uintptr_t communicator) {
  const Notes* const known = own.notes;
  for (std::size_t i = 0; known != nullptr && i < known->communicators; ++i) {
    if (reinterpret_cast<std::uintptr_t>(known->calls[i].communicator) == communicator) { return known->calls[i].collectives; }
  }
  return 0;
}

bool is_launching() { return own.calls_of_library > 0; }
bool simulates() { return own.simulates; }

}  // namespace elbowroom::interposer::nccl

using namespace elbowroom::interposer::process;
using namespace elbowroom::interposer::nccl;

int ncclGroupStart() {
  const Meant<&ncclGroupStart> meant(__builtin_return_address(0));
  const int result = meant();
  if (result == 0) { ++own.depth; }
  return result;
}

int ncclGroupEnd() {
  const Meant<&ncclGroupEnd> meant(__builtin_return_address(0));
  const Launching launching;
  const int result = meant();
  Scope::leave();
  return result;
}

// The group ends here too.
int ncclGroupSimulateEnd(void* estimate) {
  const Meant<&ncclGroupSimulateEnd> meant(__builtin_return_address(0));
  own.simulates = true;
  const int result = meant(estimate);
  own.simulates = false;
  Scope::leave();
  return result;
}

int ncclAllReduce(const void* send, void* receive, std::size_t count, nccl::DataType type, nccl::Operation operation,
                  nccl::Communicator communicator, nccl::Stream stream) {
  return collective(Meant<&ncclAllReduce>(__builtin_return_address(0)), communicator, stream, count, type, 1, send, receive, count,
                    type, operation, communicator, stream);
}

int ncclReduce(const void* send, void* receive, std::size_t count, nccl::DataType type, nccl::Operation operation, int root,
               nccl::Communicator communicator, nccl::Stream stream) {
  return collective(Meant<&ncclReduce>(__builtin_return_address(0)), communicator, stream, count, type, 1, send, receive, count,
                    type, operation, root, communicator, stream);
}

int ncclBcast(void* buffer, std::size_t count, nccl::DataType type, int root, nccl::Communicator communicator,
              nccl::Stream stream) {
  return collective(Meant<&ncclBcast>(__builtin_return_address(0)), communicator, stream, count, type, 1, buffer, count, type, root,
                    communicator, stream);
}

int ncclBroadcast(const void* send, void* receive, std::size_t count, nccl::DataType type, int root,
                  nccl::Communicator communicator, nccl::Stream stream) {
  return collective(Meant<&ncclBroadcast>(__builtin_return_address(0)), communicator, stream, count, type, 1, send, receive, count,
                    type, root, communicator, stream);
}

int ncclReduceScatter(const void* send, void* receive, std::size_t count, nccl::DataType type, nccl::Operation operation,
                      nccl::Communicator communicator, nccl::Stream stream) {
  return collective(Meant<&ncclReduceScatter>(__builtin_return_address(0)), communicator, stream, count, type, 0, send, receive,
                    count, type, operation, communicator, stream);
}

int ncclAllGather(const void* send, void* receive, std::size_t count, nccl::DataType type, nccl::Communicator communicator,
                  nccl::Stream stream) {
  return collective(Meant<&ncclAllGather>(__builtin_return_address(0)), communicator, stream, count, type, 1, send, receive, count,
                    type, communicator, stream);
}

int ncclAlltoAll(const void* send, void* receive, std::size_t count, nccl::DataType type, nccl::Communicator communicator,
                 nccl::Stream stream) {
  return collective(Meant<&ncclAlltoAll>(__builtin_return_address(0)), communicator, stream, count, type, 0, send, receive, count,
                    type, communicator, stream);
}

int ncclSend(const void* send, std::size_t count, nccl::DataType type, int peer, nccl::Communicator communicator,
             nccl::Stream stream) {
  return collective(Meant<&ncclSend>(__builtin_return_address(0)), communicator, stream, count, type, 1, send, count, type, peer,
                    communicator, stream);
}

int ncclRecv(void* receive, std::size_t count, nccl::DataType type, int peer, nccl::Communicator communicator,
             nccl::Stream stream) {
  return collective(Meant<&ncclRecv>(__builtin_return_address(0)), communicator, stream, count, type, 1, receive, count, type, peer,
                    communicator, stream);
}
