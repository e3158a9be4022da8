#pragma once

#include <string>
#include <string_view>

#include "headroom/base/result.hpp"

namespace headroom {

/// To standard output, at once.
Status print(std::string_view text);

/// "-" is standard output. A regular file is complete or as it was: the text goes to a neighbour that is then renamed. Devices and
/// links are written to.
Status write_file(const std::string& path, std::string_view text);

/// Whether a file could be written there: its folder exists. Asked before work whose result would have nowhere to go.
Status check_folder_of(const std::string& path);

Result<std::string> read_file(const std::string& path);

/// One line on a terminal's standard error that is rewritten in place; nothing where standard error is no terminal.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(std::string_view text);
  void clear();

 private:
  bool terminal_;
  bool shown_ = false;
};

}  // namespace headroom
