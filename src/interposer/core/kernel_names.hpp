#pragma once

#include <cstdint>

namespace elbowroom::interposer {

/// Whether a kernel of this name (plain or mangled) communicates between GPUs, by a table of libraries. Such a kernel is never
/// padded or gated, whatever its library.
bool is_communication(const char* kernel_name);

/// Whether it does nothing else. One that computes as well may take all SMs for it, and a kernel that other ranks wait for would
/// get none.
bool may_go_first(const char* kernel_name);

/// Whether a kernel of this name spins until the host stores something: what follows on its stream waits for the host.
bool waits_for_host(const char* kernel_name);

/// FNV-1a over the whole name, never zero: names of C++ kernels are longer than what is kept of them.
std::uint64_t name_hash(const char* kernel_name);

}  // namespace elbowroom::interposer
