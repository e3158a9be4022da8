#pragma once

#include <cstdint>

#include "interposer/core/core.hpp"

namespace elbowroom::interposer::nccl {

/// What the NCCL calls in progress on this thread said about the kernel that they are about to launch on that stream. Zeros when
/// there is none. Kernels of a group are launched when the outermost group ends, on the thread that ends it.
CollectiveNote note_of(const void* stream);

/// The communicator of the calls in progress on this thread; 0 where there are none, or several.
std::uintptr_t only_communicator();
/// Of the communicators of the calls in progress on this thread the one in which this address lies; 0 where none is near enough.
std::uintptr_t communicator_around(std::uintptr_t address);
/// NCCL asked about a collective of the calls in progress on this thread.
void note_asked();
/// How many collectives of a communicator, of those that NCCL asks its tuner about, are in progress on this thread.
std::uint32_t collectives_in_group(std::uintptr_t communicator);
/// Whether this thread is in a call in which NCCL may launch: what it enqueues is NCCL's, not the program's.
bool is_launching();
/// Whether this thread is in ncclGroupSimulateEnd, which asks and launches nothing.
bool simulates();

}  // namespace elbowroom::interposer::nccl
