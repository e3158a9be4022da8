// A stand-in for librccl.so.1: collectives of the ranks of one process, each an operation of the fake runtime on every rank's
// stream that ends when all ranks have come to it. The environment, read at each call:
//   ELBOWROOM_FAKE_RCCL_FOLDER=DIR        a communicator's ranks are of as many processes, which meet in files of that folder
//   ELBOWROOM_FAKE_RCCL_VERSION=22105     what ncclGetVersion says
//   ELBOWROOM_FAKE_RCCL_FAIL=NAME:CODE    calls of the function NAME return CODE
//   ELBOWROOM_FAKE_RCCL_ASYNC=CODE        ncclCommGetAsyncError says CODE
//   ELBOWROOM_FAKE_RCCL_HANG=1            collectives do not end until their communicators are aborted
//   ELBOWROOM_FAKE_RCCL_WRONG=1           one element of what rank 1 receives is wrong
#include <unistd.h>

#include <chrono>
#include <climits>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "fake_hip.hpp"
#include "host_numbers.hpp"
#include "rank_files.hpp"

namespace {

constexpr int kSuccess = 0, kInternalError = 3, kInvalidArgument = 4, kFloat32 = 7, kBfloat16 = 9;

fake_hip::Format format_of(int type) { return type == kBfloat16 ? fake_hip::Format::bf16 : fake_hip::Format::f32; }

enum class Kind { all_reduce, all_gather, reduce_scatter, broadcast, exchange };

/// What one rank brings to a collective.
struct Part {
  fake_hip::Numbers send, recv;
  std::size_t count = 0;
  int root = 0;
  std::vector<fake_hip::Transfer> sends, recvs;
  bool arrived = false;
  fake_hip::SentFile file;  ///< what another process sent
};

struct Collective {
  Kind kind = Kind::all_reduce;
  std::vector<Part> parts;
  int budget = 0;
  bool moved = false;
};

/// The communicators that one identifier made.
struct Clique {
  int ranks = 0;
  int budget = 0;  ///< 0: none was asked for
  bool aborted = false;
  std::string files;                                               ///< of ranks that are several processes; empty: all are here
  std::map<std::size_t, std::shared_ptr<Collective>> collectives;  ///< by their number on each rank
};

struct Communicator {
  std::shared_ptr<Clique> clique;
  int rank = 0;
  std::size_t next = 0;
};

/// One rank's share as the fake runtime runs it.
struct Share {
  std::shared_ptr<Clique> clique;
  std::shared_ptr<Collective> collective;
  std::size_t rank;
  std::size_t number;
};

struct Pending {
  Communicator* comm;
  Kind kind;
  Part part;
  hip::Stream stream;
};

struct UniqueId {
  char internal[128];
};

struct Config {  // of 2.18
  std::size_t size;
  unsigned magic, version;
  int blocking, cluster, min_ctas, max_ctas;
  const char* net;
  int split;
};

/// All calls come from the thread that drives the backend.
struct State {
  int depth = 0;
  int next_id = 1;
  int latest_budget = 0;
  std::map<int, std::shared_ptr<Clique>> cliques;
  std::vector<Pending> pending;
};
State state;

int injected(const char* function) {
  const char* const text = std::getenv("ELBOWROOM_FAKE_RCCL_FAIL");
  if (text == nullptr) { return kSuccess; }
  const std::string failing(text);
  const std::size_t colon = failing.find(':');
  return failing.substr(0, colon) == function ? std::atoi(failing.c_str() + colon + 1) : kSuccess;
}

std::string file_of(const Share& share, std::size_t rank) {
  return share.clique->files + "." + std::to_string(share.number) + "." + std::to_string(rank);
}

/// Tells the other processes what this rank sends, and finds out which of them have come.
void meet(const Share& share) {
  Collective& collective = *share.collective;
  Part& own = collective.parts[share.rank];
  if (!own.arrived) {
    fake_hip::write(file_of(share, share.rank), own.send,
                    collective.kind == Kind::reduce_scatter ? own.count * collective.parts.size() : own.count, own.sends);
  }
  for (std::size_t rank = 0; rank < collective.parts.size(); ++rank) {
    Part& part = collective.parts[rank];
    if (rank == share.rank || part.arrived || !fake_hip::is_there(file_of(share, rank))) { continue; }
    part.file = fake_hip::read(file_of(share, rank));
    part.send = {part.file.sent.data(), own.send.format};
    part.sends = part.file.sends();
    part.arrived = true;
  }
}

bool can_run(void* data) {
  const Share& share = *static_cast<Share*>(data);
  if (share.clique->aborted) { return true; }
  if (!share.clique->files.empty()) { meet(share); }
  share.collective->parts[share.rank].arrived = true;
  if (std::getenv("ELBOWROOM_FAKE_RCCL_HANG") != nullptr) { return false; }
  for (const Part& part : share.collective->parts) {
    if (!part.arrived) { return false; }
  }
  return true;
}

float sum_at(const Collective& what, std::size_t index) {
  float sum = 0;
  for (const Part& part : what.parts) { sum += part.send.read(index); }
  return sum;
}

void exchange(const Collective& what, const Part& to, int to_rank) {
  std::map<int, std::size_t> taken;
  for (const fake_hip::Transfer& recv : to.recvs) {
    const Part& from = what.parts[static_cast<std::size_t>(recv.peer)];
    std::size_t skip = taken[recv.peer]++;
    for (const fake_hip::Transfer& send : from.sends) {
      if (send.peer != to_rank || skip-- != 0) { continue; }
      std::memcpy(recv.data, send.data, recv.count * from.send.bytes());
      break;
    }
  }
}

void move_to(const Collective& what, std::size_t rank) {
  const Part& to = what.parts[rank];
  if (what.kind == Kind::exchange) { exchange(what, to, static_cast<int>(rank)); }
  for (std::size_t i = 0; i < to.count; ++i) {
    if (what.kind == Kind::all_reduce) { to.recv.write(i, sum_at(what, i)); }
    if (what.kind == Kind::reduce_scatter) { to.recv.write(i, sum_at(what, rank * to.count + i)); }
  }
  if (what.kind == Kind::broadcast) {
    std::memcpy(to.recv.data, what.parts[static_cast<std::size_t>(to.root)].send.data, to.count * to.recv.bytes());
  }
  if (what.kind == Kind::all_gather) {
    for (std::size_t from = 0; from < what.parts.size(); ++from) {
      std::memcpy(to.recv.at(from * to.count), what.parts[from].send.data, to.count * to.recv.bytes());
    }
  }
  if (rank != 1) { return; }
  // "1": every communicator's results are wrong; "budget": those of communicators that were asked for a block budget.
  const char* const wrong = std::getenv("ELBOWROOM_FAKE_RCCL_WRONG");
  if (wrong == nullptr || (std::string_view(wrong) == "budget" && what.budget == 0)) { return; }
  const fake_hip::Numbers received{what.kind == Kind::exchange ? to.recvs.front().data : to.recv.data, to.send.format};
  received.write(3, received.read(3) + 1);
}

void run(void* data) {
  const std::unique_ptr<Share> share(static_cast<Share*>(data));
  if (share->clique->aborted || share->collective->moved) { return; }
  share->collective->moved = true;
  for (std::size_t rank = 0; rank < share->collective->parts.size(); ++rank) {
    if (share->clique->files.empty() || rank == share->rank) { move_to(*share->collective, rank); }
  }
}

/// Waits for the other processes, as the library does.
bool all_have_joined(const Clique& clique, int own) {
  const auto file = [&](int rank) { return clique.files + ".joined." + std::to_string(rank); };
  fake_hip::write(file(own), {}, 0, {});
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  for (int rank = 0; rank < clique.ranks;) {
    if (fake_hip::is_there(file(rank))) {
      ++rank;
      continue;
    }
    if (std::chrono::steady_clock::now() > end) { return false; }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

int enqueue(Pending& pending) {
  Communicator& comm = *pending.comm;
  std::shared_ptr<Collective>& collective = comm.clique->collectives[comm.next];
  if (collective == nullptr) {
    collective = std::make_shared<Collective>();
    collective->kind = pending.kind;
    collective->budget = comm.clique->budget;
    collective->parts.resize(static_cast<std::size_t>(comm.clique->ranks));
  }
  std::size_t elements = pending.part.count;
  for (const fake_hip::Transfer& sent : pending.part.sends) { elements += sent.count; }
  const std::size_t bytes = elements * pending.part.send.bytes();
  collective->parts[static_cast<std::size_t>(comm.rank)] = std::move(pending.part);
  auto* const share = new Share{comm.clique, collective, static_cast<std::size_t>(comm.rank), comm.next};
  ++comm.next;
  // 50 GB/s.
  const FakeOperation operation{"ncclDevKernel_Generic_4", share, can_run, run, 5'000 + bytes / 50};
  if (fake_hip_enqueue(pending.stream, &operation) == 0) { return kSuccess; }
  delete share;
  return 1;
}

int leave() {
  if (--state.depth > 0) { return kSuccess; }
  std::vector<Pending> pending;
  pending.swap(state.pending);
  for (Pending& one : pending) {
    if (const int code = enqueue(one)) { return code; }
  }
  return kSuccess;
}

int add(Communicator* comm, Kind kind, Part part, hip::Stream stream) {
  ++state.depth;
  // Sends and receives of one group are one kernel.
  Pending* same = nullptr;
  for (Pending& one : state.pending) {
    if (kind == Kind::exchange && one.comm == comm && one.kind == kind) { same = &one; }
  }
  if (same == nullptr) {
    state.pending.push_back({comm, kind, std::move(part), stream});
  } else {
    same->part.sends.insert(same->part.sends.end(), part.sends.begin(), part.sends.end());
    same->part.recvs.insert(same->part.recvs.end(), part.recvs.begin(), part.recvs.end());
  }
  return leave();
}

int add(Communicator* comm, Kind kind, const void* send, void* recv, std::size_t count, int type, hip::Stream stream) {
  if (type != kFloat32 && type != kBfloat16) { return kInvalidArgument; }
  Part part;
  part.send = {const_cast<void*>(send), format_of(type)};
  part.recv = {recv, format_of(type)};
  part.count = count;
  return add(comm, kind, std::move(part), stream);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

/// The budget of the latest communicator; 0: none was asked for.
int fake_rccl_latest_budget() { return state.latest_budget; }

int ncclGetVersion(int* version) {
  const char* const text = std::getenv("ELBOWROOM_FAKE_RCCL_VERSION");
  *version = text == nullptr ? 22105 : std::atoi(text);
  return injected("ncclGetVersion");
}

const char* ncclGetErrorString(int code) {
  return code == 6 ? "remote process exited or there was a network error" : "internal error";
}
const char* ncclGetLastError(Communicator*) { return "the fake said so\nand more\n"; }

int ncclGetUniqueId(UniqueId* id) {
  *id = {};
  // Of one process among several, whose cliques have other numbers.
  const int first = std::getenv("ELBOWROOM_FAKE_RCCL_FOLDER") == nullptr ? 0 : static_cast<int>(getpid()) * 256;
  *reinterpret_cast<int*>(id->internal) = first + state.next_id++;
  return injected("ncclGetUniqueId");
}

int ncclCommInitRankConfig(Communicator** comm, int ranks, UniqueId id, int rank, Config* config) {
  if (const int code = injected("ncclCommInitRankConfig")) { return code; }
  if (config != nullptr && (config->magic != 0xcafebeef || config->size != sizeof(Config) || config->min_ctas > config->max_ctas)) {
    return kInvalidArgument;
  }
  std::shared_ptr<Clique>& clique = state.cliques[*reinterpret_cast<const int*>(id.internal)];
  if (clique == nullptr) { clique = std::make_shared<Clique>(); }
  clique->ranks = ranks;
  clique->budget = config == nullptr || config->max_ctas == INT_MIN ? 0 : config->max_ctas;
  state.latest_budget = clique->budget;
  if (const char* const folder = std::getenv("ELBOWROOM_FAKE_RCCL_FOLDER"); folder != nullptr && ranks > 1) {
    clique->files = std::string(folder) + "/" + std::to_string(*reinterpret_cast<const int*>(id.internal));
    if (!all_have_joined(*clique, rank)) { return kInternalError; }
  }
  *comm = new Communicator{clique, rank, 0};
  return kSuccess;
}

int ncclCommInitRank(Communicator** comm, int ranks, UniqueId id, int rank) {
  if (const int code = injected("ncclCommInitRank")) { return code; }
  return ncclCommInitRankConfig(comm, ranks, id, rank, nullptr);
}

int ncclCommDestroy(Communicator* comm) {
  delete comm;
  return kSuccess;
}

int ncclCommAbort(Communicator* comm) {
  comm->clique->aborted = true;
  delete comm;
  return kSuccess;
}

int ncclCommGetAsyncError(Communicator*, int* error) {
  const char* const text = std::getenv("ELBOWROOM_FAKE_RCCL_ASYNC");
  *error = text == nullptr ? kSuccess : std::atoi(text);
  return kSuccess;
}

int ncclGroupStart() {
  ++state.depth;
  return injected("ncclGroupStart");
}

int ncclGroupEnd() {
  const int left = leave();
  const int code = injected("ncclGroupEnd");
  return code != kSuccess ? code : left;
}

int ncclAllReduce(const void* send, void* recv, std::size_t count, int type, int, Communicator* comm, hip::Stream stream) {
  if (const int code = injected("ncclAllReduce")) { return code; }
  return add(comm, Kind::all_reduce, send, recv, count, type, stream);
}

int ncclAllGather(const void* send, void* recv, std::size_t count, int type, Communicator* comm, hip::Stream stream) {
  return add(comm, Kind::all_gather, send, recv, count, type, stream);
}

int ncclReduceScatter(const void* send, void* recv, std::size_t count, int type, int, Communicator* comm, hip::Stream stream) {
  return add(comm, Kind::reduce_scatter, send, recv, count, type, stream);
}

int ncclBroadcast(const void* send, void* recv, std::size_t count, int type, int root, Communicator* comm, hip::Stream stream) {
  if (type != kFloat32 && type != kBfloat16) { return kInvalidArgument; }
  if (root < 0 || root >= comm->clique->ranks) { return kInvalidArgument; }
  Part part;
  part.send = {const_cast<void*>(send), format_of(type)};
  part.recv = {recv, format_of(type)};
  part.count = count;
  part.root = root;
  return add(comm, Kind::broadcast, std::move(part), stream);
}

int ncclSend(const void* data, std::size_t count, int type, int peer, Communicator* comm, hip::Stream stream) {
  Part part;
  part.send = {nullptr, format_of(type)};
  part.sends.push_back({peer, const_cast<void*>(data), count});
  return add(comm, Kind::exchange, std::move(part), stream);
}

int ncclRecv(void* data, std::size_t count, int type, int peer, Communicator* comm, hip::Stream stream) {
  Part part;
  part.send = {nullptr, format_of(type)};
  part.recvs.push_back({peer, data, count});
  return add(comm, Kind::exchange, std::move(part), stream);
}
}
#pragma GCC visibility pop
