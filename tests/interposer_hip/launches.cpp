
#include <initializer_list>

#include "hip_program.hpp"
#include "interposer/core/unusual.hpp"
#include "report_of.hpp"

// What reaches the runtime of the launches of a program that is linked to it.

namespace {

struct TwoStreams {
  hip::Stream compute = make_stream();
  hip::Stream comm = make_stream();
  const void* gemm = fake_hip_symbol("gemm", 64, 0);
  const void* all_reduce = fake_hip_symbol(kAllReduce, 96, 4184);
  hip::Function module_gemm = fake_hip_function("module_gemm", 64, 0);
  hip::Function module_all_reduce = fake_hip_function(kAllReduce, 96, 4184);

  TwoStreams() { hold_ends(); }
  void settle() const { let_end(gemm); }
};

void* argument_storage[2];
std::size_t extra_bytes = 0;
void* some_extra[5] = {reinterpret_cast<void*>(1), argument_storage, reinterpret_cast<void*>(2), &extra_bytes,
                       reinterpret_cast<void*>(3)};

// A stream of the greatest priority carries the collective, and the program's stream waits for it.
void carried() {
  const TwoStreams two;
  EXPECT(launch_on(two.comm, two.all_reduce, 24, 128) == 0);
  const hip::Stream carrier = expect_carried(1, two.comm, "hipLaunchKernel");
  EXPECT(is_call(0, "hipStreamCreateWithPriority") && fake_hip_call(0)->priority == kGreatest);
  EXPECT(fake_hip_call(0)->flags == hip::kStreamNonBlocking && fake_hip_call(3)->grid[0] == 24 && fake_hip_call(3)->shared == 128);
  EXPECT(launch_on(two.compute, two.gemm) == 0);
  EXPECT(fake_hip_call_count() == 7 && is_call(6, "hipLaunchKernel") && fake_hip_call(6)->stream == two.compute);
  // The stream keeps its carrier; another one has another.
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0 && expect_carried(7, two.comm, "hipLaunchKernel") == carrier);
  const hip::Stream other = make_stream();
  fake_hip_reset();
  EXPECT(launch_on(other, two.all_reduce, 24) == 0 && expect_carried(1, other, "hipLaunchKernel") != carrier);
}

// RCCL launches with an event that the kernel's end records; by a host function or a module, as it was built.
void carried_forms() {
  const TwoStreams two;
  const hip::Event stop = make_event();
  EXPECT(hipExtLaunchKernel(two.all_reduce, {24, 1, 1}, {256, 1, 1}, argument_storage, 0, two.comm, nullptr, stop, 0) == 0);
  expect_carried(1, two.comm, "hipExtLaunchKernel");
  EXPECT(fake_hip_call(3)->stop_event == stop && fake_hip_call(3)->parameters == argument_storage);
  fake_hip_reset();
  EXPECT(hipModuleLaunchKernel(two.module_all_reduce, 24, 1, 1, 256, 1, 1, 0, two.comm, nullptr, some_extra) == 0);
  expect_carried(0, two.comm, "hipModuleLaunchKernel");
  EXPECT(fake_hip_call(2)->extra == some_extra);
  fake_hip_reset();
  EXPECT(hipLaunchCooperativeKernel(two.all_reduce, {24, 1, 1}, {256, 1, 1}, argument_storage, 0, two.comm) == 0);
  expect_carried(0, two.comm, "hipLaunchCooperativeKernel");
  fake_hip_reset();
  EXPECT(hipExtModuleLaunchKernel(two.module_all_reduce, 24 * 256, 1, 1, 256, 1, 1, 0, two.comm, nullptr, some_extra, nullptr, stop,
                                  0) == 0);
  expect_carried(0, two.comm, "hipExtModuleLaunchKernel");
  EXPECT(fake_hip_call(2)->grid[0] == 24 && fake_hip_call(2)->stop_event == stop);
  fake_hip_reset();
  hip::LaunchParams one{const_cast<void*>(two.all_reduce), {24, 1, 1}, {256, 1, 1}, argument_storage, 0, two.comm};
  EXPECT(hipExtLaunchMultiKernelMultiDevice(&one, 1, 0) == 0);
  expect_carried(0, two.comm, "hipExtLaunchMultiKernelMultiDevice");
  EXPECT(fake_hip_call(2)->parameters == argument_storage && one.stream == two.comm);
}

