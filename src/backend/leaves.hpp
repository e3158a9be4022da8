#pragma once

#include <memory>

#include "elbowroom/backend/backend.hpp"
#include "elbowroom/backend/registry.hpp"
#include "elbowroom/base/result.hpp"

// The one function that each leaf defines. A leaf that this build lacks has no definition; the registry then answers for it.
namespace elbowroom::detail {

Result<std::unique_ptr<Backend>> open_cuda(const BackendOptions& options);
Result<std::unique_ptr<Backend>> open_hip(const BackendOptions& options);
Result<std::unique_ptr<Backend>> open_sim(const BackendOptions& options);

}  // namespace elbowroom::detail
