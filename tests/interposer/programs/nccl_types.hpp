#pragma once

#include <cstddef>

/// The bytes of NCCL's types as nccl.h numbers them: int8, uint8, int32, uint32, int64, uint64, float16, float32, float64,
/// bfloat16, float8e4m3, float8e5m2.
inline constexpr std::size_t kNcclTypeBytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
inline constexpr int kNcclTypes = 12;
