#include <dlfcn.h>

#include <initializer_list>

#include "two_streams.hpp"

// What reaches the driver of the launches of a program that is linked to it.

namespace {

void* argument_storage[2];
void* some_extra[5];

// Whatever the policy, a program without collectives gets its own calls and nothing else.
void arguments() {
  const TwoStreams two;
  EXPECT(cuLaunchKernel(two.gemm, 2, 3, 4, 32, 2, 1, 128, two.compute, argument_storage, nullptr) == 0);
  cu::LaunchAttribute cluster{};
  cluster.id = cu::kLaunchClusterDimension;
  cluster.value.cluster_dim = {2, 1, 1};
  const cu::LaunchConfig config{8, 1, 1, 64, 1, 1, 16, two.comm, &cluster, 1};
  EXPECT(cuLaunchKernelEx(&config, two.gemm, nullptr, some_extra) == 0);
  EXPECT(cuLaunchKernelEx(nullptr, two.gemm, nullptr, nullptr) == cu::kErrorInvalidValue);
  EXPECT(fake_call_count() == 2);
  const FakeCall& first = *fake_call(0);
  EXPECT(is_call(0, "cuLaunchKernel") && first.stream == two.compute && first.function == two.gemm);
  EXPECT(first.grid[0] == 2 && first.grid[1] == 3 && first.grid[2] == 4 && first.block[0] == 32 && first.block[1] == 2);
  EXPECT(first.shared == 128 && first.parameters == argument_storage && first.extra == nullptr);
  const FakeCall& second = *fake_call(1);
  EXPECT(is_call(1, "cuLaunchKernelEx") && second.stream == two.comm && second.extra == some_extra && second.parameters == nullptr);
  EXPECT(second.attribute_count == 1 && second.attributes[0].value.cluster_dim.x == 2);
}

// A rewritten launch of a per-thread entry point goes to the calling thread's default stream by its own handle.
void per_thread() {
  const TwoStreams two;
  EXPECT(cuLaunchKernel_ptsz(two.gemm, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr) == 0);
  EXPECT(is_call(0, "cuLaunchKernel_ptsz") && fake_call(0)->stream == nullptr);
  EXPECT(cuLaunchKernel_ptsz(two.all_reduce, 24, 1, 1, 544, 1, 1, 0, nullptr, nullptr, some_extra) == 0);
  const FakeCall& launched = *fake_call(1);
  const bool rewritten = std::strcmp(launched.name, "cuLaunchKernelEx") == 0;
  EXPECT(rewritten || is_call(1, "cuLaunchKernel_ptsz"));
  EXPECT(launched.stream == (rewritten ? reinterpret_cast<cu::Stream>(cu::kStreamPerThread) : nullptr));
  EXPECT(launched.extra == some_extra);
}

// A step of sixteen collectives, each with a kernel beside it.
void run_step(const TwoStreams& two) {
  for (int i = 0; i < 16; ++i) {
    EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0);
    EXPECT(launch_on(two.compute, two.gemm, 4096, 64) == 0);
  }
}

// The next step is the program's own calls and nothing else, not even the events that time a step.
void expect_rest(const TwoStreams& two) {
  fake_reset();
  const std::size_t records = fake_times_called("cuEventRecord");
  run_step(two);
  EXPECT(fake_call_count() == 32 && fake_times_called("cuEventRecord") == records);
  for (std::size_t i = 0; i < fake_call_count(); ++i) {
    const FakeCall& call = *fake_call(i);
    const bool compute = i % 2 == 1;
    EXPECT(is_call(i, "cuLaunchKernel") && call.attribute_count == 0 && call.shared == (compute ? 64 : 0));
    EXPECT(call.stream == (compute ? two.compute : two.comm) && call.function == (compute ? two.gemm : two.all_reduce));
  }
}

// auto: steps that take equally long however they run. The program ends as it is.
void rest() {
  const TwoStreams two;
  fake_set_finished(1);
  for (int i = 0; i < 150; ++i) { run_step(two); }
  expect_rest(two);
}

// auto: at rest, calls that order streams go on to the driver alone.
void orders_at_rest() {
  const TwoStreams two;
  fake_set_finished(1);
  const cu::Event event = make_event();
  for (int i = 0; i < 150; ++i) { run_step(two); }
  fake_reset();
  EXPECT(cuEventRecord(event, nullptr) == 0 && cuStreamWaitEvent(nullptr, event, 0) == 0 && cuEventQuery(event) == 0);
  EXPECT(cuEventSynchronize(event) == 0 && cuStreamSynchronize(nullptr) == 0 && cuCtxSynchronize() == 0);
  EXPECT(fake_call_count() == 6);
}

// auto: fewer steps than pass before what an earlier run settled for is checked.
void short_run() {
  const TwoStreams two;
  for (int i = 0; i < 10; ++i) { run_step(two); }
}

// auto: no event has passed yet when the last step of the comparison is begun, and a hundred more are.
void host_far_ahead() {
  const TwoStreams two;
  fake_set_finished(0);
  for (int i = 0; i < 200; ++i) { run_step(two); }
  fake_set_finished(1);
  for (int i = 0; i < 40; ++i) { run_step(two); }
  expect_rest(two);
}

