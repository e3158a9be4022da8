#include "report/markdown_text.hpp"

namespace elbowroom::detail {

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '|':
        result += "\\|";
        break;
      case '<':
        result += "&lt;";
        break;
      case '\n':
      case '\r':
        result += ' ';
        break;
      default:
        result += c;
    }
  }
  return result;
}

}  // namespace elbowroom::detail
