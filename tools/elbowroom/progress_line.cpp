#include "progress_line.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>

#include "console.hpp"
#include "report/display_width.hpp"
#include "report/progress.hpp"
#include "terminal.hpp"

namespace elbowroom {
namespace {

constexpr std::size_t kUsualTerminal = 80;

}  // namespace

ProgressLine::ProgressLine(std::string_view who, std::size_t cases)
    : who_(who), cases_(cases), terminal_(isatty(STDERR_FILENO) == 1) {}

Microseconds ProgressLine::now() { return std::chrono::steady_clock::now().time_since_epoch(); }

void ProgressLine::begin_case(std::string_view name) {
  name_ = name;
  begun_ = now();
  ++number_;
  if (terminal_) { return; }
  std::string line = fmt::format("[{}/{}] {}", number_, cases_, name_);
  if (number_ > 1) {
    const Microseconds each = spent_before_ / static_cast<double>(number_ - 1);
    line += fmt::format(", about {} left for all", duration_words(each * static_cast<double>(cases_ - number_ + 1)));
  }
  print_notice(who_, line);
}

void ProgressLine::show(std::optional<Microseconds> left, std::string_view what) {
  if (!terminal_) { return; }
  CaseProgress progress{number_, cases_, name_, now() - begun_, left, {}};
  if (left && number_ < cases_) {
    const int before = static_cast<int>(number_) - 1;
    progress.left_in_all = left_in_all(spent_before_, before, progress.spent, *left, static_cast<int>(cases_ - number_));
  }
  // The last column stays free: some terminals begin a new line behind it.
  print_error("\r\x1b[K" +
              detail::fitted(progress_text(progress, what), terminal_columns(STDERR_FILENO).value_or(kUsualTerminal) - 1));
  shown_ = true;
}

void ProgressLine::end_case() {
  clear();
  spent_before_ += now() - begun_;
}

void ProgressLine::clear() {
  if (shown_) { print_error("\r\x1b[K"); }
  shown_ = false;
}

}  // namespace elbowroom
