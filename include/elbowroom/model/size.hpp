#pragma once

#include <string>
#include <string_view>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/quantities.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom {

/// Reads a size as nccl-tests does: a whole number with an optional K, M, G or T (powers of 1024, either case).
/// "512M" is 512 MiB. Negative numbers, fractions, blanks, other suffixes and sizes over 2^62 are errors.
ELBOWROOM_API Result<Bytes> parse_size(std::string_view text);

/// The shortest exact form that parse_size reads back: "512M", "38016".
ELBOWROOM_API std::string format_size(Bytes size);

}  // namespace elbowroom
