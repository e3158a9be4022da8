#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "elbowroom/tune/profile.hpp"

// parse_profile never throws or crashes, its errors are one line, and what it accepts survives being written and read again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const elbowroom::Result<elbowroom::Profile> profile = elbowroom::parse_profile(text, "fuzz");
  if (!profile) {
    const std::string& message = profile.error().message;
    if (message.empty() || message.find('\n') != std::string::npos) {
      std::fprintf(stderr, "the error is not one line: '%s'\n", message.c_str());
      std::abort();
    }
    return 0;
  }
  const std::string written = elbowroom::to_json(*profile);
  const elbowroom::Result<elbowroom::Profile> again = elbowroom::parse_profile(written, "written");
  const bool same = again && again->choices().size() == profile->choices().size() && elbowroom::to_json(*again) == written;
  if (!same) {
    std::fprintf(stderr, "%s\nafter writing:\n%s\n", again ? "reads back as another profile" : again.error().message.c_str(),
                 written.c_str());
    std::abort();
  }
  return 0;
}
