#pragma once

#include <algorithm>
#include <string>

namespace elbowroom::preload {

/// A document of ours holds lines of text; a name that a process reports can hold anything.
inline std::string as_line(std::string text) {
  std::ranges::replace_if(text, [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; }, '?');
  return text;
}

}  // namespace elbowroom::preload
