#include <array>
#include <span>

#include "interposer/nccl/functions.hpp"
#include "interposer/nccl/library_version.hpp"
#include "interposer/nccl/notes.hpp"
#include "interposer/nccl/ranks.hpp"
#include "interposer/nccl/state.hpp"
#include "interposer/process/routes.hpp"

namespace elbowroom::interposer::nccl {
using namespace process;
namespace {

/// What calls in progress said of the kernel that NCCL is about to launch on a stream: one sum for each.
struct Noted {
  nccl::Stream stream;
  CollectiveNote note;
};

// The calls of one thread. Few streams: a library that is not loaded at the very start may bring little of a thread's own. The
// kernels of further ones in a group are known by name and grid alone.
struct Calling {
  std::array<Noted, 6> notes{};
  std::uint32_t count = 0;
  int depth = 0;  // of groups and calls in progress
};

thread_local constinit Calling calling{};

std::span<Noted> noted() { return std::span(calling.notes).first(calling.count); }

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

void add_note(nccl::Stream stream, const CollectiveNote& note) {
  for (Noted& entry : noted()) {
    if (entry.stream == stream) {
      entry.note.bytes += note.bytes;
      return;
    }
  }
  if (calling.count < calling.notes.size()) { calling.notes[calling.count++] = {stream, note}; }
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
    if (calling.depth == 0) { calling.count = 0; }
  }
};

template <auto Ours, class... Arguments>
int end_group(const CallTarget<Ours>& target, Arguments... arguments) {
  const int result = target(arguments...);
  Scope::leave();
  return result;
}

template <auto Ours>
constexpr bool kOfAllRanks = true;
template <>
constexpr bool kOfAllRanks<&ncclSend> = false;
template <>
constexpr bool kOfAllRanks<&ncclRecv> = false;

// `parts`: how many times the count is sent by each rank; 0: once for each rank.
template <auto Ours, class... Arguments>
int collective(const CallTarget<Ours>& target, nccl::Communicator communicator, nccl::Stream stream, std::size_t count,
               nccl::DataType type, std::uint32_t parts, Arguments... arguments) {
  if (!target.followed()) { return target(arguments...); }
  const Scope scope;
  state().calls.fetch_add(1, std::memory_order_relaxed);
  const std::uint32_t ranks = ranks_of(communicator);
  const std::uint64_t bytes = count * bytes_of(type) * (parts == 0 ? ranks : parts);
  add_note(stream, {bytes, ranks, library_version()});
  if constexpr (kOfAllRanks<Ours>) { before_collective(communicator, ranks); }
  return target(arguments...);
}

}  // namespace

CollectiveNote note_of(const void* stream) {
  for (const Noted& entry : noted()) {
    if (entry.stream == stream) { return entry.note; }
  }
  return {};
}

}  // namespace elbowroom::interposer::nccl

using namespace elbowroom::interposer::process;
using namespace elbowroom::interposer::nccl;

int ncclGroupStart() {
  const CallTarget<&ncclGroupStart> target(__builtin_return_address(0));
  const int result = target();
  if (result == 0) { ++calling.depth; }
  return result;
}

int ncclGroupEnd() { return end_group(CallTarget<&ncclGroupEnd>(__builtin_return_address(0))); }

// The group ends here too.
int ncclGroupSimulateEnd(void* estimate) {
  return end_group(CallTarget<&ncclGroupSimulateEnd>(__builtin_return_address(0)), estimate);
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