// A device on which every stream has the same priority: nothing is to be given to a launch.
void no_priorities() {
  fake_set_greatest_priority(0);
  const TwoStreams two;
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0);
  EXPECT(fake_call_count() == 1 && is_call(0, "cuLaunchKernel") && fake_call(0)->attribute_count == 0);
}

void priority() {
  const TwoStreams two;
  EXPECT(launch_on(two.comm, two.all_reduce, 24, 128) == 0);
  EXPECT(launch_on(two.compute, two.gemm) == 0);
  EXPECT(fake_call_count() == 2);
  const FakeCall& launched = *fake_call(0);
  EXPECT(is_call(0, "cuLaunchKernelEx") && launched.stream == two.comm && launched.grid[0] == 24 && launched.shared == 128);
  EXPECT(launched.attribute_count == 1 && attribute_of(launched, cu::kLaunchPriority)->value.priority == kGreatestPriority);
  EXPECT(is_call(1, "cuLaunchKernel") && fake_call(1)->attribute_count == 0);
}

// The program's own attributes stay in front and unchanged, and so does its array.
void own_attributes() {
  const TwoStreams two;
  cu::LaunchAttribute own[2]{};
  own[0].id = cu::kLaunchClusterDimension;
  own[0].value.cluster_dim = {4, 1, 1};
  own[1].id = static_cast<cu::LaunchAttributeId>(10);
  const cu::LaunchConfig config{24, 1, 1, 544, 1, 1, 82240, two.comm, own, 2};
  EXPECT(cuFuncSetAttribute(two.all_reduce, cu::kFuncMaxDynamicSharedSizeBytes, 90000) == 0);
  EXPECT(cuLaunchKernelEx(&config, two.all_reduce, nullptr, some_extra) == 0);
  const FakeCall& launched = *fake_call(0);
  EXPECT(launched.attribute_count == 3 && launched.attributes[0].value.cluster_dim.x == 4 && launched.attributes[1].id == 10);
  EXPECT(launched.attributes[2].id == cu::kLaunchPriority && launched.extra == some_extra && launched.shared == 82240);
  own[1].id = cu::kLaunchPriority;
  own[1].value.priority = -1;
  EXPECT(cuLaunchKernelEx(&config, two.all_reduce, nullptr, some_extra) == 0);
  EXPECT(fake_call(1)->attribute_count == 2 && fake_call(1)->attributes[1].value.priority == -1);
}

void cooperative() {
  const TwoStreams two;
  EXPECT(cuLaunchCooperativeKernel(two.all_reduce, 24, 1, 1, 544, 1, 1, 0, two.comm, argument_storage) == 0);
  const FakeCall& launched = *fake_call(0);
  EXPECT(fake_call_count() == 1 && is_call(0, "cuLaunchKernelEx"));
  EXPECT(attribute_of(launched, cu::kLaunchCooperative)->value.cooperative == 1);
  EXPECT(attribute_of(launched, cu::kLaunchPriority) != nullptr && launched.parameters == argument_storage);
}

// The driver takes a CUkernel for a CUfunction in a launch, and refuses it where it is asked for attributes.
void kernel_handles() {
  const TwoStreams two;
  const auto handle = reinterpret_cast<cu::Function>(fake_kernel(kAllReduce, 96, 21568));
  EXPECT(launch_on(two.comm, handle, 24) == 0);
  EXPECT(fake_call(0)->function == handle && attribute_of(*fake_call(0), cu::kLaunchPriority) != nullptr);
}

int refuse_attributes(const FakeCall* call) { return call->attribute_count > 0 ? cu::kErrorInvalidValue : 0; }

// A launch that fails with a control is launched as the program asked, and its function is left alone from then on.
void refused() {
  const TwoStreams two;
  fake_set_failure(&refuse_attributes);
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0);
  EXPECT(fake_call_count() == 2 && fake_call(0)->result != 0 && fake_call(1)->attribute_count == 0);
  EXPECT(is_call(1, "cuLaunchKernel") && fake_call(1)->grid[0] == 24 && fake_call(1)->stream == two.comm);
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0);
  EXPECT(fake_call_count() == 3 && is_call(2, "cuLaunchKernel"));
}

// The compute launch waits for the event that the collective's launch carries.
void gate() {
  const TwoStreams two;
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0);
  EXPECT(launch_on(two.compute, two.gemm) == 0);
  EXPECT(launch_on(two.compute, two.gemm) == 0);
  EXPECT(fake_call_count() == 4);
  const cu::LaunchAttribute* completion = attribute_of(*fake_call(0), cu::kLaunchCompletionEvent);
  EXPECT(completion != nullptr && completion->value.launch_completion_event.event != nullptr);
  EXPECT(is_call(1, "cuStreamWaitEvent") && fake_call(1)->stream == two.compute);
  EXPECT(fake_call(1)->event == completion->value.launch_completion_event.event);
  EXPECT(is_call(2, "cuLaunchKernel") && is_call(3, "cuLaunchKernel"));
}

