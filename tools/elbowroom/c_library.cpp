#include <pthread.h>
#include <time.h>
#include <unistd.h>

// The program starts wherever PyTorch's wheels do: with glibc 2.28. Of functions that a newer C library has anew this takes the old
// ones, by hidden functions of the same names: the rest of the program is linked to those, and the runtimes of C++ and CUDA inside
// it. Old ones of loading, threads and shared memory were in libraries of their own, which the program therefore needs by name
// (CMakeLists.txt). A test reads the versions that the built file needs (tests/install/versions_test.py).

#if defined(__x86_64__)
#define ELBOWROOM_VERSION_OF(x86_64) x86_64
#define ELBOWROOM_GO_TO "jmp "
#define ELBOWROOM_OVER_PLT "@PLT"
#else
#define ELBOWROOM_VERSION_OF(x86_64) "GLIBC_2.17"
#define ELBOWROOM_GO_TO "b "
#define ELBOWROOM_OVER_PLT ""
#endif

#define ELBOWROOM_BIND(own, name, x86_64) asm(".symver " own ", " name "@" ELBOWROOM_VERSION_OF(x86_64))
// A jump keeps the caller, whom dlopen() and dlsym() look at.
#define ELBOWROOM_OLD_AS(name, old, x86_64)                                                                           \
  ELBOWROOM_BIND("elbowroom_old_" name, old, x86_64);                                                                 \
  asm(".pushsection .text\n.globl " name "\n.hidden " name "\n.type " name ", %function\n" name ":\n" ELBOWROOM_GO_TO \
      "elbowroom_old_" name ELBOWROOM_OVER_PLT "\n.size " name ", .-" name "\n.popsection")
#define ELBOWROOM_OLD(name) ELBOWROOM_OLD_AS(name, name, "GLIBC_2.2.5")

ELBOWROOM_OLD("dladdr");
ELBOWROOM_OLD("dlclose");
ELBOWROOM_OLD("dlerror");
ELBOWROOM_OLD_AS("dlinfo", "dlinfo", "GLIBC_2.3.3");
ELBOWROOM_OLD_AS("dlmopen", "dlmopen", "GLIBC_2.3.4");
ELBOWROOM_OLD("dlopen");
ELBOWROOM_OLD("dlsym");
ELBOWROOM_OLD("dlvsym");

ELBOWROOM_OLD("exp");
ELBOWROOM_OLD("exp2");
ELBOWROOM_OLD("fmod");
ELBOWROOM_OLD("hypot");
ELBOWROOM_OLD("log");
ELBOWROOM_OLD("log2");
ELBOWROOM_OLD("pow");

ELBOWROOM_OLD("__pthread_key_create");
ELBOWROOM_OLD_AS("pthread_condattr_setclock", "pthread_condattr_setclock", "GLIBC_2.3.3");
ELBOWROOM_OLD("pthread_condattr_setpshared");
ELBOWROOM_OLD("pthread_create");
ELBOWROOM_OLD("pthread_detach");
ELBOWROOM_OLD("pthread_getspecific");
ELBOWROOM_OLD("pthread_join");
ELBOWROOM_OLD("pthread_key_create");
ELBOWROOM_OLD("pthread_key_delete");
ELBOWROOM_OLD("pthread_kill");
ELBOWROOM_OLD("pthread_mutex_trylock");
ELBOWROOM_OLD("pthread_mutexattr_destroy");
ELBOWROOM_OLD("pthread_mutexattr_init");
ELBOWROOM_OLD("pthread_mutexattr_setpshared");
ELBOWROOM_OLD("pthread_mutexattr_settype");
ELBOWROOM_OLD("pthread_once");
ELBOWROOM_OLD("pthread_rwlock_destroy");
ELBOWROOM_OLD("pthread_rwlock_init");
ELBOWROOM_OLD("pthread_rwlock_rdlock");
ELBOWROOM_OLD("pthread_rwlock_timedrdlock");
ELBOWROOM_OLD("pthread_rwlock_timedwrlock");
ELBOWROOM_OLD("pthread_rwlock_tryrdlock");
ELBOWROOM_OLD("pthread_rwlock_trywrlock");
ELBOWROOM_OLD("pthread_rwlock_unlock");
ELBOWROOM_OLD("pthread_rwlock_wrlock");
ELBOWROOM_OLD("pthread_rwlockattr_destroy");
ELBOWROOM_OLD("pthread_rwlockattr_init");
ELBOWROOM_OLD("pthread_rwlockattr_setpshared");
ELBOWROOM_OLD("pthread_setspecific");
ELBOWROOM_OLD("pthread_sigmask");
ELBOWROOM_OLD("pthread_spin_destroy");
ELBOWROOM_OLD("pthread_spin_init");
ELBOWROOM_OLD("pthread_spin_lock");
ELBOWROOM_OLD("pthread_spin_trylock");
ELBOWROOM_OLD("pthread_spin_unlock");
ELBOWROOM_OLD("sem_destroy");
ELBOWROOM_OLD("sem_init");
ELBOWROOM_OLD("sem_post");
ELBOWROOM_OLD("sem_timedwait");
ELBOWROOM_OLD("sem_trywait");
ELBOWROOM_OLD("sem_wait");
ELBOWROOM_OLD("shm_open");
ELBOWROOM_OLD("shm_unlink");

