#pragma once

#include <cstddef>
#include <type_traits>

#include "backend_gpu/calls.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/scenario.hpp"

namespace elbowroom::gpu {

using BlasHandle = struct BlasOpaque*;

/// C = A B of row-major matrices, m x k and k x n, summed in f32. In e4m3 the matrix units want B by its columns.
struct Product {
  int m = 0, n = 0, k = 0;
  DataType dtype = DataType::f32;  ///< of A and B; LibraryGemm says that of C
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
};

/// How a product is launched: on a stream, with memory that the library may write, and for a number of SMs (0: all).
struct BlasLaunch {
  BlasHandle handle = nullptr;
  StreamHandle stream = nullptr;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
  int sm_target = 0;
};

struct BlasCalls {
  Call<BlasHandle*> create;
  Call<BlasHandle> destroy;
  Call<BlasHandle, StreamHandle> set_stream;
  Call<BlasHandle, void*, std::size_t> set_workspace;  ///< null: the library has its own
  Call<BlasHandle, int> set_sm_count_target;           ///< null: it sizes no kernel for a number of SMs
};

/// A loaded BLAS; `calls` are valid while this lives.
class BlasLibrary {
 public:
  virtual ~BlasLibrary() = default;
  BlasLibrary(const BlasLibrary&) = delete;
  BlasLibrary& operator=(const BlasLibrary&) = delete;

  /// A refusal of products that the current device or the library cannot do, which names the scenario's member.
  [[nodiscard]] virtual Status accepts(const BlasLaunch& launch, const Product& product) = 0;

  /// Enqueues a product that was accepted; the handle's stream, workspace and target of SMs are the launch's.
  [[nodiscard]] virtual Status multiply(const BlasLaunch& launch, const Product& product) = 0;

  /// Turns a return code into a Status that names the call.
  [[nodiscard]] virtual Status check(int code, const char* call) const = 0;

  /// Calls the function and names it where it fails.
  template <class... Parameters>
  [[nodiscard]] Status call(const Call<Parameters...>& call, std::type_identity_t<Parameters>... arguments) const {
    return check(call.function(arguments...), call.name);
  }

  BlasCalls calls;

 protected:
  BlasLibrary() = default;
};

}  // namespace elbowroom::gpu
