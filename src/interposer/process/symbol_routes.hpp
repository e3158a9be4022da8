#pragma once

#include <cstdint>

#include "interposer/process/elf_symbols.hpp"

namespace elbowroom::interposer::process {

/// dlsym and dlvsym as they would be without this library. They are those of the next one that interposes them (a limit on memory,
/// say), or else the C library's. Null only where the C library cannot be read (then nothing is interposed).
using DlsymFunction = void* (*)(void* handle, const char* name);
using DlvsymFunction = void* (*)(void* handle, const char* name, const char* version);
DlsymFunction next_dlsym();
DlvsymFunction next_dlvsym();
using DlcloseFunction = int (*)(void* handle);
DlcloseFunction next_dlclose();
/// The C library's own, which answers RTLD_NEXT for the library that calls it.
DlsymFunction c_library_dlsym();

/// A function of dlfcn.h, which older C libraries have in libdl.so.2: not linked to, so that either will do.
void* in_c_library(const char* name);

/// The C library's dlopen; null: none, or nothing is found.
void* open_object(const char* name, int flags);
/// A handle of an object that is loaded, which is a reference to it: nobody closes it. Null: it has no file, as the program itself.
void* open_loaded(const LoadedObject& object);

/// What a search of the global scope behind this library finds, by the loader: without a walk over the loaded objects.
void* in_global_scope(const char* name);

/// The driver's function of that name as a program would have got it without this library: an earlier LD_PRELOAD's, or the driver's
/// own. Null: no driver is loaded, or it has none.
void* driver_function(const char* name);

/// Asks the driver itself for the entry point of `base` in that version; null: there is none, or nothing is known of versions.
using AskEntry = void* (*)(const char* base, int version, std::uint64_t flags);

/// After cuGetProcAddress or hipGetProcAddress has succeeded for `caller`: puts our function where it found one that is hooked.
/// What was found decides and not its name, which in a later version may mean a function with other parameters. That one is left
/// alone and reported, and so is one past what stands before the driver, unless that asked itself.
void substitute_found(const char* symbol, void** found, int version, std::uint64_t flags, AskEntry ask, const void* caller);

/// Somebody may have made a stream wait, or recorded an event, unseen; leaving a function alone for the above is the same.
void note_unfollowed();
/// Whether that was so since the process began. Platform::unfollowed.
bool noted_unfollowed(void* self);

}  // namespace elbowroom::interposer::process
