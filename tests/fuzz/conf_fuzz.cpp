#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "interposer/core/conf_text.hpp"

namespace {

bool begins_line(std::string_view text, std::size_t at) { return at == 0 || text[at - 1] == '\n'; }

/// The same by looking for the whole beginning of a line. A name with a sign or a line's end in it stands in no line.
std::string_view expected(std::string_view text, std::string_view name) {
  if (name.find_first_of("=\n") != std::string_view::npos) { return {}; }
  const std::string beginning = std::string(name) + "=";
  for (std::size_t at = text.find(beginning); at != std::string_view::npos; at = text.find(beginning, at + 1)) {
    if (!begins_line(text, at)) { continue; }
    const std::string_view rest = text.substr(at + beginning.size());
    return rest.substr(0, rest.find('\n'));
  }
  return {};
}

}  // namespace

// conf_value stays within its text and finds the first line of the name. The first byte says how long the name is.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) { return 0; }
  const std::string_view all(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::string_view name = all.substr(0, data[0] % 16);
  const std::string_view text = all.substr(name.size());
  const std::string_view value = elbowroom::interposer::conf_value(text, name);
  const std::string_view wanted = expected(text, name);
  if (value.data() != wanted.data() || value.size() != wanted.size()) {
    std::fprintf(stderr, "'%s' for '%s'\n", std::string(value).c_str(), std::string(name).c_str());
    std::abort();
  }
  return 0;
}
