#pragma once

#include <climits>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>

#include "backend/dynamic_library.hpp"
#include "backend_gpu/calls.hpp"
#include "backend_gpu/handles.hpp"
#include "elbowroom/base/quantities.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/comm_catalog.hpp"

// The C interface that NCCL and RCCL share, as far as Elbowroom calls it, declared here because the libraries are found at run
// time. Sources: nccl.h of NCCL 2.18 to 2.28, and of the RCCL of ROCm 5.0 (2.10) to 6.4 (2.22). A test compares the first with the
// toolkit's own header.
namespace elbowroom::gpu {

struct UniqueId {
  char internal[128];
};

using CommHandle = struct CommOpaque*;
using WindowHandle = struct WindowOpaque*;

/// The layout of 2.28. Libraries take the part that `size` and `version` name: that of 2.18 unless something newer is asked for.
struct CommConfig {
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
    size = sizeof(CommConfig);
    version = 22800;
    cta_policy = 2;
  }
};

inline constexpr int kCommSuccess = 0;
inline constexpr int kCommInProgress = 7;
inline constexpr int kCommSum = 0;
inline constexpr int kCommFloat32 = 7;
inline constexpr int kCommBfloat16 = 9;
inline constexpr int kWindowSymmetric = 1;

/// Counts are of elements: of each rank's share where there is one, else of the whole.
struct CommCalls {
  Call<int*> get_version{"ncclGetVersion"};
  Call<UniqueId*> get_unique_id{"ncclGetUniqueId"};
  Call<CommHandle*, int, UniqueId, int> comm_init_rank{"ncclCommInitRank"};
  Call<CommHandle> comm_destroy{"ncclCommDestroy"};
  Call<CommHandle> comm_abort{"ncclCommAbort"};
  Call<CommHandle, int*> comm_get_async_error{"ncclCommGetAsyncError"};
  const char* (*get_error_string)(int code) = nullptr;
  Call<> group_start{"ncclGroupStart"};
  Call<> group_end{"ncclGroupEnd"};
  Call<const void*, void*, std::size_t, int, int, CommHandle, StreamHandle> all_reduce{"ncclAllReduce"};
  Call<const void*, void*, std::size_t, int, CommHandle, StreamHandle> all_gather{"ncclAllGather"};
  Call<const void*, void*, std::size_t, int, int, CommHandle, StreamHandle> reduce_scatter{"ncclReduceScatter"};
  Call<const void*, void*, std::size_t, int, int, CommHandle, StreamHandle> broadcast{"ncclBroadcast"};
  Call<const void*, std::size_t, int, int, CommHandle, StreamHandle> send{"ncclSend"};
  Call<void*, std::size_t, int, int, CommHandle, StreamHandle> recv{"ncclRecv"};
  // Null where the library is too old, or has no such thing.
  const char* (*get_last_error)(CommHandle comm) = nullptr;
  Call<CommHandle*, int, UniqueId, int, CommConfig*> comm_init_rank_config;
  Call<const void*, void*, std::size_t, int, CommHandle, StreamHandle> all_to_all;
  Call<void**, std::size_t> mem_alloc;
  Call<void*> mem_free;
  Call<CommHandle, void*, std::size_t, WindowHandle*, int> window_register;
  Call<CommHandle, WindowHandle> window_deregister;

  /// Calls `bind(call)` for each that every version of the library has; the first failure.
  template <class Bind>
  Status bind_usual(Bind bind) {
    for (const Status& bound : {bind(get_version), bind(get_unique_id), bind(comm_init_rank), bind(comm_destroy), bind(comm_abort),
                                bind(comm_get_async_error), bind(group_start), bind(group_end), bind(all_reduce), bind(all_gather),
                                bind(reduce_scatter), bind(broadcast), bind(send), bind(recv)}) {
      if (!bound) { return bound; }
    }
    return {};
  }
};

/// A loaded communication library; `calls` are valid while this lives.
class CommLibrary {
 public:
  /// Binds what every version has and asks for the version; what only some have is left to the leaf. Errors begin with `name`.
  static Result<CommLibrary> make(const char* name, elbowroom::detail::DynamicLibrary library);

  /// "NCCL" or "RCCL"
  [[nodiscard]] const char* name() const { return name_; }
  [[nodiscard]] std::string version() const;
  [[nodiscard]] int version_number() const { return version_; }  ///< 22803: 2.28.3
  [[nodiscard]] CommRelease release() const { return {version_ / 10'000, version_ / 100 % 100}; }
  [[nodiscard]] const elbowroom::detail::DynamicLibrary& opened() const { return opened_; }

  /// Whether a communicator can be told what its kernels may take.
  [[nodiscard]] bool has_budgets() const { return static_cast<bool>(calls.comm_init_rank_config); }
  /// Whether memory can be made known to all ranks, for copy engines and for kernels on symmetric memory: the calls are there.
  /// Whether this machine's links allow it shows in a run.
  [[nodiscard]] bool has_symmetric_memory() const { return static_cast<bool>(calls.window_register); }

  /// Memory of the current device that can be registered with communicators where the library has that; plain memory otherwise.
  [[nodiscard]] Result<Memory> allocate(const Runtime& runtime, Bytes size) const;

  /// Calls the function and names it where it fails.
  template <class... Parameters>
  [[nodiscard]] Status call(const Call<Parameters...>& call, std::type_identity_t<Parameters>... arguments) const {
    return check(call.function(arguments...), call.name);
  }

  /// Turns a return code into a Status with the library's own words.
  [[nodiscard]] Status check(int code, std::string_view call) const;

  CommCalls calls;

 private:
  CommLibrary(const char* name, elbowroom::detail::DynamicLibrary library) : name_(name), opened_(std::move(library)) {}
  Status bind_all();

  const char* name_;
  elbowroom::detail::DynamicLibrary opened_;
  int version_ = 0;
};

}  // namespace elbowroom::gpu
