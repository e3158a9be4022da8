#include <pthread.h>
#include <signal.h>

#include "run/old_glibc.hpp"

ELBOWROOM_OLD(dlopen);
ELBOWROOM_OLD(dlsym);
ELBOWROOM_OLD(pthread_create);
ELBOWROOM_OLD(pthread_detach);
ELBOWROOM_OLD(pthread_key_create);
ELBOWROOM_OLD(pthread_setspecific);
ELBOWROOM_OLD(pthread_sigmask);

extern "C" {

void* elbowroom_old_dlopen(const char*, int);
void* elbowroom_old_dlsym(void*, const char*);
int elbowroom_old_pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
int elbowroom_old_pthread_detach(pthread_t);
int elbowroom_old_pthread_key_create(pthread_key_t*, void (*)(void*));
int elbowroom_old_pthread_setspecific(pthread_key_t, const void*);
int elbowroom_old_pthread_sigmask(int, const sigset_t*, sigset_t*);

ELBOWROOM_HIDDEN void* elbowroom_dlopen(const char* name, int flags) asm("dlopen");
ELBOWROOM_HIDDEN void* elbowroom_dlsym(void* library, const char* name) asm("dlsym");
ELBOWROOM_HIDDEN int elbowroom_pthread_create(pthread_t* thread, const pthread_attr_t* how, void* (*work)(void*),
                                              void* argument) asm("pthread_create");
ELBOWROOM_HIDDEN int elbowroom_pthread_detach(pthread_t thread) asm("pthread_detach");
ELBOWROOM_HIDDEN int elbowroom_pthread_key_create(pthread_key_t* key, void (*destroy)(void*)) asm("pthread_key_create");
ELBOWROOM_HIDDEN int elbowroom_pthread_setspecific(pthread_key_t key, const void* value) asm("pthread_setspecific");
ELBOWROOM_HIDDEN int elbowroom_pthread_sigmask(int how, const sigset_t* set, sigset_t* before) asm("pthread_sigmask");

void* elbowroom_dlopen(const char* name, int flags) { return elbowroom_old_dlopen(name, flags); }
void* elbowroom_dlsym(void* library, const char* name) { return elbowroom_old_dlsym(library, name); }
int elbowroom_pthread_create(pthread_t* thread, const pthread_attr_t* how, void* (*work)(void*), void* argument) {
  return elbowroom_old_pthread_create(thread, how, work, argument);
}
int elbowroom_pthread_detach(pthread_t thread) { return elbowroom_old_pthread_detach(thread); }
int elbowroom_pthread_key_create(pthread_key_t* key, void (*destroy)(void*)) {
  return elbowroom_old_pthread_key_create(key, destroy);
}
int elbowroom_pthread_setspecific(pthread_key_t key, const void* value) { return elbowroom_old_pthread_setspecific(key, value); }
int elbowroom_pthread_sigmask(int how, const sigset_t* set, sigset_t* before) {
  return elbowroom_old_pthread_sigmask(how, set, before);
}
}
