#include "terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "elbowroom/report/table_width.hpp"

namespace elbowroom {
namespace {

std::string_view text_of(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::optional<std::size_t> terminal_columns(int stream) {
  winsize size = {};
  if (ioctl(stream, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) { return std::nullopt; }
  return size.ws_col;
}

std::size_t table_columns(bool wide) { return wide ? kAnyWidth : terminal_columns(STDOUT_FILENO).value_or(kAnyWidth); }

bool shows_colors(int stream) { return isatty(stream) == 1 && text_of("NO_COLOR").empty() && text_of("TERM") != "dumb"; }

}  // namespace elbowroom
