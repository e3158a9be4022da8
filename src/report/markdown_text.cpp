#include "report/markdown_text.hpp"

#include <fmt/format.h>

#include "elbowroom/report/result_markdown.hpp"

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

std::string markdown_head(const Origin& origin) {
  return fmt::format("<!-- {} -->\n\n{}.\nVersions: {}.\n", kMarkdownSchema, escaped(device_line(origin)),
                     escaped(versions_line(origin)));
}

}  // namespace elbowroom::detail
