#pragma once

#include <array>
#include <cstddef>

/// The NCCL functions that are hooked, as nccl.h declares them, and RCCL's of the same names. They tell how much the kernel that
/// follows will move.
namespace elbowroom::interposer::nccl {
using Communicator = struct OpaqueCommunicator*;
using DataType = int;
using Operation = int;
using Stream = void*;  // of CUDA or of HIP
struct UniqueId {
  std::array<char, 128> bytes;
};
struct Config;
}  // namespace elbowroom::interposer::nccl

namespace nccl = elbowroom::interposer::nccl;

#pragma GCC visibility push(default)
extern "C" {
int ncclGroupStart();
int ncclGroupEnd();
int ncclGroupSimulateEnd(void* estimate);
int ncclAllReduce(const void* send, void* receive, std::size_t count, nccl::DataType type, nccl::Operation operation,
                  nccl::Communicator communicator, nccl::Stream stream);
int ncclReduce(const void* send, void* receive, std::size_t count, nccl::DataType type, nccl::Operation operation, int root,
               nccl::Communicator communicator, nccl::Stream stream);
int ncclBcast(void* buffer, std::size_t count, nccl::DataType type, int root, nccl::Communicator communicator, nccl::Stream stream);
int ncclBroadcast(const void* send, void* receive, std::size_t count, nccl::DataType type, int root,
                  nccl::Communicator communicator, nccl::Stream stream);
int ncclReduceScatter(const void* send, void* receive, std::size_t count, nccl::DataType type, nccl::Operation operation,
                      nccl::Communicator communicator, nccl::Stream stream);
int ncclAllGather(const void* send, void* receive, std::size_t count, nccl::DataType type, nccl::Communicator communicator,
                  nccl::Stream stream);
int ncclAlltoAll(const void* send, void* receive, std::size_t count, nccl::DataType type, nccl::Communicator communicator,
                 nccl::Stream stream);
int ncclGather(const void* send, void* receive, std::size_t count, nccl::DataType type, int root, nccl::Communicator communicator,
               nccl::Stream stream);
int ncclScatter(const void* send, void* receive, std::size_t count, nccl::DataType type, int root, nccl::Communicator communicator,
                nccl::Stream stream);
int ncclSend(const void* send, std::size_t count, nccl::DataType type, int peer, nccl::Communicator communicator,
             nccl::Stream stream);
int ncclRecv(void* receive, std::size_t count, nccl::DataType type, int peer, nccl::Communicator communicator, nccl::Stream stream);

// What makes communicators.
int ncclCommInitRank(nccl::Communicator* made, int ranks, nccl::UniqueId id, int rank);
int ncclCommInitRankConfig(nccl::Communicator* made, int ranks, nccl::UniqueId id, int rank, nccl::Config* config);
int ncclCommInitRankScalable(nccl::Communicator* made, int ranks, int rank, int id_count, nccl::UniqueId* ids,
                             nccl::Config* config);
int ncclCommInitAll(nccl::Communicator* made, int devices, const int* list);
int ncclCommSplit(nccl::Communicator parent, int color, int key, nccl::Communicator* made, nccl::Config* config);
int ncclCommShrink(nccl::Communicator parent, int* excluded, int excluded_count, nccl::Communicator* made, nccl::Config* config,
                   int flags);
int ncclCommGrow(nccl::Communicator parent, int ranks, const nccl::UniqueId* id, int rank, nccl::Communicator* made,
                 nccl::Config* config);
}  // extern "C"
#pragma GCC visibility pop
