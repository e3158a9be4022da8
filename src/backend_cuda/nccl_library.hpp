#pragma once

#include <cuda_runtime_api.h>

#include <climits>
#include <cstddef>
#include <memory>
#include <string>

#include "backend/dynamic_library.hpp"
#include "elbowroom/base/quantities.hpp"
#include "elbowroom/base/result.hpp"

// NCCL's C interface as far as Elbowroom calls it, declared here because the library is found at run time and its header may not
// be there when Elbowroom is built. Source: nccl.h of NCCL 2.18 to 2.28; a test compares these with the toolkit's own header.
namespace elbowroom::cuda {

struct NcclUniqueId {
  char internal[128];
};

using NcclComm = struct NcclCommOpaque*;

using NcclWindow = struct NcclWindowOpaque*;

/// The layout of 2.28. Libraries take the part that `size` and `version` name: that of 2.18 unless something newer is asked for.
struct NcclConfig {
  static constexpr int kUndefined = INT_MIN;
  std::size_t size = 48;
  unsigned int magic = 0xcafebeef;
  unsigned int version = 21800;
  int blocking = kUndefined;
  int cga_cluster_size = kUndefined;
  int min_ctas = kUndefined;
  int max_ctas = kUndefined;
  const char* net_name = nullptr;
  int split_share = kUndefined;
  int traffic_class = kUndefined;  // 2.28 from here on; a 2.18 library reads what comes before
  const char* name = nullptr;
  int collnet_enable = kUndefined;
  int cta_policy = kUndefined;
  int shrink_share = kUndefined;
  int nvls_ctas = kUndefined;
  int channels_per_net_peer = kUndefined;
  int nvlink_centric_sched = kUndefined;

  /// Moves data by copy engines where the library can, so that the collective takes no SM.
  void use_copy_engines() {
    size = sizeof(NcclConfig);
    version = 22800;
    cta_policy = 2;
  }
};

inline constexpr int kNcclSuccess = 0;
inline constexpr int kNcclInProgress = 7;
inline constexpr int kNcclSum = 0;
inline constexpr int kNcclFloat32 = 7;
inline constexpr int kNcclBfloat16 = 9;

/// Device memory from whoever `release` gives it back to.
struct CollectiveMemoryDeleter {
  int (*release)(void* memory) = nullptr;
  void operator()(void* memory) const { static_cast<void>(release(memory)); }
};
using CollectiveMemory = std::unique_ptr<void, CollectiveMemoryDeleter>;

inline constexpr int kNcclWindowSymmetric = 1;

/// A loaded NCCL; `functions` are valid while this lives.
class NcclLibrary {
 public:
  /// `unavailable` names the files that were tried. NCCL before 2.18 is refused: it lacks per-communicator budgets.
  static Result<NcclLibrary> load();

  [[nodiscard]] std::string version() const;
  /// Whether a launch gate can be set behind this library's launches; the reason otherwise.
  [[nodiscard]] const Status& launches_observed() const { return launches_observed_; }
  /// Whether memory can be made known to all ranks, for copy engines and for kernels on symmetric memory: the calls are there.
  /// Whether this machine's links allow it shows in a run.
  [[nodiscard]] bool has_windows() const { return functions.window_register != nullptr; }

  /// Memory of the current device that can be registered with communicators where the library has that; plain memory otherwise.
  [[nodiscard]] Result<CollectiveMemory> allocate(Bytes size) const;

  /// Turns a return code into a Status with the library's own words.
  [[nodiscard]] Status check(int code, const char* call) const;

  struct Functions {
    int (*get_version)(int* version);
    int (*get_unique_id)(NcclUniqueId* id);
    int (*comm_init_rank_config)(NcclComm* comm, int ranks, NcclUniqueId id, int rank, NcclConfig* config);
    int (*comm_destroy)(NcclComm comm);
    int (*comm_abort)(NcclComm comm);
    int (*comm_get_async_error)(NcclComm comm, int* error);
    const char* (*get_error_string)(int code);
    const char* (*get_last_error)(NcclComm comm);
    int (*group_start)();
    int (*group_end)();
    int (*all_reduce)(const void* send, void* recv, std::size_t count, int type, int op, NcclComm comm, cudaStream_t stream);
    int (*all_gather)(const void* send, void* recv, std::size_t send_count, int type, NcclComm comm, cudaStream_t stream);
    int (*reduce_scatter)(const void* send, void* recv, std::size_t recv_count, int type, int op, NcclComm comm,
                          cudaStream_t stream);
    int (*send)(const void* data, std::size_t count, int type, int peer, NcclComm comm, cudaStream_t stream);
    int (*recv)(void* data, std::size_t count, int type, int peer, NcclComm comm, cudaStream_t stream);
    // Since 2.28, null before.
    int (*all_to_all)(const void* send, void* recv, std::size_t count, int type, NcclComm comm, cudaStream_t stream);
    int (*mem_alloc)(void** memory, std::size_t bytes);
    int (*mem_free)(void* memory);
    int (*window_register)(NcclComm comm, void* memory, std::size_t bytes, NcclWindow* window, int flags);
    int (*window_deregister)(NcclComm comm, NcclWindow window);
  };
  Functions functions{};

 private:
  explicit NcclLibrary(elbowroom::detail::DynamicLibrary library) : opened_(std::move(library)) {}

  elbowroom::detail::DynamicLibrary opened_;
  Status launches_observed_;
  int version_ = 0;
};

}  // namespace elbowroom::cuda
