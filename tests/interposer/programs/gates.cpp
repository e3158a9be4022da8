#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "two_streams.hpp"

// What ends the gate, or keeps a launch from it, beyond the order of streams and events.

namespace {

// A launch of the program's records its event: who waits for it is behind something else.
void own_event() {
  for (const cu::LaunchAttributeId id : {cu::kLaunchCompletionEvent, cu::kLaunchProgrammaticEvent}) {
    const TwoStreams two;
    const cu::Event done = make_event();
    EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0 && cuEventRecord(done, two.comm) == 0);
    cu::LaunchAttribute own{};
    own.id = id;
    own.value.launch_completion_event.event = done;
    const cu::LaunchConfig config{1, 1, 1, 32, 1, 1, 0, two.compute, &own, 1};
    EXPECT(cuLaunchKernelEx(&config, two.gemm, nullptr, nullptr) == 0 && cuStreamWaitEvent(two.compute, done, 0) == 0);
    fake_reset();
    EXPECT(launch_on(two.compute, two.gemm) == 0 && fake_call_count() == 2);
    two.settle();
  }
}

// A kernel that spins until the host stores something: the host may wait for the product.
void host_kernel() {
  const TwoStreams two;
  EXPECT(launch_on(make_stream(), fake_function("_ZN4c10d4cuda6detail14kernel_barrierEPim", 32, 0), 1) == 0);
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0);
  fake_reset();
  EXPECT(launch_on(two.compute, two.gemm) == 0 && fake_call_count() == 1);
}

// 108 blocks leave an SM for each of the collective's 24, on 132 SMs.
void small_product() {
  for (const unsigned blocks : {108U, 109U}) {
    const TwoStreams two;
    EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0);
    fake_reset();
    EXPECT(launch_on(two.compute, two.gemm, blocks) == 0 && fake_call_count() == (blocks == 108 ? 1 : 2));
    two.settle();
  }
}

int refuse_records(const FakeCall* call) { return std::strcmp(call->name, "cuEventRecord") == 0 ? 700 : 0; }

// An event is behind nothing after a record that failed, whether it was recorded before or not.
void failed_record() {
  for (const bool recorded : {false, true}) {
    const TwoStreams two;
    const cu::Event done = make_event();
    EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0 && (!recorded || cuEventRecord(done, two.comm) == 0));
    fake_set_failure(&refuse_records);
    EXPECT(cuEventRecord(done, two.comm) == 700);
    fake_reset();
    EXPECT(cuStreamWaitEvent(two.compute, done, 0) == 0 && launch_on(two.compute, two.gemm) == 0 && fake_call_count() == 3);
    two.settle();
  }
}

// Clusters of four find no place on the SMs that are left over in a group of them: 66 blocks surely do on 132, 68 need not.
void clusters() {
  cu::LaunchAttribute own{};
  own.id = cu::kLaunchClusterDimension;
  own.value.cluster_dim = {4, 1, 1};
  for (const unsigned blocks : {64U, 68U}) {
    const TwoStreams two;
    const cu::LaunchConfig config{blocks, 1, 1, 544, 1, 1, 0, two.comm, &own, 1};
    EXPECT(cuLaunchKernelEx(&config, two.all_reduce, nullptr, nullptr) == 0);
    fake_reset();
    EXPECT(launch_on(two.compute, two.gemm) == 0 && fake_call_count() == (blocks == 64 ? 2 : 1));
    two.settle();
  }
}

// A begin that is told with the end is no begin: peers of the collective may come when the product has ended.
void late_begin() {
  fake_set_begun(0);
  const TwoStreams two;
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0 && launch_on(two.compute, two.gemm) == 0 && fake_call_count() == 2);
}

// Where all streams share one queue, an event with a time holds up what stands behind it, and no gate is needed.
void one_connection() {
  EXPECT(setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", 1) == 0);
  const TwoStreams two;
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0 && launch_on(two.compute, two.gemm) == 0 && fake_call_count() == 2);
}

// What the rules leave out is not known: nothing is done.
void rules_lost() {
  EXPECT(setenv("ELBOWROOM_RUN_RULES", "/nowhere/run.rules", 1) == 0);
  const TwoStreams two;
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0 && launch_on(two.compute, two.gemm) == 0);
  EXPECT(fake_call_count() == 2 && fake_call(0)->attribute_count == 0);
}

constexpr Case kCases[] = {CASE(own_event), CASE(host_kernel), CASE(small_product),  CASE(failed_record),
                           CASE(clusters),  CASE(late_begin),  CASE(one_connection), CASE(rules_lost)};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
