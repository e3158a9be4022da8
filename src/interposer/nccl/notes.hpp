#pragma once

#include <cstdint>

#include "interposer/core/core.hpp"

namespace elbowroom::interposer::nccl {

/// What the NCCL calls in progress on this thread said about the kernel that they are about to launch on that stream. Zeros when
/// there is none. Kernels of a group are launched when the outermost group ends, on the thread that ends it.
CollectiveNote note_of(const void* stream);

}  // namespace elbowroom::interposer::nccl
