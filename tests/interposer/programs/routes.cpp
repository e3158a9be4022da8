#include <dlfcn.h>
#include <unistd.h>

#include <cstdint>
#include <initializer_list>

#include "fake_cuda.hpp"
#include "program.hpp"

// Every way by which a program that is not linked to the driver comes by a driver function.

namespace {

using LaunchKernel = int (*)(cu::Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, cu::Stream, void**,
                             void**);
using GetProc4 = int (*)(const char*, void**, int, std::uint64_t);
using GetProc5 = int (*)(const char*, void**, int, std::uint64_t, int*);

bool is_interposed(void* function) {
  Dl_info info{};
  return function != nullptr && dladdr(function, &info) != 0 && std::strstr(info.dli_fname, "libelbowroom_interposer") != nullptr;
}

bool is_driver(void* function) {
  Dl_info info{};
  return function != nullptr && dladdr(function, &info) != 0 && std::strstr(info.dli_fname, "libcuda.so") != nullptr;
}

void* driver() {
  void* handle = dlopen("libcuda.so.1", RTLD_NOW);
  EXPECT(handle != nullptr);
  return handle;
}

template <class Function>
Function function(const char* name) {
  return reinterpret_cast<Function>(dlsym(driver(), name));
}

void make_context() {
  cu::Context context = nullptr;
  EXPECT(function<int (*)(cu::Context*, unsigned, int)>("cuCtxCreate_v2")(&context, 0, 0) == 0);
}

// A launch through `launch` reaches the driver once, under the name `reached`.
void expect_launches(void* launch, const char* reached) {
  make_context();
  const auto kernel = function<decltype(&fake_function)>("fake_function")("gemm", 32, 0);
  function<decltype(&fake_reset)>("fake_reset")();
  EXPECT(reinterpret_cast<LaunchKernel>(launch)(kernel, 7, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr) == 0);
  EXPECT(function<decltype(&fake_call_count)>("fake_call_count")() == 1);
  const FakeCall* call = function<decltype(&fake_call)>("fake_call")(0);
  EXPECT(std::strcmp(call->name, reached) == 0);
  EXPECT(call->grid[0] == 7 && call->function == kernel);
}

void by_name() {
  void* launch = dlsym(driver(), "cuLaunchKernel");
  EXPECT(is_interposed(launch));
  expect_launches(launch, "cuLaunchKernel");
}

void by_path() {
  void* handle = dlopen(std::getenv("ELBOWROOM_FAKE_CUDA"), RTLD_NOW | RTLD_LOCAL);
  EXPECT(handle != nullptr);
  EXPECT(is_interposed(dlsym(handle, "cuLaunchKernel_ptsz")));
  expect_launches(dlsym(handle, "cuLaunchKernel_ptsz"), "cuLaunchKernel_ptsz");
}

void unhooked_names() {
  EXPECT(is_driver(dlsym(driver(), "cuInit")));
  EXPECT(dlsym(driver(), "cuNoSuchFunction") == nullptr);
  EXPECT(dlerror() != nullptr);
  EXPECT(dlsym(driver(), "") == nullptr);
}

// The empty name is what the runtime asks for first; it and unwanted results must come back untouched.
void proc_address_5() {
  const auto get = function<GetProc5>("cuGetProcAddress_v2");
  EXPECT(is_interposed(reinterpret_cast<void*>(get)));
  void* found = &found;
  int status = -1;
  EXPECT(get("", &found, 12000, 0, &status) == 500 && found == nullptr && status == 1);
  EXPECT(get(nullptr, &found, 12000, 0, &status) == 500);
  EXPECT(get("cuLaunchKernel", nullptr, 12000, 0, nullptr) == 0);
  EXPECT(get("cuLaunchKernel", &found, 12000, 0, nullptr) == 0 && is_interposed(found));
  EXPECT(get("cuGraphInstantiate", &found, 12000, 0, &status) == 0 && is_interposed(found) && status == 0);
  EXPECT(get("cuInit", &found, 12000, 0, &status) == 0 && is_driver(found));
  EXPECT(get("cuLaunchKernelEx", &found, 11000, 0, &status) == 500 && found == nullptr && status == 2);
}

// Below 12000 the program expects the form with four arguments, and that one to answer for itself in turn.
void proc_address_4() {
  void* found = nullptr;
  EXPECT(function<GetProc5>("cuGetProcAddress_v2")("cuGetProcAddress", &found, 11030, 0, nullptr) == 0);
  EXPECT(found == dlsym(driver(), "cuGetProcAddress") && is_interposed(found));
  const auto get = reinterpret_cast<GetProc4>(found);
  EXPECT(get("cuLaunchKernel", &found, 11030, 0) == 0 && is_interposed(found));
  EXPECT(get("cuLaunchKernel", nullptr, 11030, 0) == 0);
  expect_launches(found, "cuLaunchKernel");
}

void proc_address_itself() {
  void* found = nullptr;
  EXPECT(function<GetProc5>("cuGetProcAddress_v2")("cuGetProcAddress", &found, 12000, 0, nullptr) == 0);
  EXPECT(found == dlsym(driver(), "cuGetProcAddress_v2") && is_interposed(found));
}

void proc_address_per_thread() {
  void* found = nullptr;
  const auto get = function<GetProc5>("cuGetProcAddress_v2");
  EXPECT(get("cuLaunchKernel", &found, 12000, cu::kProcAddressPerThreadDefaultStream, nullptr) == 0 && is_interposed(found));
  expect_launches(found, "cuLaunchKernel_ptsz");
  EXPECT(get("cuLaunchKernel", &found, 12000, cu::kProcAddressLegacyStream, nullptr) == 0);
  expect_launches(found, "cuLaunchKernel");
  // A form that is not hooked must not become one that is.
  EXPECT(get("cuMemcpyAsync", &found, 12000, cu::kProcAddressPerThreadDefaultStream, nullptr) == 0 && is_driver(found));
}

// A later driver means another function by the name, with another argument: it is the driver's, and the program gets it as it is.
void proc_address_newer() {
  const auto get = function<GetProc5>("cuGetProcAddress_v2");
  void* const launch = dlsym(driver(), "cuLaunchKernel");
  void* found = nullptr;
  for (const std::uint64_t flags : {std::uint64_t{0}, std::uint64_t{cu::kProcAddressPerThreadDefaultStream}}) {
    EXPECT(get("cuLaunchHostFunc", &found, 13010, flags, nullptr) == 0 && is_interposed(found));
    void* const older = found;
    EXPECT(get("cuLaunchHostFunc", &found, 13020, flags, nullptr) == 0 && is_interposed(found) && found != older);
    EXPECT(get("cuStreamWaitValue64", &found, 13020, flags, nullptr) == 0 && is_interposed(found));
  }
  EXPECT(get("cuStreamWaitValue64", &found, 14000, 0, nullptr) == 0 && is_driver(found));
  make_context();
  EXPECT(reinterpret_cast<int (*)(cu::Stream, cu::DevicePointer, std::uint64_t, unsigned, unsigned)>(found)(nullptr, 0, 0, 0, 7) ==
         0);
  EXPECT(function<decltype(&fake_call)>("fake_call")(0)->flags == 7);
  expect_launches(launch, "cuLaunchKernel");
}

// Who has no newer form answers with the one that there is, whatever version is asked for. Its parameters are those of that one.
void proc_address_older() {
  const auto get = function<GetProc5>("cuGetProcAddress_v2");
  void* found = nullptr;
  for (const char* name : {"cuDevicePrimaryCtxReset", "cuDevicePrimaryCtxRelease"}) {
    for (const int version : {10020, 13000}) {
      EXPECT(get(name, &found, version, 0, nullptr) == 0 && found == dlsym(driver(), name) && is_interposed(found));
    }
  }
}

// The driver may answer with another address than it exports.
void proc_address_elsewhere() {
  void* found = nullptr;
  EXPECT(function<GetProc5>("cuGetProcAddress_v2")("cuModuleUnload", &found, 12000, 0, nullptr) == 0 && is_interposed(found));
}

// The global scope begins with the preloaded library, which must not answer for a driver that is not there.
void no_driver() {
  EXPECT(dlsym(RTLD_DEFAULT, "cuLaunchKernel") == nullptr);
  EXPECT(dlerror() != nullptr);
  EXPECT(dlsym(nullptr, "cuGetProcAddress_v2") == nullptr);
  EXPECT(dlsym(dlopen(nullptr, RTLD_NOW), "cuInit") == nullptr);
  for (const char* name : {"cuLaunchKernel", "ncclAllReduce"}) {
    EXPECT(dlsym(RTLD_NEXT, name) == nullptr && dlerror() != nullptr);
  }
}

int (*launch_of_library)() = nullptr;

// Whoever loads a library holds the loader's lock until all that it does at its load is done.
void launch_at_load() {
  static const auto launch =
      reinterpret_cast<LaunchKernel>(dlsym(dlopen(std::getenv("ELBOWROOM_SMALL_DRIVER"), RTLD_NOW), "cuLaunchKernel"));
  EXPECT(is_interposed(reinterpret_cast<void*>(launch)));
  launch_of_library = [] { return launch(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr); };
  EXPECT(launch_of_library() == 1);
  alarm(20);
  EXPECT(dlopen(std::getenv("ELBOWROOM_LAUNCHING_AT_LOAD"), RTLD_NOW) != nullptr);
  EXPECT(launch_of_library() == 5);
}

void default_scope() {
  EXPECT(dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL) != nullptr);
  void* launch = dlsym(RTLD_DEFAULT, "cuLaunchKernel");
  EXPECT(is_interposed(launch));
  expect_launches(launch, "cuLaunchKernel");
  EXPECT(is_interposed(dlsym(dlopen(nullptr, RTLD_NOW), "cuLaunchKernelEx")));
}

