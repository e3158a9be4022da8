#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "elbowroom/base/result.hpp"

namespace elbowroom::detail {

/// Reads a JSON object whose fields are each given once and that is nested no deeper than a document of ours is. The message is
/// one line that begins with `source`; `expected` says what the document should have been. Never throws; takes time and memory
/// in proportion to the text, whatever it holds.
Result<nlohmann::json> read_json_object(std::string_view text, const std::string& source, std::string_view expected);

}  // namespace elbowroom::detail
