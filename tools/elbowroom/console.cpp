#include "console.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string>
#include <utility>

#include "base/files.hpp"
#include "elbowroom/report/table_width.hpp"
#include "exit_code.hpp"
#include "report/wrapped_text.hpp"
#include "terminal.hpp"

namespace elbowroom {

void occupy_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0) { continue; }
    // The lowest free descriptor is this one. Opened the wrong way round, it fails as a closed one does.
    open("/dev/null", (stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
  }
}

Status print(std::string_view text) {
  const detail::QuietWrites quiet;
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  return written ? Status() : Status(failed(detail::cannot("written", "standard output")));
}

Status print_table(std::string_view text, bool wide) {
  const std::size_t columns = table_columns(wide);
  Status printed = print(columns == kAnyWidth ? std::string(text) : detail::folded(text, columns));
  return printed || errno == EPIPE ? Status() : printed;
}

void print_error(std::string_view text) { static_cast<void>(detail::write_all(STDERR_FILENO, text, "standard error")); }

void print_notice(std::string_view who, std::string_view line) {
  // A rank's or a document's text may be of any length.
  constexpr std::size_t most = 4096;
  const bool cut = line.size() > most;
  std::string text = fmt::format("{}: {}{}", who, line.substr(0, most), cut ? "..." : "");
  std::ranges::replace(text, '\n', '?');
  print_error(printable(std::move(text)) + "\n");
}

std::string printable(std::string text) {
  const auto controls = [](char c) { return (c >= 0 && c < ' ' && c != '\n') || c == '\x7f'; };
  std::ranges::replace_if(text, controls, '?');
  return text;
}

void print_notice(std::string_view line) { print_notice("elbowroom", line); }

NoticeSink notices() {
  return [](std::string_view line) { print_notice(line); };
}

int complain(std::string_view who, const Error& error) {
  print_notice(who, error.message);
  return exit_code_of(error.kind);
}

}  // namespace elbowroom
