#pragma once

#include <string>
#include <string_view>

#include "elbowroom/base/result.hpp"

namespace elbowroom::detail {

/// What a document says that it is: the member "schema" of a JSON object, or the comment in the first line of a Markdown file.
/// Empty where it says nothing. The text may be cut off behind it.
std::string schema_of(std::string_view text);

/// Fails, in a line that begins with `source`, for a text that is neither empty nor a document of this schema by its own word. It
/// is somebody's, and nothing of ours to set aside or to replace.
Status refuse_other_document(std::string_view text, std::string_view schema, const std::string& source);

}  // namespace elbowroom::detail
