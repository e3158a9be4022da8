#pragma once

#include <cstdint>

#include "run/kernel_names.hpp"

namespace elbowroom::interposer {

using run::is_communication;
using run::may_go_first;
using run::waits_for_host;

/// FNV-1a over the whole name, never zero: names of C++ kernels are longer than what is kept of them.
std::uint64_t name_hash(const char* kernel_name);

}  // namespace elbowroom::interposer
