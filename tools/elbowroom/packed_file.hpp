#pragma once

#include <string>

#include "elbowroom/base/result.hpp"

namespace elbowroom {

/// The text of a file, unpacked where gzip packed it. At most 1 GiB: `invalid_input` beyond, so that a small file cannot take all
/// memory.
Result<std::string> read_packed_file(const std::string& path);

/// This program was built with zlib.
bool unpacks_gzip();

}  // namespace elbowroom
