#include <dlfcn.h>

#include <cstdio>
#include <initializer_list>
#include <thread>

#include "driver_program.hpp"
#include "nccl_types.hpp"
#include "plugin_program.hpp"
#include "report_of.hpp"

// NCCL and cuBLAS as a framework uses them.

namespace {

// reports.sh reads the size class of 4 MiB, however the call was made and of whatever type; a kernel without a call has none.
void sizes() {
  use_device(0);
  const cu::Stream comm = make_stream();
  for (const char* call : {"plugin_all_reduce", "plugin_grouped", "plugin_reduce_scatter"}) {
    EXPECT(from_plugin<int (*)(cu::Stream, std::size_t)>(call)(comm, 1U << 20U) == 0);
  }
  const auto all_reduce = from_plugin<int (*)(cu::Stream, std::size_t, int)>("plugin_all_reduce_of");
  for (int type = 0; type < kNcclTypes; ++type) { EXPECT(all_reduce(comm, (4U << 20U) / kNcclTypeBytes[type], type) == 0); }
  EXPECT(launch_on(comm, fake_function("ncclDevKernel_Broadcast_RING_LL", 96, 0), 24) == 0);
}

// Beside a collective of one rank a product is made for the target of the rules, unless the program has set one; elsewhere for all
// SMs.
void sm_target() {
  use_device(0);
  const cu::Stream compute = make_stream();
  const cu::Stream comm = make_stream();
  const auto gemm = from_plugin<int (*)(cu::Stream, int)>("plugin_gemm");
  fake_reset();
  EXPECT(gemm(compute, 0) == 0 && fake_call(0)->grid[0] == 132);
  fake_set_finished(0);
  EXPECT(from_plugin<int (*)(cu::Stream)>("plugin_lone_all_reduce")(comm) == 0);
  EXPECT(gemm(compute, 0) == 0 && fake_call(fake_call_count() - 1)->grid[0] == 108);
  EXPECT(gemm(compute, 120) == 0 && fake_call(fake_call_count() - 1)->grid[0] == 120);
  all_ends();
  EXPECT(gemm(compute, 0) == 0 && fake_call(fake_call_count() - 1)->grid[0] == 132);
  // Nobody tells with how many ranks it communicates: each would see windows of its own.
  EXPECT(launch_on(comm, fake_function("_ZN4vllm26cross_device_reduce_1stageEv", 96, 0), 24) == 0);
  all_ends();
  EXPECT(gemm(compute, 0) == 0 && fake_call(fake_call_count() - 1)->grid[0] == 108);
}

// A function of the library that the program looks up itself.
void looked_up() {
  use_device(0);
  plugin();
  struct {
    const char *path, *hooked, *absent;  // what the library lacks stays absent
  } const libraries[] = {{"libnccl.so.2", "ncclAllReduce", "ncclBroadcast"}, {"libcublas.so.13", "cublasGemmEx", "cublasSgemm_v2"}};
  for (const auto& library : libraries) {
    void* handle = dlopen(library.path, RTLD_NOW | RTLD_NOLOAD);
    EXPECT(handle != nullptr);
    void* found = dlsym(handle, library.hooked);
    Dl_info info{};
    EXPECT(found != nullptr && dladdr(found, &info) != 0 && std::strstr(info.dli_fname, "libelbowroom_interposer") != nullptr);
    EXPECT(dlsym(handle, library.absent) == nullptr);
  }
}

// Threads that end in a group, as those that meet an error, take nothing from those that come later.
void ended_in_groups() {
  EXPECT(holds(report_of([] {
                 use_device(0);
                 const cu::Stream comm = make_stream();
                 const auto open_group = from_plugin<int (*)(cu::Stream)>("plugin_open_group");
                 for (int i = 0; i < 100; ++i) {
                   std::thread([=] { EXPECT(open_group(comm) == 0); }).join();
                 }
                 EXPECT(from_plugin<int (*)(cu::Stream, std::size_t)>("plugin_all_reduce")(comm, 1U << 20U) == 0);
               }),
               R"("size_class":22,)"));
}

constexpr Case kCases[] = {CASE(ended_in_groups), CASE(sizes), CASE(sm_target), CASE(looked_up)};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
