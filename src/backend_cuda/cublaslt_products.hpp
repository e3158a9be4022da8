#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <type_traits>

#include "backend/dynamic_library.hpp"
#include "backend_gpu/blas_library.hpp"
#include "backend_gpu/handles.hpp"
#include "elbowroom/base/result.hpp"

// cuBLASLt's C interface as far as Elbowroom calls it, declared by us because the library is found at run time. Source: cublasLt.h
// of CUDA 12 and 13; a test compares the constants with the toolkit's own header.
namespace elbowroom::cuda {

inline constexpr int kCublasTranspose = 1;
inline constexpr int kLtTransposeA = 3;
inline constexpr int kLtSmCountTarget = 15;
inline constexpr int kLtMaxWorkspaceBytes = 1;
inline constexpr int kCublasNotSupported = 15;

/// cublasLtMatmulAlgo_t and cublasLtMatmulHeuristicResult_t
struct LtAlgorithm {
  std::uint64_t data[8];
};
struct LtHeuristicResult {
  LtAlgorithm algorithm;
  std::size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};

using LtOperation = struct LtOperationOpaque*;
using LtLayout = struct LtLayoutOpaque*;
using LtPreference = struct LtPreferenceOpaque*;

/// Products in e4m3 with C in bf16 and scales of 1: cublasGemmEx has none. One algorithm is chosen for each handle, shape and
/// target of SMs.
class CublasLtProducts {
 public:
  /// `library` is cuBLAS, which brings cuBLASLt along.
  Status bind_all(const elbowroom::detail::DynamicLibrary& library);

  /// `invalid_input` where the handle's device has no such product.
  Status choose(const gpu::BlasLaunch& launch, const gpu::Product& product);
  Status multiply(const gpu::BlasLaunch& launch, const gpu::Product& product);

 private:
  template <class Handle>
  using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, gpu::Release<Handle>>;
  struct Chosen {
    Owned<LtOperation> operation;
    Owned<LtLayout> a, b, c;
    LtAlgorithm algorithm{};
  };
  using Key = std::tuple<gpu::BlasHandle, int, int, int, int>;  // target of SMs, m, n, k
  static Key key_of(const gpu::BlasLaunch& launch, const gpu::Product& product);

  Status describe(const gpu::BlasLaunch& launch, const gpu::Product& product, Chosen& chosen) const;
  Status layout(int type, int rows, int columns, Owned<LtLayout>& made) const;

  gpu::Call<LtOperation*, int, int> create_operation_;
  gpu::Call<LtOperation> destroy_operation_;
  gpu::Call<LtOperation, int, const void*, std::size_t> set_operation_;
  gpu::Call<LtLayout*, int, std::uint64_t, std::uint64_t, std::int64_t> create_layout_;
  gpu::Call<LtLayout> destroy_layout_;
  gpu::Call<LtPreference*> create_preference_;
  gpu::Call<LtPreference> destroy_preference_;
  gpu::Call<LtPreference, int, const void*, std::size_t> set_preference_;
  gpu::Call<gpu::BlasHandle, LtOperation, LtLayout, LtLayout, LtLayout, LtLayout, LtPreference, int, LtHeuristicResult*, int*>
      choose_algorithm_;
  gpu::Call<gpu::BlasHandle, LtOperation, const void*, const void*, LtLayout, const void*, LtLayout, const void*, const void*,
            LtLayout, void*, LtLayout, const LtAlgorithm*, void*, std::size_t, gpu::StreamHandle>
      multiply_;
  std::map<Key, Chosen> chosen_;
};

}  // namespace elbowroom::cuda
