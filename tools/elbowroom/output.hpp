#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "elbowroom/base/result.hpp"
#include "report/document_file.hpp"

namespace elbowroom {

using detail::read_file;
using detail::write_new_file;

/// A document that is read; "-" is standard input. As read_file() says.
Result<std::string> read_input(const std::string& path);

/// An option that names a file, and the file; absent: none is named.
using NamedFile = std::pair<std::string_view, std::optional<std::string_view>>;

/// A file to be written, and the schema of the document that goes there.
struct OutputFile {
  NamedFile file;
  std::string_view schema;
};

/// Whether all of these can be written, as detail::can_write says, in words that begin with the option. "-" is no file.
Status check_outputs(std::span<const OutputFile> outputs);

/// No two of these are the same file, however they are spelled, and none is what standard output or standard error goes to.
/// Otherwise an output would replace what is read, or another output.
Status check_distinct(std::span<const NamedFile> files);

/// "-" is standard output; a file is written as detail::write_document says.
Status write_document(const std::string& path, std::string_view schema, std::string_view text);

}  // namespace elbowroom
