#pragma once

#include <cstdint>

#include "interposer/core/core.hpp"

namespace elbowroom::interposer::nccl {

/// What the NCCL calls in progress on this thread said about the kernel that they are about to launch on that stream. Zeros when
/// there is none. Kernels of a group are launched when the outermost group ends, on the thread that ends it.
CollectiveNote note_of(const void* stream);
/// Whether this thread is in a call in which NCCL may launch: what it enqueues is NCCL's, not the program's.
bool is_launching();

}  // namespace elbowroom::interposer::nccl
