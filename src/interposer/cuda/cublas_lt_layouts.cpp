#include "interposer/cuda/cublas_lt_layouts.hpp"

#include <cstddef>
#include <cstdint>

#include "interposer/cuda/product_type.hpp"

namespace elbowroom::interposer::cuda {
using namespace process;
namespace {

using GetAttribute = int (*)(cublas_lt::Layout, int, void*, std::size_t, std::size_t*);

GetAttribute get_attribute() {
  static constinit LibraryFunctions<1> functions(HookedLibrary::kCublasLt, {"cublasLtMatrixLayoutGetAttribute"});
  return functions.get<GetAttribute>(0);
}

template <class Value>
bool read(GetAttribute get, cublas_lt::Layout layout, int attribute, Value& value) {
  std::size_t written = 0;
  return get(layout, attribute, &value, sizeof value, &written) == 0;
}

}  // namespace

run::Product product_of_layouts(cublas_lt::Layout a, cublas_lt::Layout d) {
  const GetAttribute get = get_attribute();
  if (a == nullptr || d == nullptr || get == nullptr) { return {}; }
  std::uint32_t type = 0;
  std::uint64_t a_rows = 0;
  std::uint64_t a_columns = 0;
  std::uint64_t m = 0;
  std::uint64_t n = 0;
  std::int32_t batches = 0;
  const bool known = read(get, a, cublas_lt::kLayoutType, type) && read(get, a, cublas_lt::kLayoutRows, a_rows) &&
                     read(get, a, cublas_lt::kLayoutColumns, a_columns) && read(get, d, cublas_lt::kLayoutRows, m) &&
                     read(get, d, cublas_lt::kLayoutColumns, n) && read(get, d, cublas_lt::kLayoutBatches, batches);
  if (!known || m == 0) { return {}; }
  // Whether A is transposed or not, its elements are m times k.
  const std::uint64_t k = a_rows * a_columns / m;
  return product_of(product_type(static_cast<int>(type)), static_cast<std::int64_t>(m), static_cast<std::int64_t>(n),
                    static_cast<std::int64_t>(k), batches);
}

}  // namespace elbowroom::interposer::cuda
