#pragma once

#include <string>
#include <string_view>

#include "elbowroom/base/result.hpp"

namespace elbowroom::detail {

/// What a document says that it is: the member "schema" of a JSON object, or what the comment in the first line of a Markdown file
/// holds. Empty where it says nothing. The text may be cut off behind it.
std::string schema_of(std::string_view text);

/// Fails, in a line that begins with `source`, for a text that is not empty and does not say that it is a document of this schema:
/// it is somebody's, and nothing of ours to set aside or to replace.
Status refuse_other_document(std::string_view text, std::string_view schema, const std::string& source);

}  // namespace elbowroom::detail
