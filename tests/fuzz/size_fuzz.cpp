#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "elbowroom/model/size.hpp"

// What parse_size accepts is within its range and survives being written and read again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const elbowroom::Result<elbowroom::Bytes> bytes = elbowroom::parse_size(text);
  if (!bytes) { return 0; }
  const std::string written = elbowroom::format_size(*bytes);
  const elbowroom::Result<elbowroom::Bytes> again = elbowroom::parse_size(written);
  const bool in_range = bytes->count() >= 0 && bytes->count() <= (std::int64_t{1} << 62);
  if (!in_range || !again || *again != *bytes) {
    std::fprintf(stderr, "accepted as %lld, written as '%s'\n", static_cast<long long>(bytes->count()), written.c_str());
    std::abort();
  }
  return 0;
}
