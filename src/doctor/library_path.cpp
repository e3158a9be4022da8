#include "doctor/library_path.hpp"

#include <algorithm>

namespace elbowroom::doctor {

std::string without_empty_entries(std::string_view path) {
  std::string kept;
  while (!path.empty()) {
    const std::string_view entry = path.substr(0, path.find(':'));
    path.remove_prefix(std::min(path.size(), entry.size() + 1));
    if (entry.empty()) { continue; }
    if (!kept.empty()) { kept += ':'; }
    kept += entry;
  }
  return kept;
}

}  // namespace elbowroom::doctor
