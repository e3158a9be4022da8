#include "interposer/core/conf_text.hpp"

namespace elbowroom::interposer {

std::string_view conf_value(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos && line.substr(0, equals) == name) { return line.substr(equals + 1); }
  }
  return {};
}

}  // namespace elbowroom::interposer
