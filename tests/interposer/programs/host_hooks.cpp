#include "hook_cases.hpp"

// Hooks of what makes a stream wait for the host or another process.

namespace {

// What the fake driver writes down of three numbers.
constexpr unsigned long long digits(unsigned long long a, unsigned long long b, unsigned long long c) {
  return (a * 1000 + b) * 1000 + c;
}

// The host may act only when it is told that the product has ended.
template <class Call>
void host_action(const char* name, unsigned long long numbers, Call call) {
  use_device(0);
  const cu::Stream waiting = make_stream();
  counts_as_unknown([&] { return call(waiting); });
  counts_as_unknown([&] { return call(nullptr); });
  EXPECT(call(waiting) == 0 && last_call_named(name).stream == waiting && last_call_named(name).flags == numbers);
}

#define HOST_ACTION(name, numbers, ...) \
  {#name, [] { host_action(#name, numbers, [](cu::Stream stream) { return name(stream __VA_OPT__(, ) __VA_ARGS__); }); }}

int operations = 0;  // of a batch
int semaphore = 0;

constexpr Case kCases[] = {
    HOST_ACTION(cuLaunchHostFunc, 0, nullptr, nullptr),
    HOST_ACTION(cuLaunchHostFunc_ptsz, 0, nullptr, nullptr),
    HOST_ACTION(cuLaunchHostFunc_v2, 1, nullptr, nullptr, 1),
    HOST_ACTION(cuLaunchHostFunc_v2_ptsz, 1, nullptr, nullptr, 1),
    HOST_ACTION(cuStreamAddCallback, 5, nullptr, nullptr, 5),
    HOST_ACTION(cuStreamAddCallback_ptsz, 5, nullptr, nullptr, 5),
    HOST_ACTION(cuStreamWaitValue32, digits(1, 2, 3), 1, 2, 3),
    HOST_ACTION(cuStreamWaitValue32_ptsz, digits(1, 2, 3), 1, 2, 3),
    HOST_ACTION(cuStreamWaitValue32_v2, digits(1, 2, 3), 1, 2, 3),
    HOST_ACTION(cuStreamWaitValue32_v2_ptsz, digits(1, 2, 3), 1, 2, 3),
    HOST_ACTION(cuStreamWaitValue64, digits(1, 2, 3), 1, 2, 3),
    HOST_ACTION(cuStreamWaitValue64_ptsz, digits(1, 2, 3), 1, 2, 3),
    HOST_ACTION(cuStreamWaitValue64_v2, digits(1, 2, 3), 1, 2, 3),
    HOST_ACTION(cuStreamWaitValue64_v2_ptsz, digits(1, 2, 3), 1, 2, 3),
    HOST_ACTION(cuStreamBatchMemOp, digits(4, 1, 6), 4, &operations, 6),
    HOST_ACTION(cuStreamBatchMemOp_ptsz, digits(4, 1, 6), 4, &operations, 6),
    HOST_ACTION(cuStreamBatchMemOp_v2, digits(4, 1, 6), 4, &operations, 6),
    HOST_ACTION(cuStreamBatchMemOp_v2_ptsz, digits(4, 1, 6), 4, &operations, 6),
    STANDS_ASIDE(cuWaitExternalSemaphoresAsync, &semaphore, &semaphore, 7, nullptr),
    STANDS_ASIDE(cuWaitExternalSemaphoresAsync_ptsz, &semaphore, &semaphore, 7, nullptr),
};

}  // namespace

int main(int argc, char** argv) { return run_hook_cases(kCases, argc, argv); }
