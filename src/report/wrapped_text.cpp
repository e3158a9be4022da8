#include "report/wrapped_text.hpp"

#include <algorithm>

#include "report/display_width.hpp"

namespace elbowroom::detail {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) { text.replace(at, from.size(), to); }
}

}  // namespace

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

std::string folded(std::string_view text, std::size_t width) {
  constexpr std::size_t further = 2;
  std::string lines;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const bool ends = line.size() < text.size();
    text.remove_prefix(line.size() + (ends ? 1 : 0));
    if (display_width(line) <= width) {
      lines += std::string(line) + (ends ? "\n" : "");
      continue;
    }
    const std::string_view mark = line.starts_with('#') ? "#" : "";
    const std::size_t begin = std::min(line.find_first_not_of(' ', mark.size()), line.size());
    std::string broken = wrapped(line.substr(0, begin), line.substr(begin), begin + further, width);
    if (!mark.empty()) { replace_all(broken, "\n ", "\n#"); }
    lines += broken;
  }
  return lines;
}

}  // namespace elbowroom::detail
