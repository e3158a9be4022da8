#pragma once

namespace elbowroom::run {

/// Whether a kernel of this name (plain or mangled) communicates between GPUs, by a table of libraries. `run` never pads or gates
/// such a kernel, whatever its library; `explain` counts it as communication.
bool is_communication(const char* kernel_name);

/// Whether it does nothing else. One that computes as well may take all SMs for it, and a kernel that other ranks wait for would
/// get none.
bool may_go_first(const char* kernel_name);

/// Whether a kernel of this name spins until the host stores something: what follows on its stream waits for the host.
bool waits_for_host(const char* kernel_name);

}  // namespace elbowroom::run
