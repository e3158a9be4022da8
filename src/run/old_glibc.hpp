#pragma once

// A library that is loaded into other programs loads wherever the wheels of PyTorch do: with glibc 2.28. Of functions that a newer
// C library has anew it takes the old ones, by hidden functions of the same names. The rest of the library, and the C++ runtime
// inside it, are linked to those. Old ones of the thread library were in libpthread.so.0 and those of the loader in libdl.so.2
// (cmake/ElbowroomLoaded.cmake).

#if defined(__x86_64__)
#define ELBOWROOM_OLD(name) asm(".symver elbowroom_old_" #name ", " #name "@GLIBC_2.2.5")
#else
#define ELBOWROOM_OLD(name) asm(".symver elbowroom_old_" #name ", " #name "@GLIBC_2.17")
#endif
#define ELBOWROOM_HIDDEN __attribute__((visibility("hidden"), used))
