#include "profile_option.hpp"

#include "elbowroom/base/environment.hpp"

namespace elbowroom {

std::optional<std::string> profile_path(const std::optional<std::string>& option) { return option ? option : read(kProfile); }

}  // namespace elbowroom
