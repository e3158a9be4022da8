#pragma once

#include <climits>
#include <cstddef>
#include <string>

#include "backend/dynamic_library.hpp"
#include "backend_hip/hip_abi.hpp"
#include "elbowroom/base/result.hpp"

// RCCL's NCCL-compatible C interface as far as Elbowroom calls it. Source: nccl.h of the RCCL of ROCm 5.0 (2.10) to 6.4 (2.22).
namespace elbowroom::hip {

struct RcclUniqueId {
  char internal[128];
};

using RcclComm = struct RcclCommOpaque*;

/// The layout of 2.18; a library reads the part that it knows, `size` and `version` name what is there.
struct RcclConfig {
  static constexpr int kUndefined = INT_MIN;
  std::size_t size = sizeof(RcclConfig);
  unsigned int magic = 0xcafebeef;
  unsigned int version = 21800;
  int blocking = kUndefined;
  int cga_cluster_size = kUndefined;
  int min_ctas = kUndefined;
  int max_ctas = kUndefined;
  const char* net_name = nullptr;
  int split_share = kUndefined;
};

inline constexpr int kRcclSuccess = 0;
inline constexpr int kRcclInProgress = 7;
inline constexpr int kRcclSum = 0;
inline constexpr int kRcclFloat32 = 7;
inline constexpr int kRcclBfloat16 = 9;

/// A loaded RCCL; `functions` are valid while this lives.
class RcclLibrary {
 public:
  /// `unavailable` names the files that were tried.
  static Result<RcclLibrary> load();

  [[nodiscard]] std::string version() const;
  /// Whether a communicator can be told how many blocks its collectives take (since 2.17, ROCm 5.7).
  [[nodiscard]] bool has_block_budgets() const { return functions.comm_init_rank_config != nullptr; }

  /// Turns a return code into a Status with the library's own words.
  [[nodiscard]] Status check(int code, const char* call) const;

  struct Functions {
    int (*get_version)(int* version);
    int (*get_unique_id)(RcclUniqueId* id);
    int (*comm_init_rank)(RcclComm* comm, int ranks, RcclUniqueId id, int rank);
    int (*comm_destroy)(RcclComm comm);
    int (*comm_abort)(RcclComm comm);
    int (*comm_get_async_error)(RcclComm comm, int* error);
    const char* (*get_error_string)(int code);
    int (*group_start)();
    int (*group_end)();
    int (*all_reduce)(const void* send, void* recv, std::size_t count, int type, int op, RcclComm comm, HipStream stream);
    int (*all_gather)(const void* send, void* recv, std::size_t send_count, int type, RcclComm comm, HipStream stream);
    int (*reduce_scatter)(const void* send, void* recv, std::size_t recv_count, int type, int op, RcclComm comm, HipStream stream);
    int (*send)(const void* data, std::size_t count, int type, int peer, RcclComm comm, HipStream stream);
    int (*recv)(void* data, std::size_t count, int type, int peer, RcclComm comm, HipStream stream);
    // Null where the library is too old.
    int (*comm_init_rank_config)(RcclComm* comm, int ranks, RcclUniqueId id, int rank, RcclConfig* config);
    const char* (*get_last_error)(RcclComm comm);
  };
  Functions functions{};

 private:
  explicit RcclLibrary(elbowroom::detail::DynamicLibrary library) : library_(std::move(library)) {}
  Status bind_all();

  elbowroom::detail::DynamicLibrary library_;
  int version_ = 0;
};

}  // namespace elbowroom::hip
