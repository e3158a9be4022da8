#include <dlfcn.h>

#include "forking.hpp"
#include "hip_program.hpp"
#include "interposer/nccl/functions.hpp"
#include "nccl_types.hpp"

// Several threads, devices and processes, and RCCL.

namespace {

// A carrier is made on the device of the stream that it carries for, whichever is current, and the program's stays current.
void several_devices() {
  const void* all_reduce = fake_hip_symbol(kAllReduce, 96, 0);
  EXPECT(hipSetDevice(1) == 0);
  const hip::Stream comm = make_stream();
  EXPECT(hipSetDevice(0) == 0);
  fake_hip_reset();
  EXPECT(launch_on(comm, all_reduce, 24) == 0);
  EXPECT(is_call(0, "hipStreamCreateWithPriority") && fake_hip_call(0)->device == 1);
  expect_carried(1, comm, "hipLaunchKernel");
  int device = -1;
  EXPECT(fake_hip_call(3)->device == 0 && hipGetDevice(&device) == 0 && device == 0);
}

void launch_some() {
  const hip::Stream compute = make_stream();
  const hip::Stream comm = make_stream();
  for (int i = 0; i < 5; ++i) {
    EXPECT(launch_on(comm, fake_hip_symbol(kAllReduce, 96, 0), 24) == 0);
    EXPECT(launch_on(compute, fake_hip_symbol("gemm", 64, 0)) == 0);
  }
}

// A child starts with nothing known, even when it was forked while other threads were launching.
void forked() {
  fake_hip_set_logging(0);
  in_children_beside(launch_some);
}

// Only processes that used the runtime leave a report; tests/interposer/reports.sh counts them.
void forked_idle() {
  launch_some();
  in_child([] {});
}

// reports.sh reads the size class of 4 MiB, however the call was made and of whatever type; a kernel without a call has none.
void sizes() {
  const hip::Stream comm = make_stream();
  EXPECT(ncclAllReduce(nullptr, nullptr, 1U << 20U, 7, 0, nullptr, comm) == 0);
  EXPECT(ncclAllReduce(nullptr, nullptr, 1U << 20U, 7, 0, nullptr, comm) == 0);
  EXPECT(ncclReduceScatter(nullptr, nullptr, 1U << 18U, 7, 0, nullptr, comm) == 0);
  for (int type = 0; type < kNcclTypes; ++type) {
    EXPECT(ncclAllReduce(nullptr, nullptr, (4U << 20U) / kNcclTypeBytes[type], type, 0, nullptr, comm) == 0);
  }
  EXPECT(launch_on(comm, fake_hip_symbol("ncclDevKernel_Broadcast_RING_LL", 96, 0), 24) == 0);
}

// An entry point of the runtime that calls another by its exported name makes one launch; tests/cli/run.sh counts it.
void nested() {
  const hip::Function gemm = fake_hip_function("gemm", 64, 0);
  fake_hip_reset();
  fake_hip_set_nested(1);
  EXPECT(elbowroom_ext_module_launch(gemm, 256, 1, 1, 256, 1, 1, 0, make_stream(), nullptr, nullptr, nullptr, nullptr, 0) == 0);
  std::size_t launches = 0;
  for (std::size_t i = 0; i < fake_hip_call_count(); ++i) { launches += fake_hip_call(i)->function != nullptr ? 1 : 0; }
  EXPECT(launches == 1);
}

// A function of RCCL that the program looks up itself.
void looked_up() {
  void* handle = dlopen("librccl.so.1", RTLD_NOW);
  EXPECT(handle != nullptr);
  Dl_info info{};
  void* found = dlsym(handle, "ncclAllReduce");
  EXPECT(found != nullptr && dladdr(found, &info) != 0 && std::strstr(info.dli_fname, "libelbowroom_interposer_hip") != nullptr);
  EXPECT(dlsym(handle, "ncclAllGather") == nullptr);  // what the library lacks stays absent
}

constexpr Case kCases[] = {CASE(several_devices), CASE(launch_some), CASE(forked), CASE(forked_idle),
                           CASE(sizes),           CASE(looked_up),   CASE(nested)};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