// Default streams are forked by a handle that means the same in every entry point.
void default_streams() {
  const TwoStreams two;
  EXPECT(launch_on(nullptr, two.all_reduce, 24) == 0);
  expect_carried(1, nullptr, "hipLaunchKernel");
  fake_hip_reset();
  EXPECT(hipLaunchKernel_spt(two.all_reduce, {24, 1, 1}, {256, 1, 1}, nullptr, 0, nullptr) == 0);
  expect_carried(1, reinterpret_cast<hip::Stream>(hip::kStreamPerThread), "hipLaunchKernel_spt");
}

void expect_plain(hip::Stream stream, const void* function) {
  fake_hip_reset();
  EXPECT(launch_on(stream, function, 24) == 0);
  EXPECT(fake_hip_call_count() == 1 && is_call(0, "hipLaunchKernel") && fake_hip_call(0)->stream == stream);
}

// A stream that has the greatest priority needs no carrier.
void not_carried() {
  const TwoStreams two;
  hip::Stream high = nullptr;
  EXPECT(hipStreamCreateWithPriority(&high, hip::kStreamNonBlocking, kGreatest) == 0);
  expect_plain(high, two.all_reduce);
  hip::LaunchAttribute own{};
  own.id = hip::kLaunchPriority;
  const hip::LaunchConfig config{{24, 1, 1}, {256, 1, 1}, 0, two.comm, &own, 1};
  fake_hip_reset();
  EXPECT(hipLaunchKernelExC(&config, two.all_reduce, nullptr) == 0);
  EXPECT(calls_named("hipStreamWaitEvent") == 0 && fake_hip_call(0)->stream == two.comm);
}

bool is_carried(const TwoStreams& two) {
  fake_hip_reset();
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0);
  return calls_named("hipStreamWaitEvent") != 0;
}

using elbowroom::interposer::kUnusualWords;
using elbowroom::interposer::Unusual;

// From then on the runtime gets the calls of the program alone, and the report names the row.
template <class Call>
void names(Unusual row, Call call) {
  EXPECT(holds(report_of([&] {
                 const TwoStreams two;
                 EXPECT(call(two) == 0 && !is_carried(two));
               }),
               kUnusualWords[static_cast<std::size_t>(row)]));
}

// ROC_GLOBAL_CU_MASK or HSA_CU_MASK.
void masks() {
  names(Unusual::masked_stream, [](const TwoStreams&) { return 0; });
}

// ELBOWROOM_FAKE_HIP_PRIORITY=none.
void no_priorities() {
  const TwoStreams two;
  expect_plain(two.comm, two.all_reduce);
}

// What cannot be made or forked leaves the launch as the program asked, and its last error clean.
void fork_fails() {
  const TwoStreams two;
  fake_hip_set_failing("hipStreamCreateWithPriority:2");
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0 && hipGetLastError() == 0);
  EXPECT(fake_hip_call_count() == 2 && is_call(1, "hipLaunchKernel") && fake_hip_call(1)->stream == two.comm);
  const hip::Stream other = make_stream();
  for (const char* failing : {"hipEventRecord:999", "hipStreamWaitEvent:999"}) {
    fake_hip_reset();
    fake_hip_set_failing(failing);
    EXPECT(launch_on(other, two.all_reduce, 24) == 0 && hipGetLastError() == 0);
    EXPECT(calls_named("hipLaunchKernel") == 1);
    for (std::size_t i = 0; i < fake_hip_call_count(); ++i) {
      EXPECT(!is_call(i, "hipLaunchKernel") || fake_hip_call(i)->stream == other);
    }
  }
}

hip::Stream refused_stream = nullptr;
int refuse_other_streams(const FakeHipCall* call) { return call->grid[0] == 24 && call->stream != refused_stream ? 1 : 0; }

// A launch that fails on the carrier is launched as the program asked, and its kernel is left alone from then on.
void relaunched() {
  const TwoStreams two;
  refused_stream = two.comm;
  fake_hip_set_failure(&refuse_other_streams);
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0 && hipGetLastError() == 0);
  EXPECT(calls_named("hipLaunchKernel") == 2 && last_call().stream == two.comm && last_call().result == 0);
  expect_plain(two.comm, two.all_reduce);
}

// The place of a launch that cannot be kept is no success.
void join_fails() {
  const TwoStreams two;
  fake_hip_set_failing("hipEventRecord:999:2");
  EXPECT(launch_on(two.comm, two.all_reduce, 24) != 0);
}

