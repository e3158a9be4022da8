#pragma once

namespace elbowroom::interposer::cuda {

inline thread_local constinit int products_in_progress = 0;

/// A hooked product of cuBLAS or cublasLt for as long as it runs on this thread. cuBLAS makes products through exported functions
/// of cublasLt: such a call is part of the program's, for which all is decided.
class ProductScope {
 public:
  ProductScope() { ++products_in_progress; }
  ~ProductScope() { --products_in_progress; }
  ProductScope(const ProductScope&) = delete;
  ProductScope& operator=(const ProductScope&) = delete;

  [[nodiscard]] static bool outermost() { return products_in_progress == 1; }
};

}  // namespace elbowroom::interposer::cuda
