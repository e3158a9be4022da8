#include <dlfcn.h>

#include <cstdint>

#include "fake_hip.hpp"
#include "program.hpp"

// Every way by which a program that is not linked to the runtime comes by one of its functions.

namespace {

constexpr const char* kExtModuleLaunch =
    "_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j";

using Launch = int (*)(const void*, hip::Dim3, hip::Dim3, void**, std::size_t, hip::Stream);
using GetProc = int (*)(const char*, void**, int, std::uint64_t, int*);

bool lies_in(void* function, const char* library) {
  Dl_info info{};
  return function != nullptr && dladdr(function, &info) != 0 && std::strstr(info.dli_fname, library) != nullptr;
}
bool is_interposed(void* function) { return lies_in(function, "libelbowroom_interposer_hip"); }
bool is_runtime(void* function) { return lies_in(function, "libamdhip64.so"); }

void* runtime() {
  void* handle = dlopen("libamdhip64.so.6", RTLD_NOW);
  EXPECT(handle != nullptr);
  return handle;
}

template <class Function>
Function function(const char* name) {
  return reinterpret_cast<Function>(dlsym(runtime(), name));
}

// A launch through `launch` reaches the runtime once, under the name `reached`.
void expect_launches(void* launch, const char* reached) {
  const void* kernel = function<decltype(&fake_hip_symbol)>("fake_hip_symbol")("gemm", 32, 0);
  function<decltype(&fake_hip_reset)>("fake_hip_reset")();
  EXPECT(reinterpret_cast<Launch>(launch)(kernel, {7, 1, 1}, {64, 1, 1}, nullptr, 0, nullptr) == 0);
  EXPECT(function<decltype(&fake_hip_call_count)>("fake_hip_call_count")() == 1);
  const FakeHipCall* call = function<decltype(&fake_hip_call)>("fake_hip_call")(0);
  EXPECT(std::strcmp(call->name, reached) == 0 && call->grid[0] == 7 && call->function == kernel);
}

void by_name() {
  void* launch = dlsym(runtime(), "hipLaunchKernel");
  EXPECT(is_interposed(launch));
  expect_launches(launch, "hipLaunchKernel");
  EXPECT(is_interposed(dlsym(runtime(), kExtModuleLaunch)));
}

void proc_address() {
  const auto get = function<GetProc>("hipGetProcAddress");
  EXPECT(is_interposed(reinterpret_cast<void*>(get)));
  void* found = nullptr;
  int status = -1;
  EXPECT(get("", &found, 60000000, 0, &status) != 0 && get(nullptr, &found, 60000000, 0, &status) != 0);
  EXPECT(get("hipLaunchKernel", nullptr, 60000000, 0, nullptr) != 0);
  EXPECT(get("hipLaunchKernel", &found, 60000000, 0, nullptr) == 0 && is_interposed(found));
  expect_launches(found, "hipLaunchKernel");
  EXPECT(get("hipLaunchKernel", &found, 60000000, 2, &status) == 0 && is_interposed(found) && status == 0);
  expect_launches(found, "hipLaunchKernel_spt");
  EXPECT(get("hipMalloc", &found, 60000000, 0, &status) == 0 && is_runtime(found));
  EXPECT(get("hipGetProcAddress", &found, 60000000, 0, &status) == 0 && is_interposed(found));
}

constexpr Case kCases[] = {{"by_name", by_name}, {"proc_address", proc_address}};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
