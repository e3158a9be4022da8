#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "elbowroom/base/time.hpp"

namespace elbowroom {

/// How far a command with several cases is, on standard error. On a terminal it is one line, rewritten in place and never wider
/// than the terminal is at that time. Elsewhere it is a line when a case begins.
class ProgressLine {
 public:
  /// `who` speaks where there is no terminal.
  ProgressLine(std::string_view who, std::size_t cases);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void begin_case(std::string_view name);
  /// `left`: of this case; absent: nobody knows yet.
  void show(std::optional<Microseconds> left, std::string_view what);
  /// The case is over, and its last line gone.
  void end_case();

  /// Of a clock that never goes back.
  static Microseconds now();

 private:
  void clear();

  std::string_view who_;
  std::size_t cases_;
  bool terminal_;
  bool shown_ = false;
  std::size_t number_ = 0;  ///< of the case, from 1
  std::string name_;
  Microseconds begun_{0};
  Microseconds spent_before_{0};  ///< on earlier cases
};

}  // namespace elbowroom