// Own calls that fail, or find that something is not ready, stay out of what hipGetLastError tells the program; its own failures do
// not.
void last_error() {
  const TwoStreams two;
  fake_hip_set_finished(0);
  for (int i = 0; i < 200; ++i) {
    EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0 && hipPeekAtLastError() == 0);
    EXPECT(launch_on(two.compute, two.gemm) == 0 && hipGetLastError() == 0);
  }
  fake_hip_set_failing("hipFuncGetAttributes:98,hipStreamGetFlags:400,hipEventCreateWithFlags:2");
  const void* unknown = fake_hip_symbol("unknown", 32, 0);
  EXPECT(launch_on(make_stream(), unknown) == 0 && hipGetLastError() == 0);
  EXPECT(launch_on(nullptr, fake_hip_symbol("late", 32, 0)) == 0 && hipGetLastError() == 0);
  fake_hip_set_failing("hipLaunchKernel:719");
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 719 && hipGetLastError() == 719);
}

// A compute unit has 64 KiB: more than 32 keep a second block out.
constexpr std::size_t kTwoBlocksFit = 32 * 1024;

std::size_t shared_of_overlapping(const TwoStreams& two, const void* function, unsigned blocks = 100000) {
  fake_hip_reset();
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0);
  EXPECT(launch_on(two.compute, function, blocks, 1000) == 0 && last_call().function == function);
  return last_call().shared;
}

// The cap of one block per compute unit takes more shared memory than the program asked for.
void shape() {
  const TwoStreams two;
  EXPECT(shared_of_overlapping(two, two.gemm) == 33280);  // 65,536 / 2 and a granule of 512
  EXPECT(calls_named("hipLaunchKernel") == 2 && last_call().result == 0 && last_call().stream == two.compute);
  EXPECT(hipModuleLaunchKernel(two.module_gemm, 100000, 1, 1, 256, 1, 1, 0, two.compute, nullptr, some_extra) == 0);
  EXPECT(last_call().shared == 33280 && last_call().extra == some_extra);
  EXPECT(hipExtModuleLaunchKernel(two.module_gemm, 25600000, 1, 1, 256, 1, 1, 0, two.compute, nullptr, some_extra, nullptr, nullptr,
                                  0) == 0);
  EXPECT(last_call().shared == 33280 && last_call().grid[0] == 100000);
  // 20 KiB of its own count.
  EXPECT(shared_of_overlapping(two, fake_hip_symbol("gemm_static", 64, 20480)) == 33280 - 20480);
}

// Never pad: what is cooperative, what fits at once and may hold a barrier over its grid, and what the program orders after the
// collective.
void not_shaped() {
  const TwoStreams two;
  // 64 registers of 256 threads: 8 waves in each of 4 SIMDs hold 8 blocks on each of 110 compute units.
  EXPECT(shared_of_overlapping(two, two.gemm, 880) == 1000 && shared_of_overlapping(two, two.gemm, 881) > kTwoBlocksFit);
  EXPECT(hipLaunchCooperativeKernel(two.gemm, {800, 1, 1}, {256, 1, 1}, nullptr, 0, two.compute) == 0 && last_call().shared == 0);
  two.settle();
  EXPECT(launch_on(two.compute, two.gemm, 100000) == 0 && last_call().shared == 0);
  const hip::Event done = make_event();
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0 && hipEventRecord(done, two.comm) == 0);
  EXPECT(hipStreamWaitEvent(two.compute, done, 0) == 0 && launch_on(two.compute, two.gemm, 100000) == 0 && last_call().shared == 0);
}

int refuse_padding(const FakeHipCall* call) { return call->shared > 30000 ? 701 : 0; }

void shape_refused() {
  const TwoStreams two;
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0);
  fake_hip_set_failure(&refuse_padding);
  const std::size_t before = calls_named("hipLaunchKernel");
  EXPECT(launch_on(two.compute, two.gemm, 100000, 1000) == 0 && hipGetLastError() == 0);
  EXPECT(calls_named("hipLaunchKernel") == before + 2 && last_call().shared == 1000);
  EXPECT(launch_on(two.compute, two.gemm, 100000, 1000) == 0 && calls_named("hipLaunchKernel") == before + 3);
}

constexpr Case kCases[] = {CASE(carried),       CASE(carried_forms), CASE(default_streams), CASE(not_carried), CASE(masks),
                           CASE(no_priorities), CASE(fork_fails),    CASE(relaunched),      CASE(join_fails),  CASE(last_error),
                           CASE(shape),         CASE(not_shaped),    CASE(shape_refused)};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
