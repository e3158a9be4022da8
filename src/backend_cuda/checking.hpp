#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "backend_cuda/data_kernels.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::cuda {

/// Runs one enqueued check on `device`, waits for it and turns what it counted into a Status: "all_reduce result on GPU 1: 12 of
/// 4096 elements differ from the reference, the first at 7". `total` is how many `units` there are.
Status run_check(int device, std::string_view what, std::string_view units, std::int64_t total,
                 const std::function<Status(Mismatches*)>& enqueue);

}  // namespace elbowroom::cuda
