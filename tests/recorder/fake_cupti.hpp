#pragma once

#include <cstdint>

/// What the stand-in for CUPTI is told by the program in place of CUDA. All times are nanoseconds.
extern "C" {
void fake_kernel(const char* name, std::uint32_t stream, std::uint64_t launch, std::uint64_t begin, std::uint64_t end);
/// Kinds that are switched on.
int fake_enabled();
/// Kinds that were switched, on or off, behind the first kernel.
int fake_switched_late();
}
