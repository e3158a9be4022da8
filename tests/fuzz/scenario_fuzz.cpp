#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "elbowroom/model/scenario.hpp"

// parse_scenario never throws or crashes, its errors are one line, and what it accepts survives being written and read again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const elbowroom::Result<elbowroom::Scenario> scenario = elbowroom::parse_scenario(text, "fuzz");
  if (!scenario) {
    const std::string& message = scenario.error().message;
    if (message.empty() || message.find('\n') != std::string::npos) {
      std::fprintf(stderr, "the error is not one line: '%s'\n", message.c_str());
      std::abort();
    }
    return 0;
  }
  const std::string written = elbowroom::to_json(*scenario);
  const elbowroom::Result<elbowroom::Scenario> again = elbowroom::parse_scenario(written, "written");
  if (!again || !(*again == *scenario)) {
    std::fprintf(stderr, "%s\nafter writing:\n%s\n", again ? "reads back as another scenario" : again.error().message.c_str(),
                 written.c_str());
    std::abort();
  }
  return 0;
}
