#pragma once

#include <memory>
#include <string>

#include "elbowroom/base/result.hpp"
#include "explain/byte_source.hpp"

namespace elbowroom {

/// A file; "-" is standard input.
Result<std::unique_ptr<explain::ByteSource>> open_bytes(const std::string& path);

/// What `packed` holds, by its first bytes: unpacked where it is gzip or zstd, as it is otherwise. An error where this program was
/// built without what unpacks it.
Result<std::unique_ptr<explain::ByteSource>> unpacked(std::unique_ptr<explain::ByteSource> packed);

}  // namespace elbowroom
