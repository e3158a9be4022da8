#pragma once

namespace elbowroom::interposer::process {

/// What a name means to some caller.
struct Definition {
  void* function = nullptr;  ///< null: nobody defines it
  /// False: several objects define the name, and nothing says which of them the caller meant.
  bool certain = true;
};

/// What the name would be for the object that holds `caller`, were this library not loaded. That is the next definition in the
/// global scope, or the first in the scopes that the object was loaded into. A caller may not refer to the name itself, as with a
/// call through a pointer, or one that another object left by a jump. It gets what all who refer to it agree on. Costs from
/// microseconds, where one object defines the name, to a millisecond among hundreds of objects; takes the loader's locks.
Definition definition_for(const char* name, const void* caller);

/// What a search of the scopes of the object that holds `caller` would find, were this library not loaded. Of the global scope
/// alone for a null `caller`. Null: nothing. Costs as the above.
void* visible_definition(const char* name, const void* caller);

/// The definition that stands after this library among what the program was started with. Those are an earlier LD_PRELOAD and
/// libraries that the program is linked to. Null: none. Takes no lock that is held while constructors run.
void* next_at_start(const char* name);

/// Whether what holds `function` was there when the process started: it is never unloaded. Takes no lock as above.
bool is_from_start(const void* function);

}  // namespace elbowroom::interposer::process
