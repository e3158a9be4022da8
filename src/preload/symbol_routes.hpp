#pragma once

namespace headroom::preload {

/// The loader's own dlsym, whoever interposes it. Null only where the C library cannot be read (then nothing is interposed).
using DlsymFunction = void* (*)(void* handle, const char* name);
using DlvsymFunction = void* (*)(void* handle, const char* name, const char* version);
DlsymFunction loader_dlsym();
DlvsymFunction loader_dlvsym();

}  // namespace headroom::preload
