#pragma once

#include <cstddef>

#include "interposer/core/core.hpp"

namespace elbowroom::interposer::process {

/// Whether the process may write a file of so many bytes: one beyond its limit would end it by a signal.
bool may_write(std::size_t bytes);

/// True where a file or folder that `elbowroom run` made is still its own: a process may outlive it, and another user make it anew.
bool is_of_this_user(const char* path);

/// A regular file of this user, mapped until the process ends: nothing of it belongs on a stack, which may have 16 KiB, or in the
/// program's allocator. No data: it cannot be read, or is empty. Waits for no file.
Text mapped_file(const char* path);

}  // namespace elbowroom::interposer::process
