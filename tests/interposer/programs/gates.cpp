#include <cstdlib>
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

// What the rules leave out is not known: nothing is done.
void rules_lost() {
  EXPECT(setenv("ELBOWROOM_RUN_RULES", "/nowhere/run.rules", 1) == 0);
  const TwoStreams two;
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0 && launch_on(two.compute, two.gemm) == 0);
  EXPECT(fake_call_count() == 2 && fake_call(0)->attribute_count == 0);
}

constexpr Case kCases[] = {{"own_event", own_event}, {"clusters", clusters}, {"rules_lost", rules_lost}};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
