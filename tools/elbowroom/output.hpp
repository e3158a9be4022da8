#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "elbowroom/base/result.hpp"

namespace elbowroom {

/// To standard output, at once.
Status print(std::string_view text);

/// "-" is standard output. A regular file is complete or as it was: the text goes to a neighbour that is then renamed. Devices and
/// links are written to.
Status write_file(const std::string& path, std::string_view text);

/// A table that goes along with documents: a reader that has gone is no reason to lose those.
Status print_table(std::string_view text);

/// An option that names a file, and the file.
using NamedFile = std::pair<std::string_view, std::string_view>;

/// Whether all of these can be written, in words that begin with the option: the folder is there and may be written in, and the name is no
/// folder's. Asked before work whose result would have nowhere to go. "-" and "" are no files.
Status check_outputs(std::span<const NamedFile> outputs);

/// No two of these are the same file: what is read would be replaced by what is written, or one output by another.
Status check_distinct(std::span<const NamedFile> files);

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

}  // namespace elbowroom
