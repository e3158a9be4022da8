#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <exception>

#include "run/old_glibc.hpp"

ELBOWROOM_OLD(exp);
ELBOWROOM_OLD(log);
ELBOWROOM_OLD(strtoul);

extern "C" {

// glibc before 2.34 has it in libpthread.so.0, which a program need not have. The other name's oldest version is the same
// everywhere.
[[gnu::weak]] int elbowroom_any_pthread_once(int* once, void (*call)()) asm("__pthread_once");
double elbowroom_old_exp(double);
double elbowroom_old_log(double);
unsigned long elbowroom_old_strtoul(const char*, char**, int);

ELBOWROOM_HIDDEN double elbowroom_exp(double x) asm("exp");
ELBOWROOM_HIDDEN double elbowroom_log(double x) asm("log");
ELBOWROOM_HIDDEN unsigned long elbowroom_strtoul(const char* text, char** end, int base) asm("__isoc23_strtoul");
ELBOWROOM_HIDDEN int elbowroom_fstat(int file, void* facts) asm("fstat");
ELBOWROOM_HIDDEN int elbowroom_lstat(const char* path, void* facts) asm("lstat");
ELBOWROOM_HIDDEN int elbowroom_pthread_once(int* once, void (*call)()) asm("pthread_once");
ELBOWROOM_HIDDEN int elbowroom_gthread_key_create(unsigned* key, void (*destroy)(void*)) asm("__pthread_key_create");
ELBOWROOM_HIDDEN int elbowroom_dl_find_object(void* address, void* found) asm("_dl_find_object");
// The C++ runtime asks whether it may leave out atomic operations: it may not.
ELBOWROOM_HIDDEN char elbowroom_single_threaded asm("__libc_single_threaded") = 0;

double elbowroom_exp(double x) { return elbowroom_old_exp(x); }
double elbowroom_log(double x) { return elbowroom_old_log(x); }
unsigned long elbowroom_strtoul(const char* text, char** end, int base) { return elbowroom_old_strtoul(text, end, base); }
// Until 2.33 functions in each program. The kernel's structure is the C library's.
int elbowroom_fstat(int file, void* facts) { return static_cast<int>(syscall(SYS_fstat, file, facts)); }
int elbowroom_lstat(const char* path, void* facts) {
  return static_cast<int>(syscall(SYS_newfstatat, AT_FDCWD, path, facts, AT_SYMLINK_NOFOLLOW));
}
// Without it nothing of ours begins, and the program is left as it is.
int elbowroom_pthread_once(int* once, void (*call)()) {
  return elbowroom_any_pthread_once == nullptr ? ENOSYS : elbowroom_any_pthread_once(once, call);
}
// The C++ runtime takes a program for one of a single thread that lacks this, and calls it nowhere here.
int elbowroom_gthread_key_create(unsigned* /*key*/, void (* /*destroy*/)(void*)) { return ENOSYS; }
// The unwinder of the C++ runtime, which has nothing to unwind here: no exception is thrown.
int elbowroom_dl_find_object(void* /*address*/, void* /*found*/) { return -1; }
}

// The C++ runtime's own handler names the exception that nobody caught, for which it brings a demangler of 50 KB along.
void __gnu_cxx::__verbose_terminate_handler() { std::abort(); }
