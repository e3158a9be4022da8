#pragma once

#include <memory>

#include "headroom/backend/backend.hpp"
#include "headroom/backend/registry.hpp"
#include "headroom/base/result.hpp"

// The one function that each leaf defines. A leaf that this build lacks has no definition; the registry then answers for it.
namespace headroom::detail {

Result<std::unique_ptr<Backend>> open_cuda(const BackendOptions& options);
Result<std::unique_ptr<Backend>> open_hip(const BackendOptions& options);
Result<std::unique_ptr<Backend>> open_sim(const BackendOptions& options);

}  // namespace headroom::detail
