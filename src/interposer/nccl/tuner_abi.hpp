#pragma once

#include <cstddef>
#include <cstdint>

/// The interface between NCCL and a tuner plugin, versions 2 to 6: NCCL 2.20 to 2.30. NCCL looks a plugin up by the newest version
/// that it knows and goes down. Declared here, so that no NCCL is needed to build.
namespace elbowroom::interposer::nccl {

using Result = int;
inline constexpr Result kSuccess = 0;

using Logger = void (*)(int level, unsigned long flags, const char* file, int line, const char* format, ...);
inline constexpr int kLogInfo = 3;
inline constexpr unsigned long kLogTuning = 0x40;

struct TunerV2 {
  const char* name;
  Result (*init)(std::size_t ranks, std::size_t nodes, Logger log, void** context);
  Result (*get_coll_info)(void* context, int function, std::size_t bytes, int collnet, int nvls, int pipelined, int* algorithm,
                          int* protocol, int* channels);
  Result (*destroy)(void* context);
};

struct TunerV3 {
  const char* name;
  Result (*init)(std::size_t ranks, std::size_t nodes, Logger log, void** context);
  Result (*get_coll_info)(void* context, int function, std::size_t bytes, int pipelined, float** costs, int algorithms,
                          int protocols, int* channels);
  Result (*destroy)(void* context);
};

struct TunerV4 {
  const char* name;
  Result (*init)(std::size_t ranks, std::size_t nodes, Logger log, void** context);
  Result (*get_coll_info)(void* context, int function, std::size_t bytes, int pipelined, float** costs, int algorithms,
                          int protocols, int registered, int* channels);
  Result (*destroy)(void* context);
};

/// `domains` and `constants` are NCCL's, passed on as they are.
struct TunerV5 {
  const char* name;
  Result (*init)(void** context, std::uint64_t communicator, std::size_t ranks, std::size_t nodes, Logger log, void* domains,
                 void* constants);
  Result (*get_coll_info)(void* context, int function, std::size_t bytes, int pipelined, float** costs, int algorithms,
                          int protocols, int registered, int* channels);
  Result (*finalize)(void* context);
};

/// Without `get_chunk_size` NCCL keeps its own.
struct TunerV6 {
  const char* name;
  Result (*init)(void** context, std::uint64_t communicator, std::size_t ranks, std::size_t nodes, Logger log, void* domains,
                 void* constants);
  Result (*get_coll_info)(void* context, int function, std::size_t bytes, int pipelined, float** costs, int algorithms,
                          int protocols, int registered, int* channels);
  Result (*finalize)(void* context);
  Result (*get_chunk_size)(void* context, int function, std::size_t bytes, int algorithm, int protocol, int channels,
                           std::size_t* chunk);
};

}  // namespace elbowroom::interposer::nccl

#pragma GCC visibility push(default)
extern "C" {
extern elbowroom::interposer::nccl::TunerV2 ncclTunerPlugin_v2;
extern elbowroom::interposer::nccl::TunerV3 ncclTunerPlugin_v3;
extern elbowroom::interposer::nccl::TunerV4 ncclTunerPlugin_v4;
extern elbowroom::interposer::nccl::TunerV5 ncclTunerPlugin_v5;
extern elbowroom::interposer::nccl::TunerV6 ncclTunerPlugin_v6;
}
#pragma GCC visibility pop