// A driver that was loaded for others alone is not there for the program.
void local_scope() {
  EXPECT(dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL) != nullptr);
  EXPECT(dlsym(RTLD_DEFAULT, "cuLaunchKernel") == nullptr);
  EXPECT(dlsym(dlopen(nullptr, RTLD_NOW), "cuLaunchKernel") == nullptr);
}

// For the program the next definition after itself is the preloaded one; the C library's own answer, by the program's place.
void next_scope() {
  EXPECT(dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL) != nullptr);
  EXPECT(is_interposed(dlsym(RTLD_NEXT, "cuLaunchKernel")));
  EXPECT(dlsym(RTLD_NEXT, "getpid") == dlsym(RTLD_DEFAULT, "getpid"));
}

constexpr Case kCases[] = {CASE(by_name),
                           CASE(by_path),
                           CASE(unhooked_names),
                           CASE(proc_address_5),
                           CASE(proc_address_4),
                           CASE(proc_address_itself),
                           CASE(proc_address_per_thread),
                           CASE(proc_address_newer),
                           CASE(proc_address_older),
                           CASE(proc_address_elsewhere),
                           CASE(no_driver),
                           CASE(launch_at_load),
                           CASE(default_scope),
                           CASE(local_scope),
                           CASE(next_scope)};

}  // namespace

#pragma GCC visibility push(default)
extern "C" int launch_for_library() { return launch_of_library(); }
#pragma GCC visibility pop

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
