#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tune/choice_memory.hpp"

// parse_choices never throws or crashes, its errors are one line, and what it accepts survives being written and read again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace elbowroom::detail;
  const elbowroom::Result<ChoiceMemory> memory = parse_choices(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
  if (!memory) {
    const std::string& message = memory.error().message;
    if (message.empty() || message.find('\n') != std::string::npos) {
      std::fprintf(stderr, "the error is not one line: '%s'\n", message.c_str());
      std::abort();
    }
    return 0;
  }
  const std::string written = to_json(*memory);
  const elbowroom::Result<ChoiceMemory> again = parse_choices(written, "written");
  if (!again || !std::ranges::equal(again->choices(), memory->choices())) {
    std::fprintf(stderr, "%s\nafter writing:\n%s\n", again ? "reads back as another memory" : again.error().message.c_str(),
                 written.c_str());
    std::abort();
  }
  return 0;
}
