#pragma once

#include <string>
#include <string_view>

#include "elbowroom/base/result.hpp"

/// Documents in files: what is not one of ours is never replaced.
namespace elbowroom::detail {

/// What commands read is a few MiB at most; whoever gives a gigabyte meant another file.
Result<std::string> read_file(const std::string& path);

/// Whether a document of the schema can be written there. The folder is there and may be written in. What has the name is an
/// earlier document of the same schema, an empty file, or a device. `invalid_input` otherwise. Asked before work whose result would
/// have nowhere to go.
Status can_write(const std::string& path, std::string_view schema);

/// A regular file is complete or as it was, and only an earlier document of that schema is replaced. Devices are written to, links
/// are followed.
Status write_document(const std::string& path, std::string_view schema, std::string_view text);

/// A file of this process alone.
Status write_new_file(const std::string& path, std::string_view text);

}  // namespace elbowroom::detail
