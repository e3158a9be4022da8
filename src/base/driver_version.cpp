#include "base/driver_version.hpp"

#include <cctype>
#include <fstream>

namespace elbowroom::detail {

std::string version_in(const std::string& file) {
  std::ifstream text(file);
  for (std::string word; text >> word;) {
    if (std::isdigit(static_cast<unsigned char>(word.front())) != 0 && word.find('.') != std::string::npos) { return word; }
  }
  return "";
}

}  // namespace elbowroom::detail
