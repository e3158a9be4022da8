#pragma once

#include <cstdint>

namespace elbowroom::interposer::process {

/// The loader's own dlsym, whoever interposes it. Null only where the C library cannot be read (then nothing is interposed).
using DlsymFunction = void* (*)(void* handle, const char* name);
using DlvsymFunction = void* (*)(void* handle, const char* name, const char* version);
DlsymFunction loader_dlsym();
DlvsymFunction loader_dlvsym();

/// After cuGetProcAddress or hipGetProcAddress has succeeded: puts our function where it found a hooked one.
void substitute_found(const char* symbol, void** found, int version, std::uint64_t flags);

}  // namespace elbowroom::interposer::process
