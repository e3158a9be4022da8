#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "interposer/core/known_durations.hpp"

// parse_durations stays within its text, and what stands before the first bad line counts as if nothing stood behind it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using elbowroom::interposer::KnownDurations;
  const char* text = reinterpret_cast<const char*>(data);
  const auto whole = std::make_unique<KnownDurations>();
  const std::size_t bad = elbowroom::interposer::parse_durations(text, size, "NVIDIA H200", *whole);
  if (bad == 0) { return 0; }
  std::size_t good = 0;
  for (std::size_t line = 1; line < bad; ++line) {
    while (text[good++] != '\n') {}
  }
  const auto begin = std::make_unique<KnownDurations>();
  if (elbowroom::interposer::parse_durations(text, good, "NVIDIA H200", *begin) != 0 || whole->of(0xa1) != begin->of(0xa1)) {
    std::fprintf(stderr, "line %zu is bad, but what stands before is not as it is without it\n", bad);
    std::abort();
  }
  return 0;
}