// Names that headers since 2.38 give these.
ELBOWROOM_OLD_AS("__isoc23_sscanf", "sscanf", "GLIBC_2.2.5");
ELBOWROOM_OLD_AS("__isoc23_strtol", "strtol", "GLIBC_2.2.5");
ELBOWROOM_OLD_AS("__isoc23_strtoll", "strtoll", "GLIBC_2.2.5");
ELBOWROOM_OLD_AS("__isoc23_strtoul", "strtoul", "GLIBC_2.2.5");
ELBOWROOM_OLD_AS("__isoc23_strtoull", "strtoull", "GLIBC_2.2.5");

ELBOWROOM_BIND("elbowroom_xstat", "__xstat", "GLIBC_2.2.5");
ELBOWROOM_BIND("elbowroom_lxstat", "__lxstat", "GLIBC_2.2.5");
ELBOWROOM_BIND("elbowroom_fxstat", "__fxstat", "GLIBC_2.2.5");
ELBOWROOM_BIND("elbowroom_fxstatat", "__fxstatat", "GLIBC_2.4");
ELBOWROOM_BIND("elbowroom_old_start_main", "__libc_start_main", "GLIBC_2.2.5");

#define ELBOWROOM_HIDDEN(name) asm(name) __attribute__((visibility("hidden"), used))

namespace {
using Main = int (*)(int, char**, char**);
using Constructor = void (*)(int, char**, char**);
}  // namespace

extern "C" {
int elbowroom_old_start_main(Main, int, char**, Constructor init, void (*fini)(), void (*loader_fini)(), void* stack_end);
int elbowroom_xstat(int version, const char* path, void* facts);
int elbowroom_lxstat(int version, const char* path, void* facts);
int elbowroom_fxstat(int version, int file, void* facts);
int elbowroom_fxstatat(int version, int folder, const char* path, void* facts, int flags);

extern Constructor elbowroom_constructors_begin[] asm("__init_array_start") __attribute__((visibility("hidden")));
extern Constructor elbowroom_constructors_end[] asm("__init_array_end") __attribute__((visibility("hidden")));
void elbowroom_begin() asm("_init");

int elbowroom_start_main(Main, int, char**, Constructor, void (*)(), void (*)(), void*) ELBOWROOM_HIDDEN("__libc_start_main");
int elbowroom_stat(const char* path, void* facts) ELBOWROOM_HIDDEN("stat");
int elbowroom_lstat(const char* path, void* facts) ELBOWROOM_HIDDEN("lstat");
int elbowroom_fstat(int file, void* facts) ELBOWROOM_HIDDEN("fstat");
int elbowroom_fstatat(int folder, const char* path, void* facts, int flags) ELBOWROOM_HIDDEN("fstatat");
int elbowroom_stat64(const char* path, void* facts) ELBOWROOM_HIDDEN("stat64");
int elbowroom_fstat64(int file, void* facts) ELBOWROOM_HIDDEN("fstat64");
int elbowroom_cond_clockwait(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*)
    ELBOWROOM_HIDDEN("pthread_cond_clockwait");
unsigned elbowroom_random() ELBOWROOM_HIDDEN("arc4random");
const char* elbowroom_signal_name(int signal) ELBOWROOM_HIDDEN("sigabbrev_np");
// The C++ runtime asks whether it may leave out atomic operations: it may not.
char elbowroom_single_threaded ELBOWROOM_HIDDEN("__libc_single_threaded") = 0;
}

