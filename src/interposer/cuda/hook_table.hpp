#pragma once

#include "interposer/process/hook_table.hpp"

namespace elbowroom::interposer::cuda {

/// The hooks of this room and those that every vendor's library has.
const process::HookTable& hook_table();

}  // namespace elbowroom::interposer::cuda
