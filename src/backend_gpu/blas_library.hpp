#pragma once

#include <cstddef>
#include <type_traits>

#include "backend_gpu/calls.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/scenario.hpp"

namespace elbowroom::gpu {

using BlasHandle = struct BlasOpaque*;

/// C = A B of row-major matrices, m x k and k x n, all of one type, summed in f32.
struct Product {
  int m = 0, n = 0, k = 0;
  DataType dtype = DataType::f32;
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
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

  /// Enqueues the product on the handle's stream.
  [[nodiscard]] virtual Status multiply(BlasHandle handle, const Product& product) const = 0;

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