namespace {

#if defined(__x86_64__)
constexpr int kStatVersion = 1;
#else
constexpr int kStatVersion = 0;
#endif
constexpr long kNanoseconds = 1'000'000'000;

// Programs ran their constructors by themselves until 2.34, and the C library leaves it to those that say so.
void run_constructors(int count, char** arguments, char** environment) {
  elbowroom_begin();
  for (Constructor* next = elbowroom_constructors_begin; next != elbowroom_constructors_end; ++next) {
    (*next)(count, arguments, environment);
  }
}

}  // namespace

int elbowroom_start_main(Main main, int count, char** arguments, Constructor /*init*/, void (*fini)(), void (*loader_fini)(),
                         void* stack_end) {
  return elbowroom_old_start_main(main, count, arguments, run_constructors, fini, loader_fini, stack_end);
}

int elbowroom_stat(const char* path, void* facts) { return elbowroom_xstat(kStatVersion, path, facts); }
int elbowroom_lstat(const char* path, void* facts) { return elbowroom_lxstat(kStatVersion, path, facts); }
int elbowroom_fstat(int file, void* facts) { return elbowroom_fxstat(kStatVersion, file, facts); }
int elbowroom_fstatat(int folder, const char* path, void* facts, int flags) {
  return elbowroom_fxstatat(kStatVersion, folder, path, facts, flags);
}
int elbowroom_stat64(const char* path, void* facts) { return elbowroom_xstat(kStatVersion, path, facts); }
int elbowroom_fstat64(int file, void* facts) { return elbowroom_fxstat(kStatVersion, file, facts); }

// Since 2.32. From 1 on, as all architectures number them on which CUDA or ROCm runs.
const char* elbowroom_signal_name(int signal) {
  static constexpr const char* names[] = {"HUP",  "INT",    "QUIT", "ILL",   "TRAP", "ABRT", "BUS",  "FPE",
                                          "KILL", "USR1",   "SEGV", "USR2",  "PIPE", "ALRM", "TERM", "STKFLT",
                                          "CHLD", "CONT",   "STOP", "TSTP",  "TTIN", "TTOU", "URG",  "XCPU",
                                          "XFSZ", "VTALRM", "PROF", "WINCH", "POLL", "PWR",  "SYS"};
  constexpr int count = sizeof names / sizeof names[0];
  return signal >= 1 && signal <= count ? names[signal - 1] : nullptr;
}

// Since 2.36, of the C++ runtime's random_device.
unsigned elbowroom_random() {
  unsigned bits = 0;
  while (getentropy(&bits, sizeof bits) != 0) {}
  return bits;
}

// Since 2.30. A condition variable without an attribute waits by the wall clock: as much of it as is left of the other one.
int elbowroom_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const timespec* until) {
  timespec now{};
  timespec wall{};
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &wall);
  wall.tv_sec += until->tv_sec - now.tv_sec;
  wall.tv_nsec += until->tv_nsec - now.tv_nsec;
  if (wall.tv_nsec < 0) {
    wall.tv_nsec += kNanoseconds;
    --wall.tv_sec;
  } else if (wall.tv_nsec >= kNanoseconds) {
    wall.tv_nsec -= kNanoseconds;
    ++wall.tv_sec;
  }
  return pthread_cond_timedwait(condition, mutex, &wall);
}
