#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "elbowroom/base/result.hpp"

namespace elbowroom {

/// An option that names a file, and the file.
using NamedFile = std::pair<std::string_view, std::string_view>;

/// A file to be written, and the schema of the document that goes there.
struct OutputFile {
  NamedFile file;
  std::string_view schema;
};

/// Whether all of these can be written, in words that begin with the option: the folder is there and may be written in, and what has the
/// name is an earlier document of the same schema, an empty file, or a device. Asked before work whose result would have nowhere to go.
/// "-" and "" are no files.
Status check_outputs(std::span<const OutputFile> outputs);

/// No two of these are the same file, however they are spelled, and none is what standard output or standard error goes to: what is read
/// would be replaced by what is written, or one output by another.
Status check_distinct(std::span<const NamedFile> files);

/// "-" is standard output. A regular file is complete or as it was, and only an earlier document of that schema is replaced. Devices are
/// written to, links are followed.
Status write_document(const std::string& path, std::string_view schema, std::string_view text);

/// A file of this process alone.
Status write_new_file(const std::string& path, std::string_view text);

Result<std::string> read_file(const std::string& path);

}  // namespace elbowroom
