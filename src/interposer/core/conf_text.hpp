#pragma once

#include <string_view>

namespace elbowroom::interposer {

/// The value of NAME in the text of an nccl.conf: lines NAME=VALUE, without blanks around the sign. The first line of a name
/// counts. Its data is null where there is none.
std::string_view conf_value(std::string_view text, std::string_view name);

}  // namespace elbowroom::interposer
