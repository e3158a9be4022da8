#pragma once

#include "interposer/process/hook_table.hpp"

/// Whether a program gets a hook where it asks for a function of the driver.
namespace elbowroom::interposer::process {

bool is_in_driver(const void* function);

/// The driver's own function behind a hook of it, whatever stands before that; null: there is none.
void* drivers_own(const HookState& state);

/// Whether the next dlsym is another library's than the C library's: it may answer for the driver.
bool dlsym_is_interposed();

/// Whether the hook comes to `caller` in the end: the driver, or a library that interposes the function as well and stands behind
/// this one. It wants what comes after itself. Who stands before this library calls the hook, and who was loaded later is called by
/// none.
bool stands_behind(const void* caller, const Hook& hook, const void* real);

/// Whether `found`, the answer for the hook's name, is the function that the hook stands for, in the driver or before it. Other
/// libraries define functions of these names too (stubs, shims that are not preloaded); those are left alone.
bool is_driver_function(const Hook& hook, void* found);

/// Whether calls of the hook go to `found`, or may from now on. It forwards to one function: an answer past what stands before the
/// driver is not for it, and neither are two libraries that stand there.
bool leads_to(const Hook& hook, void* found);

/// The program calls the function past the hook.
void leave_unfollowed(const Hook& hook, Route why);

}  // namespace elbowroom::interposer::process
