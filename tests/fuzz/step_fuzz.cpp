#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "elbowroom/model/step.hpp"
#include "elbowroom/plan/lower.hpp"
#include "elbowroom/plan/program.hpp"

// parse_step never throws or crashes, its errors are one line, and what it accepts survives being written and read again and has a
// schedule.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const elbowroom::Result<elbowroom::Step> step = elbowroom::parse_step(text, "fuzz");
  if (!step) {
    const std::string& message = step.error().message;
    if (message.empty() || message.find('\n') != std::string::npos) {
      std::fprintf(stderr, "the error is not one line: '%s'\n", message.c_str());
      std::abort();
    }
    return 0;
  }
  const std::string written = elbowroom::to_json(*step);
  const elbowroom::Result<elbowroom::Step> again = elbowroom::parse_step(written, "written");
  if (!again || !(*again == *step)) {
    std::fprintf(stderr, "%s\nafter writing:\n%s\n", again ? "reads back as another step" : again.error().message.c_str(),
                 written.c_str());
    std::abort();
  }
  elbowroom::Step once = *step;
  once.repeats = 1;
  if (!elbowroom::lower(once, elbowroom::Order::concurrent, {})) { std::abort(); }
  return 0;
}
