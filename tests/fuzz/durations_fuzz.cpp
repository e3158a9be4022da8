#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "run/durations.hpp"

namespace {

using namespace elbowroom::run;

std::vector<LearnedDuration> read(DurationLines& lines) {
  std::vector<LearnedDuration> all;
  while (const auto learned = lines.next()) { all.push_back(*learned); }
  return all;
}

bool same(const LearnedDuration& a, const LearnedDuration& b) {
  return a.device == b.device && a.kind == b.kind && a.nanoseconds == b.nanoseconds;
}

void expect(bool good, const char* what) {
  if (good) { return; }
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

}  // namespace

// The reader stays within its text; what stands before the first wrong line counts as if nothing stood behind it; and what was read
// is the same after a text of its own.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  DurationLines lines(text);
  std::vector<LearnedDuration> durations = read(lines);
  if (lines.wrong_line() != 0) {
    std::size_t good = 0;
    for (std::size_t line = 1; line < lines.wrong_line(); ++line) {
      while (text[good++] != '\n') {}
    }
    DurationLines begin(text.substr(0, good));
    expect(std::ranges::equal(read(begin), durations, same) && begin.wrong_line() == 0, "what stands before a wrong line differs");
  }
  std::erase_if(durations, [](const LearnedDuration& learned) { return learned.device.empty(); });
  const std::string written = durations_text(durations);
  DurationLines again(written);
  expect(std::ranges::equal(read(again), durations, same) && again.wrong_line() == 0, "durations that their own text does not say");
  return 0;
}
