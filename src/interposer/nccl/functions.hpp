#pragma once

#include <cstddef>

/// The NCCL functions that are hooked, as nccl.h declares them, and RCCL's of the same names: they tell how much the kernel that follows
/// will move.
namespace elbowroom::interposer::nccl {
using Communicator = struct OpaqueCommunicator*;
using DataType = int;
using Operation = int;
using Stream = void*;  // of CUDA or of HIP
}  // namespace elbowroom::interposer::nccl

namespace nccl = elbowroom::interposer::nccl;

#pragma GCC visibility push(default)
extern "C" {
int ncclGroupStart();
int ncclGroupEnd();
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
int ncclSend(const void* send, std::size_t count, nccl::DataType type, int peer, nccl::Communicator communicator,
             nccl::Stream stream);
int ncclRecv(void* receive, std::size_t count, nccl::DataType type, int peer, nccl::Communicator communicator, nccl::Stream stream);
}  // extern "C"
#pragma GCC visibility pop
