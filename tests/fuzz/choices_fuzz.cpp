#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "run/choices.hpp"

namespace {

using namespace elbowroom::run;

std::vector<KnownChoice> read(ChoiceLines& lines) {
  std::vector<KnownChoice> all;
  while (const auto choice = lines.next()) { all.push_back(*choice); }
  return all;
}

void expect(bool good, const char* what) {
  if (good) { return; }
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

}  // namespace

// The reader stays within its text, and what was read is the same after a text of its own.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ChoiceLines lines(std::string_view(reinterpret_cast<const char*>(data), size));
  std::vector<KnownChoice> choices = read(lines);
  expect(std::ranges::all_of(choices, [](const KnownChoice& choice) { return choice.sequence != 0 && is_arm(choice.arm); }),
         "a choice that none can be");
  std::erase_if(choices, [](const KnownChoice& choice) { return choice.device.empty(); });
  const std::string written = choices_text(choices);
  ChoiceLines again(written);
  expect(read(again) == choices && again.wrong_line() == 0, "choices that their own text does not say");
  return 0;
}
