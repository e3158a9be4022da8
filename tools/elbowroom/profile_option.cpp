#include "profile_option.hpp"

#include "elbowroom/base/environment.hpp"

namespace elbowroom {

std::string profile_path(const std::string& option) { return option.empty() ? read(kProfile).value_or("") : option; }

}  // namespace elbowroom
