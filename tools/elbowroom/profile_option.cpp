#include "profile_option.hpp"

#include "elbowroom/base/environment.hpp"

namespace elbowroom {

std::optional<std::string> profile_path(const std::string& option) { return option.empty() ? read(kProfile) : option; }

}  // namespace elbowroom
