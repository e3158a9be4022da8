#include "offload_unpacking.hpp"

#if ELBOWROOM_BUILD_HAS_ZSTD
#include <zstd.h>
#endif

namespace elbowroom {

#if ELBOWROOM_BUILD_HAS_ZSTD

namespace {

constexpr unsigned long long kMost = 1ULL << 30;

/// Behind the mark stand version and method, 16 bits each, then sizes and a hash. Their number and width follow from the version.
std::string_view packed_in(std::string_view bundle) {
  constexpr std::string_view zstd("\1\0", 2);
  if (bundle.size() < 8 || bundle[5] != '\0' || bundle.substr(6, 2) != zstd) { return {}; }
  const std::size_t head = bundle[4] == 1 ? 20 : bundle[4] == 2 ? 24 : bundle[4] == 3 ? 32 : 0;
  return head == 0 || bundle.size() <= head ? std::string_view() : bundle.substr(head);
}

}  // namespace

Result<std::string> unpacked_offload_bundles(std::string_view bytes) {
  constexpr std::string_view mark = "CCOB";
  std::string all;
  for (std::size_t at = bytes.find(mark); at != std::string_view::npos; at = bytes.find(mark, at + 1)) {
    const std::string_view packed = packed_in(bytes.substr(at));
    const unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
    if (packed.empty() || size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN) { continue; }
    const std::size_t packed_size = ZSTD_findFrameCompressedSize(packed.data(), packed.size());
    if (size > kMost - all.size()) { return invalid_input("its AMD code is over 1 GiB when unpacked, expected less"); }
    const std::size_t filled = all.size();
    all.resize(filled + size);
    const bool whole =
        ZSTD_isError(packed_size) == 0 && ZSTD_decompress(all.data() + filled, size, packed.data(), packed_size) == size;
    if (!whole) { return invalid_input("its AMD code is compressed and damaged"); }
  }
  return all;
}

#else

Result<std::string> unpacked_offload_bundles(std::string_view /*bytes*/) { return std::string(); }

#endif

}  // namespace elbowroom
