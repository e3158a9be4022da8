#pragma once

#include <cstdint>

#include "interposer/process/elf_symbols.hpp"

namespace elbowroom::interposer::process {

/// One stay of an object in the process, from its loading to its unloading. Another object may be loaded where it was, and what was
/// remembered of it means nothing then.
using Stay = std::uint32_t;
inline constexpr Stay kForever = 0;  ///< of what no object holds, and the value of an empty entry

/// The stay of a loaded object, which is watched from now on. With too many of them at once it is one that is over.
Stay stay_of(const LoadedObject& object);
/// Whether the object was unloaded since, or may be right now. No lock, no walk.
bool is_over(Stay stay);
/// Whether the object is still loaded. While something is unloaded this takes a walk over the loaded objects, and never the lock
/// that an unload holds as long as destructors run.
bool is_here(Stay stay);

/// What holds `function` stays loaded until the process ends. That is for the driver, whose functions every hook keeps, and for
/// what the program itself looked up. For up to 64 objects. Takes no lock that an unload holds as long as destructors run.
void keep_loaded(const void* function);

}  // namespace elbowroom::interposer::process
