#pragma once

#include <string>
#include <string_view>

#include "elbowroom/base/result.hpp"

namespace elbowroom {

/// The content of the compressed offload bundles in a file's bytes, one behind the other. hipcc --offload-compress packs them by
/// zstd. Empty where there is none, or this program was built without zstd. `invalid_input` where one is damaged, or all hold more
/// than 1 GiB.
Result<std::string> unpacked_offload_bundles(std::string_view bytes);

}  // namespace elbowroom
