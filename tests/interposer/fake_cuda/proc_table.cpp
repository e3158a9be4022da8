#include <dlfcn.h>

#include <array>
#include <string_view>

#include "objects.hpp"

// Which function cuGetProcAddress means by a name. Only functions with several versions or forms need a row; the newest stands
// first.

namespace {

struct Row {
  std::string_view base;
  const char* symbol;
  int since;
  bool per_thread;
};

constexpr std::array kRows{
    Row{"cuGetProcAddress", "cuGetProcAddress_v2", 12000, false},
    Row{"cuGetProcAddress", "cuGetProcAddress", 11030, false},
    Row{"cuLaunchKernel", "cuLaunchKernel", 4000, false},
    Row{"cuLaunchKernel", "cuLaunchKernel_ptsz", 7000, true},
    Row{"cuLaunchKernelEx", "cuLaunchKernelEx", 11060, false},
    Row{"cuLaunchKernelEx", "cuLaunchKernelEx_ptsz", 11060, true},
    Row{"cuLaunchCooperativeKernel", "cuLaunchCooperativeKernel", 9000, false},
    Row{"cuLaunchCooperativeKernel", "cuLaunchCooperativeKernel_ptsz", 9000, true},
    Row{"cuStreamDestroy", "cuStreamDestroy_v2", 4000, false},
    Row{"cuStreamWaitEvent", "cuStreamWaitEvent", 3020, false},
    Row{"cuStreamWaitEvent", "cuStreamWaitEvent_ptsz", 7000, true},
    Row{"cuStreamSynchronize", "cuStreamSynchronize", 2000, false},
    Row{"cuStreamQuery", "cuStreamQuery", 2000, false},
    Row{"cuEventRecord", "cuEventRecord", 2000, false},
    Row{"cuEventRecord", "cuEventRecord_ptsz", 7000, true},
    Row{"cuEventDestroy", "cuEventDestroy_v2", 4000, false},
    Row{"cuModuleUnload", "fake_module_unload", 2000, false},
    Row{"cuLaunchHostFunc", "cuLaunchHostFunc_v2", 13020, false},
    Row{"cuLaunchHostFunc", "cuLaunchHostFunc_v2_ptsz", 13020, true},
    Row{"cuLaunchHostFunc", "cuLaunchHostFunc", 10000, false},
    Row{"cuLaunchHostFunc", "cuLaunchHostFunc_ptsz", 10000, true},
    Row{"cuStreamWaitValue64", "fake_newer_wait", 14000, false},
    Row{"cuStreamWaitValue64", "fake_newer_wait_ptsz", 14000, true},
    Row{"cuStreamWaitValue64", "cuStreamWaitValue64_v2", 11070, false},
    Row{"cuStreamWaitValue64", "cuStreamWaitValue64_v2_ptsz", 11070, true},
    Row{"cuMemcpyAsync", "cuMemcpyAsync", 4000, false},
    Row{"cuMemcpyAsync", "cuMemcpyAsync_ptsz", 7000, true},
    Row{"cuMemFree", "cuMemFree_v2", 3020, false},
    Row{"cuStreamBeginCapture", "cuStreamBeginCapture_v2", 10010, false},
    Row{"cuStreamBeginCapture", "cuStreamBeginCapture_v2_ptsz", 10010, true},
    Row{"cuGraphInstantiate", "cuGraphInstantiateWithFlags", 12000, false},
    Row{"cuCtxCreate", "cuCtxCreate_v2", 3020, false},
    Row{"cuCtxDestroy", "cuCtxDestroy_v2", 4000, false},
};

using Dlsym = void* (*)(void*, const char*);

// This library's own definition, by the C library's own dlsym: the program's may be interposed.
void* own_symbol(const char* symbol) {
  static const auto loader = reinterpret_cast<Dlsym>(dlsym(dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD), "dlsym"));
  static void* self = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  return loader == nullptr || self == nullptr ? nullptr : loader(self, symbol);
}

}  // namespace

namespace fake {

void* find_proc(const char* base, int version, unsigned long long flags, bool& version_too_old) {
  const bool per_thread_asked = (flags & cu::kProcAddressPerThreadDefaultStream) != 0;
  bool has_per_thread = false;
  for (const Row& row : kRows) { has_per_thread = has_per_thread || (row.base == base && row.per_thread); }
  bool known = false;
  for (const Row& row : kRows) {
    if (row.base != base || row.per_thread != (per_thread_asked && has_per_thread)) { continue; }
    known = true;
    if (version >= row.since) { return own_symbol(row.symbol); }
  }
  version_too_old = known;
  return known || base[0] == '\0' ? nullptr : own_symbol(base);
}

}  // namespace fake
