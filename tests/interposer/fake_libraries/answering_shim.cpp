#include <dlfcn.h>

#include <cstring>

#include "interposer/cuda/hooked_functions.hpp"

// What counts the launches of programs that ask cuGetProcAddress, preloaded as the interposer is. It answers with functions that it
// does not export, and these call what it was given last. It knows one form of each.

namespace {

int launches = 0;
decltype(&cuLaunchKernel) drivers_launch = nullptr;

int counted_launch(cu::Function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, cu::Stream stream, void** parameters, void** extra) {
  ++launches;
  return drivers_launch(function, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra);
}

int updates = 0;
int version_of_update = 0;
void* drivers_update = nullptr;

int counted_update(cu::GraphExec exec, cu::Graph graph, cu::GraphNode* error_node, int* result) {
  ++updates;
  if (version_of_update >= 12000) {
    return reinterpret_cast<decltype(&cuGraphExecUpdate_v2)>(drivers_update)(exec, graph, nullptr);
  }
  return reinterpret_cast<decltype(&cuGraphExecUpdate)>(drivers_update)(exec, graph, error_node, result);
}

int own_launch(const cu::LaunchConfig*, cu::Function, void**, void**) { return 0; }

int questions = 0;
void (*meanwhile)() = nullptr;

// Of 32-bit addresses, as they were before the form that is known.
int own_copy(void*, unsigned, unsigned) { return 0; }

}  // namespace

int cuGetProcAddress_v2(const char* symbol, void** found, int version, std::uint64_t flags, int* status) {
  ++questions;
  static const auto ask = reinterpret_cast<decltype(&cuGetProcAddress_v2)>(dlsym(RTLD_NEXT, "cuGetProcAddress_v2"));
  if (std::strcmp(symbol, "cuMemcpyDtoH") == 0) {
    *found = reinterpret_cast<void*>(&own_copy);
    return 0;
  }
  const int result = ask(symbol, found, version, flags, status);
  if (result == 0 && std::strcmp(symbol, "cuLaunchKernel") == 0) {
    drivers_launch = reinterpret_cast<decltype(&cuLaunchKernel)>(*found);
    *found = reinterpret_cast<void*>(&counted_launch);
  }
  if (result == 0 && std::strcmp(symbol, "cuLaunchKernelEx") == 0) { *found = reinterpret_cast<void*>(&own_launch); }
  if (result == 0 && std::strcmp(symbol, "cuGraphExecUpdate") == 0) {
    drivers_update = *found;
    version_of_update = version;
    *found = reinterpret_cast<void*>(&counted_update);
  }
  if (meanwhile != nullptr) { meanwhile(); }
  return result;
}

#pragma GCC visibility push(default)
extern "C" {
int shim_launches() { return launches; }
int shim_updates() { return updates; }
int shim_questions() { return questions; }
// What another thread does whenever the library has been asked.
void shim_meanwhile(void (*act)()) { meanwhile = act; }
void* shim_update() { return reinterpret_cast<void*>(&counted_update); }
void* shim_copy() { return reinterpret_cast<void*>(&own_copy); }
}
#pragma GCC visibility pop
