#include "report/wrapped_text.hpp"

#include <algorithm>

#include "report/display_width.hpp"

namespace elbowroom::detail {

std::string wrapped(std::string_view head, std::string_view text, std::size_t indent, std::size_t width) {
  std::string lines(head);
  std::size_t column = display_width(head);
  bool begins = true;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    const std::size_t wide = display_width(word);
    if (!begins && column + 1 + wide > width) {
      lines += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!begins) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += wide;
    begins = false;
  }
  return lines + "\n";
}

}  // namespace elbowroom::detail
