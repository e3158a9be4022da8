#pragma once

#include <cstdint>

/// What the stand-in for CUPTI is told by the program in place of CUDA. All times are nanoseconds.
extern "C" {
void fake_kernel(const char* name, std::uint32_t stream, std::uint64_t launch, std::uint64_t begin, std::uint64_t end);
/// Kinds that are switched on.
int fake_enabled();
/// The first call came while kernels ran.
bool fake_began_late();
}
