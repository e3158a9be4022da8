#include "launching_process.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <sstream>

namespace elbowroom {

std::string launching_process(std::string_view program) {
  constexpr int most_generations = 64;
  constexpr int fields_to_start_time = 17;  // from that behind the parent's number on
  pid_t process = getppid();
  for (int generation = 0; process > 1 && generation < most_generations; ++generation) {
    std::ifstream file(fmt::format("/proc/{}/stat", process));
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::size_t begin = text.find('(');
    const std::size_t end = text.rfind(')');
    if (begin == std::string::npos || end == std::string::npos) { return {}; }
    std::istringstream rest(text.substr(end + 1));
    std::string word;
    pid_t parent = 0;
    rest >> word >> parent;
    if (std::string_view(text).substr(begin + 1, end - begin - 1) == program) {
      for (int field = 0; field <= fields_to_start_time; ++field) { rest >> word; }
      return fmt::format("{} {} {}", program, process, word);
    }
    process = parent;
  }
  return {};
}

}  // namespace elbowroom