int refuse_waits(const FakeCall* call) { return std::strcmp(call->name, "cuStreamWaitEvent") == 0 ? cu::kErrorInvalidHandle : 0; }

void wait_fails() {
  const TwoStreams two;
  fake_set_failure(&refuse_waits);
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0);
  EXPECT(launch_on(two.compute, two.gemm) == 0);
  EXPECT(fake_call_count() == 3 && is_call(2, "cuLaunchKernel"));
}

// Without a current context no event can be made: the launch goes as the program asked.
void event_fails() {
  const TwoStreams two;
  EXPECT(cuCtxSetCurrent(nullptr) == 0);
  EXPECT(cuLaunchKernel(two.all_reduce, 24, 1, 1, 544, 1, 1, 0, nullptr, nullptr, some_extra) == 0);
  EXPECT(fake_call_count() == 1 && is_call(0, "cuLaunchKernel") && fake_call(0)->extra == some_extra);
}

// More attributes than there are kinds of: not understood, and so left alone.
void attributes() {
  const TwoStreams two;
  static cu::LaunchAttribute own[40]{};
  const cu::LaunchConfig config{24, 1, 1, 544, 1, 1, 0, two.comm, own, 40};
  EXPECT(cuLaunchKernelEx(&config, two.all_reduce, nullptr, nullptr) == 0);
  EXPECT(fake_call_count() == 1 && fake_call(0)->attribute_count == 40);
}

// An SM has 228 KiB and a block takes 1 KiB more than it asks for: more than 113 KiB each keep a second block out.
constexpr unsigned kTwoBlocksFit = 113 * 1024;

unsigned shared_of_overlapping(const TwoStreams& two, cu::Function function) {
  two.settle();
  fake_reset();
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0);
  EXPECT(launch_on(two.compute, function, 100000, 1000) == 0);
  return fake_call(fake_call_count() - 1)->shared;
}

// The cap of one block per SM takes more shared memory than the program asked for, which the function must allow.
void shape() {
  const TwoStreams two;
  EXPECT(shared_of_overlapping(two, two.gemm) > kTwoBlocksFit);
  EXPECT(fake_call_count() == 2 && is_call(1, "cuLaunchKernelEx") && fake_call(1)->result == 0);
}

void shape_handle() {
  const TwoStreams two;
  EXPECT(shared_of_overlapping(two, reinterpret_cast<cu::Function>(fake_kernel("gemm", 64, 0))) > kTwoBlocksFit);
  EXPECT(fake_call_count() == 2);
}

// Programs set the greatest dynamic size before their launches; padding holds, and a greater size of theirs is not lowered.
void shape_reset() {
  const TwoStreams two;
  EXPECT(shared_of_overlapping(two, two.gemm) > kTwoBlocksFit);
  EXPECT(cuFuncSetAttribute(two.gemm, cu::kFuncMaxDynamicSharedSizeBytes, 1000) == 0);
  EXPECT(shared_of_overlapping(two, two.gemm) > kTwoBlocksFit);
  EXPECT(fake_call_count() == 2);
  EXPECT(cuFuncSetAttribute(two.gemm, cu::kFuncMaxDynamicSharedSizeBytes, 227 * 1024) == 0);
  EXPECT(shared_of_overlapping(two, two.gemm) > kTwoBlocksFit);
  int allowed = 0;
  EXPECT(cuFuncGetAttribute(&allowed, cu::kFuncMaxDynamicSharedSizeBytes, two.gemm) == 0 && allowed == 227 * 1024);
}

// Of two compilations of one kernel, one has room for two blocks on an SM and the other for four: 400 blocks are one wave of the
// other alone, which may hold a barrier of its own.
void shape_copies() {
  const TwoStreams two;
  for (const int registers : {128, 64, 128}) {
    const cu::Function compilation = fake_function("gemm", registers, 0);
    EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0);
    fake_reset();
    EXPECT(launch_on(two.compute, compilation, 400) == 0 && (fake_call(0)->shared > 0) == (registers == 128));
    two.settle();
  }
}

int refuse_padding(const FakeCall* call) { return call->shared > 100000 ? 701 : 0; }

void shape_refused() {
  const TwoStreams two;
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0);
  fake_set_failure(&refuse_padding);
  EXPECT(launch_on(two.compute, two.gemm, 100000, 1000) == 0);
  EXPECT(fake_call_count() == 3 && fake_call(1)->result == 701 && is_call(2, "cuLaunchKernel") && fake_call(2)->shared == 1000);
}

constexpr Case kCases[] = {CASE(arguments),      CASE(per_thread),    CASE(rest),         CASE(orders_at_rest), CASE(short_run),
                           CASE(host_far_ahead), CASE(no_priorities), CASE(priority),     CASE(own_attributes), CASE(cooperative),
                           CASE(kernel_handles), CASE(refused),       CASE(gate),         CASE(wait_fails),     CASE(event_fails),
                           CASE(attributes),     CASE(shape),         CASE(shape_handle), CASE(shape_reset),    CASE(shape_copies),
                           CASE(shape_refused)};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
