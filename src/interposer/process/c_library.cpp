#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>

#include "run/old_glibc.hpp"

#if defined(__x86_64__)
asm(".symver elbowroom_old_dladdr1, dladdr1@GLIBC_2.3.3");
#else
ELBOWROOM_OLD(dladdr1);
#endif
ELBOWROOM_OLD(dlclose);
ELBOWROOM_OLD(dlerror);
ELBOWROOM_OLD(dlvsym);
ELBOWROOM_OLD(exp);
ELBOWROOM_OLD(log);
ELBOWROOM_OLD(pthread_once);
ELBOWROOM_OLD(pthread_mutex_trylock);
ELBOWROOM_OLD(__pthread_key_create);
ELBOWROOM_OLD(pthread_key_create);
ELBOWROOM_OLD(pthread_setspecific);
ELBOWROOM_OLD(strtoul);

extern "C" {

int elbowroom_old_dladdr1(const void*, void*, void**, int);
int elbowroom_old_dlclose(void*);
char* elbowroom_old_dlerror();
void* elbowroom_old_dlvsym(void*, const char*, const char*);
double elbowroom_old_exp(double);
double elbowroom_old_log(double);
int elbowroom_old_pthread_once(pthread_once_t*, void (*)());
int elbowroom_old_pthread_mutex_trylock(pthread_mutex_t*);
int elbowroom_old___pthread_key_create(pthread_key_t*, void (*)(void*));
int elbowroom_old_pthread_key_create(pthread_key_t*, void (*)(void*));
int elbowroom_old_pthread_setspecific(pthread_key_t, const void*);
unsigned long elbowroom_old_strtoul(const char*, char**, int);

ELBOWROOM_HIDDEN int elbowroom_dladdr1(const void* address, void* facts, void** more, int kind) asm("dladdr1");
ELBOWROOM_HIDDEN int elbowroom_dlclose(void* handle) asm("dlclose");
ELBOWROOM_HIDDEN char* elbowroom_dlerror() asm("dlerror");
ELBOWROOM_HIDDEN void* elbowroom_dlvsym(void* handle, const char* name, const char* version) asm("dlvsym");
ELBOWROOM_HIDDEN double elbowroom_exp(double x) asm("exp");
ELBOWROOM_HIDDEN double elbowroom_log(double x) asm("log");
ELBOWROOM_HIDDEN int elbowroom_pthread_once(pthread_once_t* once, void (*call)()) asm("pthread_once");
ELBOWROOM_HIDDEN int elbowroom_pthread_mutex_trylock(pthread_mutex_t* mutex) asm("pthread_mutex_trylock");
ELBOWROOM_HIDDEN int elbowroom___pthread_key_create(pthread_key_t* key, void (*destroy)(void*)) asm("__pthread_key_create");
ELBOWROOM_HIDDEN int elbowroom_pthread_key_create(pthread_key_t* key, void (*destroy)(void*)) asm("pthread_key_create");
ELBOWROOM_HIDDEN int elbowroom_pthread_setspecific(pthread_key_t key, const void* value) asm("pthread_setspecific");
ELBOWROOM_HIDDEN unsigned long elbowroom_strtoul(const char* text, char** end, int base) asm("__isoc23_strtoul");
ELBOWROOM_HIDDEN int elbowroom_fstat(int file, void* facts) asm("fstat");
ELBOWROOM_HIDDEN int elbowroom_lstat(const char* path, void* facts) asm("lstat");
ELBOWROOM_HIDDEN int elbowroom_dl_find_object(void* address, void* found) asm("_dl_find_object");
// The C++ runtime asks whether it may leave out atomic operations: it may not.
ELBOWROOM_HIDDEN char elbowroom_single_threaded asm("__libc_single_threaded") = 0;

int elbowroom_dladdr1(const void* address, void* facts, void** more, int kind) {
  return elbowroom_old_dladdr1(address, facts, more, kind);
}
int elbowroom_dlclose(void* handle) { return elbowroom_old_dlclose(handle); }
char* elbowroom_dlerror() { return elbowroom_old_dlerror(); }
void* elbowroom_dlvsym(void* handle, const char* name, const char* version) { return elbowroom_old_dlvsym(handle, name, version); }
double elbowroom_exp(double x) { return elbowroom_old_exp(x); }
double elbowroom_log(double x) { return elbowroom_old_log(x); }
int elbowroom_pthread_once(pthread_once_t* once, void (*call)()) { return elbowroom_old_pthread_once(once, call); }
int elbowroom_pthread_mutex_trylock(pthread_mutex_t* mutex) { return elbowroom_old_pthread_mutex_trylock(mutex); }
int elbowroom___pthread_key_create(pthread_key_t* key, void (*destroy)(void*)) {
  return elbowroom_old___pthread_key_create(key, destroy);
}
int elbowroom_pthread_key_create(pthread_key_t* key, void (*destroy)(void*)) {
  return elbowroom_old_pthread_key_create(key, destroy);
}
int elbowroom_pthread_setspecific(pthread_key_t key, const void* value) { return elbowroom_old_pthread_setspecific(key, value); }
unsigned long elbowroom_strtoul(const char* text, char** end, int base) { return elbowroom_old_strtoul(text, end, base); }
// Until 2.33 functions in each program. The kernel's structure is the C library's.
int elbowroom_fstat(int file, void* facts) { return static_cast<int>(syscall(SYS_fstat, file, facts)); }
int elbowroom_lstat(const char* path, void* facts) {
  return static_cast<int>(syscall(SYS_newfstatat, AT_FDCWD, path, facts, AT_SYMLINK_NOFOLLOW));
}
// The unwinder of the C++ runtime, which has nothing to unwind here: no exception is thrown.
int elbowroom_dl_find_object(void* /*address*/, void* /*found*/) { return -1; }
}

// The C++ runtime's own handler names the exception that nobody caught, for which it brings a demangler of 50 KB along.
void __gnu_cxx::__verbose_terminate_handler() { std::abort(); }
