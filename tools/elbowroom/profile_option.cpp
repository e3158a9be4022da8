#include "profile_option.hpp"

#include <chrono>

#include "elbowroom/base/environment.hpp"

namespace elbowroom {

std::string profile_path(const std::string& option) { return option.empty() ? read(kProfile).value_or("") : option; }

std::int64_t seconds_since_1970() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace elbowroom
