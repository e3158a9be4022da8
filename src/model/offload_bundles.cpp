#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <utility>

#include "model/kernel_records.hpp"

namespace elbowroom {
namespace {

constexpr std::string_view kBundle = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view kCompressed = "CCOB";

/// A number at the beginning, which is taken off; 0 where the bytes end before it.
std::uint64_t take_number(std::string_view& bytes) {
  std::uint64_t number = 0;
  const std::size_t size = std::min(bytes.size(), sizeof number);
  if (size == sizeof number) { std::memcpy(&number, bytes.data(), size); }
  bytes.remove_prefix(size);
  return number;
}

/// Its code for AMD's devices. A bundle begins with a table: offset, size and name of each part, whose first is the host's.
std::vector<std::string_view> code_objects_in(std::string_view bundle) {
  std::vector<std::string_view> found;
  std::string_view table = bundle.substr(kBundle.size());
  constexpr std::uint64_t most = 256;  // devices, of which the compiler knows fewer
  for (std::uint64_t left = std::min(take_number(table), most); left > 0 && !table.empty(); --left) {
    const std::uint64_t offset = take_number(table);
    const std::uint64_t size = take_number(table);
    const std::uint64_t name_size = take_number(table);
    const std::string_view name = table.substr(0, name_size);
    table.remove_prefix(name.size());
    const bool is_code = name.find("-amdgcn-") != std::string_view::npos;
    if (is_code && size > 0 && offset <= bundle.size() && size <= bundle.size() - offset) {
      found.push_back(bundle.substr(offset, size));
    }
  }
  return found;
}

/// Behind the four letters stand its version and how it was compressed: 0 by zlib, 1 by zstd.
bool holds_compressed(std::string_view bytes) {
  for (std::size_t at = bytes.find(kCompressed); at != std::string_view::npos; at = bytes.find(kCompressed, at + 1)) {
    const std::string_view head = bytes.substr(at + kCompressed.size(), 4);
    if (head.size() == 4 && head[0] >= 1 && head[0] <= 3 && head[1] == 0 && (head[2] == 0 || head[2] == 1) && head[3] == 0) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool holds_offload_bundle(std::string_view bytes) {
  return bytes.find(kBundle) != std::string_view::npos || holds_compressed(bytes);
}

Result<std::vector<KernelRecord>> parse_offload_bundles(std::string_view bytes) {
  std::vector<KernelRecord> all;
  for (std::size_t at = bytes.find(kBundle); at != std::string_view::npos; at = bytes.find(kBundle, at + 1)) {
    for (const std::string_view code : code_objects_in(bytes.substr(at))) {
      if (Result<std::vector<KernelRecord>> records = parse_amd_code_object(code)) {
        std::move(records->begin(), records->end(), std::back_inserter(all));
      }
    }
  }
  if (!all.empty()) { return all; }
  if (holds_compressed(bytes)) {
    return invalid_input("its AMD code is compressed, expected zstd and a program built with that, or --no-offload-compress");
  }
  return invalid_input("no kernel in an offload bundle (__CLANG_OFFLOAD_BUNDLE__)");
}

}  // namespace elbowroom
