#include "elbowroom/plan/resource.hpp"

namespace elbowroom {

std::string in_words(ResourceSet set) {
  std::string text;
  for (const Resource resource : kResources) {
    if (!set.contains(resource)) { continue; }
    if (!text.empty()) { text += ", "; }
    text += resource == Resource::shared_memory ? "shared memory" : to_string(resource);
  }
  return text;
}

}  // namespace elbowroom
