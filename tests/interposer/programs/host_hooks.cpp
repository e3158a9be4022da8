#include "device_copies.hpp"

// Hooks of what makes a stream wait for the host, the host for a stream, and of copies and fills on default streams.

namespace {

// What the fake driver writes down of three numbers.
constexpr unsigned long long digits(unsigned long long a, unsigned long long b, unsigned long long c) {
  return (a * 1000 + b) * 1000 + c;
}

// What the interposer itself calls is not refused.
int refuse_all(const FakeCall* call) { return call->function == nullptr && call->event == nullptr ? 700 : 0; }

// While a host action is to come nothing waits for a collective, as the host may wait for the product. It has come once the host
// has waited for the stream that it is on, and no other.
template <class Call>
void host_action(const char* name, unsigned long long numbers, Call call) {
  const Lanes lanes;
  EXPECT(lanes.waits_for(lanes.comm));
  EXPECT(call(lanes.comm) == 0 && last_call_named(name).stream == lanes.comm && last_call_named(name).flags == numbers);
  EXPECT(cuStreamSynchronize(lanes.compute) == 0 && !lanes.waits_for(lanes.comm));
  EXPECT(call(lanes.comm) == 0 && cuStreamSynchronize(lanes.comm) == 0 && lanes.waits_for(lanes.comm));
  EXPECT(call(nullptr) == 0 && last_call_named(name).stream == nullptr);
  EXPECT(cuStreamSynchronize_ptsz(nullptr) == 0 && !lanes.waits_for(lanes.comm));
  EXPECT(call(nullptr) == 0 && cuStreamSynchronize(nullptr) == 0 && lanes.waits_for(lanes.comm));
  fake_set_failure(&refuse_all);
  EXPECT(call(lanes.comm) == 700);
  fake_set_failure(nullptr);
  EXPECT(lanes.waits_for(lanes.comm));
}

// On the thread's own stream, which is not the legacy one.
template <class Call>
void host_action_of_thread(const char* name, unsigned long long numbers, Call call) {
  const Lanes lanes;
  EXPECT(call(nullptr) == 0 && last_call_named(name).stream == nullptr && last_call_named(name).flags == numbers);
  EXPECT(cuStreamSynchronize(lanes.compute) == 0 && !lanes.waits_for(lanes.comm));
  EXPECT(call(nullptr) == 0 && cuStreamSynchronize_ptsz(nullptr) == 0 && lanes.waits_for(lanes.comm));
  EXPECT(call(lanes.comm) == 0 && cuStreamSynchronize(lanes.comm) == 0 && lanes.waits_for(lanes.comm));
}

#define HOST_ACTION(name, numbers, ...) \
  {#name, [] { host_action(#name, numbers, [](cu::Stream stream) { return name(stream __VA_OPT__(, ) __VA_ARGS__); }); }}
#define THREAD_ACTION(name, numbers, ...) \
  {#name, [] { host_action_of_thread(#name, numbers, [](cu::Stream stream) { return name(stream __VA_OPT__(, ) __VA_ARGS__); }); }}

int operations = 0;  // of a batch
int semaphore = 0;

// The point that the host has waited for: `covered` is a collective that has ended then, `beside` one that may still run. A call
// that fails has waited for nothing.
template <class Launch, class Call>
void host_waits(Launch covered, Call call) {
  const Lanes lanes;
  covered(lanes);
  fake_set_failure(&refuse_all);
  EXPECT(call(lanes) == 700);
  fake_set_failure(nullptr);
  EXPECT(lanes.product_waits(lanes.compute));
  Lanes::settle();
  covered(lanes);
  EXPECT(call(lanes) == 0 && !lanes.product_waits(lanes.compute));
}

template <class Launch, class Beside, class Call>
void host_waits(Launch covered, Beside beside, Call call) {
  host_waits(covered, call);
  const Lanes lanes;
  beside(lanes);
  EXPECT(call(lanes) == 0 && lanes.product_waits(lanes.compute));
}

void on_comm(const Lanes& lanes) { lanes.collective(lanes.comm); }
void on_legacy(const Lanes& lanes) { lanes.collective(nullptr); }
void on_blocking(const Lanes& lanes) { lanes.collective(make_blocking_stream()); }
void on_thread(const Lanes& lanes) { lanes.collective_of_thread(); }
void on_other(const Lanes& lanes) { lanes.collective(make_stream()); }

// Another context than the one that the collective is in.
template <class Call>
void other_context_waits(Call call) {
  const Lanes lanes;
  cu::Context other = nullptr;
  lanes.collective(lanes.comm);
  EXPECT(cuCtxCreate_v2(&other, 0, 0) == 0 && call(other) == 0 && cuCtxSetCurrent(lanes.context) == 0);
  EXPECT(lanes.product_waits(lanes.compute));
}

void context_synchronize() {
  host_waits(on_comm, [](const Lanes&) { return cuCtxSynchronize(); });
  host_waits(on_legacy, [](const Lanes&) { return cuCtxSynchronize(); });
  other_context_waits([](cu::Context) { return cuCtxSynchronize(); });
}
void context_synchronize_v2() {
  host_waits(on_comm, [](const Lanes& lanes) { return cuCtxSynchronize_v2(lanes.context); });
  host_waits(on_comm, [](const Lanes&) { return cuCtxSynchronize_v2(nullptr); });
  other_context_waits([](cu::Context other) { return cuCtxSynchronize_v2(other); });
}
// It need not wait for anything.
template <class Launch, class Call>
void copy_of_nothing(Launch launch, Call call) {
  const Lanes lanes;
  launch(lanes);
  EXPECT(call() == 0 && lanes.product_waits(lanes.compute));
}

void copy_to_host() {
  copy_of_nothing(on_blocking, [] { return cuMemcpyDtoH_v2(nullptr, 1, 0); });
  host_waits(on_blocking, on_comm, [](const Lanes&) { return cuMemcpyDtoH_v2(nullptr, 1, 2); });
}
void copy_to_host_of_thread() {
  copy_of_nothing(on_thread, [] { return cuMemcpyDtoH_v2_ptds(nullptr, 1, 0); });
  host_waits(on_thread, on_blocking, [](const Lanes&) { return cuMemcpyDtoH_v2_ptds(nullptr, 1, 2); });
}
void stream_synchronize() {
  host_waits(on_comm, on_other, [](const Lanes& lanes) { return cuStreamSynchronize(lanes.comm); });
  host_waits(on_blocking, on_comm, [](const Lanes&) { return cuStreamSynchronize(nullptr); });
}
void stream_synchronize_of_thread() {
  host_waits(on_comm, on_other, [](const Lanes& lanes) { return cuStreamSynchronize_ptsz(lanes.comm); });
  host_waits(on_thread, on_blocking, [](const Lanes&) { return cuStreamSynchronize_ptsz(nullptr); });
}
void stream_query() {
  host_waits(on_comm, on_other, [](const Lanes& lanes) { return cuStreamQuery(lanes.comm); });
  host_waits(on_blocking, on_comm, [](const Lanes&) { return cuStreamQuery(nullptr); });
}
void stream_query_of_thread() {
  host_waits(on_comm, on_other, [](const Lanes& lanes) { return cuStreamQuery_ptsz(lanes.comm); });
  host_waits(on_thread, on_blocking, [](const Lanes&) { return cuStreamQuery_ptsz(nullptr); });
}

// An event covers what its stream held when it was recorded.
template <class Call>
void host_waits_for_event(Call call) {
  const Lanes lanes;
  const cu::Event done = make_event();
  lanes.collective(lanes.comm);
  EXPECT(cuEventRecord(done, lanes.comm) == 0 && call(done) == 0 && !lanes.product_waits(lanes.compute));
  Lanes::settle();
  lanes.collective(lanes.comm);
  EXPECT(call(done) == 0 && lanes.product_waits(lanes.compute));
}

// Work on the legacy default stream stands between the launches of blocking streams; on another stream, or refused, it does not.
template <class Call>
void stands_between(const char* name, unsigned long long numbers, Call call) {
  const Lanes lanes;
  const cu::Stream comm = make_blocking_stream();
  const cu::Stream compute = make_blocking_stream();
  lanes.collective(comm);
  EXPECT(call(lanes.comm, 8) == 0 && last_call_named(name).stream == lanes.comm && last_call_named(name).flags == numbers);
  EXPECT(lanes.product_waits(compute));
  Lanes::settle();
  lanes.collective(comm);
  fake_set_failure(&refuse_all);
  EXPECT(call(nullptr, 8) == 700);
  fake_set_failure(nullptr);
  EXPECT(lanes.product_waits(compute));
  Lanes::settle();
  lanes.collective(comm);
  EXPECT(call(nullptr, 0) == 0 && lanes.product_waits(compute));  // one of nothing
  Lanes::settle();
  lanes.collective(comm);
  EXPECT(call(nullptr, 8) == 0 && !lanes.product_waits(compute));
}

#define STANDS_BETWEEN(name, numbers, ...) \
  {#name,                                  \
   [] { stands_between(#name, numbers, [](cu::Stream stream, std::size_t size) { return name(__VA_ARGS__, size, stream); }); }}

void copies(const char* name, unsigned long long numbers, decltype(&cuMemcpyAsync) copy) {
  stands_between(name, numbers, [=](cu::Stream stream, std::size_t size) { return copy(1, 2, size, stream); });
  copies_between_devices(
      [=](cu::DevicePointer from, std::size_t size, cu::Stream stream) { return copy(kHere, from, size, stream); });
}

// What allocates may get memory that another stream frees behind a collective, whose peers may be late: the driver makes it wait.
template <class Allocate, class Free>
void memory_reused(Allocate allocate, Free free_memory, bool of_thread) {
  const Lanes lanes;
  const cu::Stream late = make_stream();
  const auto waits_behind_it = [&](auto before) {
    lanes.collective(late);
    EXPECT(lanes.product_waits(lanes.compute));
    before();
    EXPECT(allocate(of_thread ? nullptr : lanes.comm) == 0);
    return of_thread ? lanes.waits_for_thread() : lanes.waits_for(lanes.comm);
  };
  EXPECT(waits_behind_it([] {}));
  EXPECT(!waits_behind_it([&] { EXPECT(free_memory(late) == 0); }));
}

cu::DevicePointer pointer = 0;
const auto pool = reinterpret_cast<cu::MemoryPool>(8);
int allocate(cu::Stream stream) { return cuMemAllocAsync(&pointer, 8, stream); }
int free_memory(cu::Stream stream) { return cuMemFreeAsync(8, stream); }

#define ALLOCATES(name, of_thread, ...)                                                                                  \
  {#name, [] {                                                                                                           \
     memory_reused([](cu::Stream stream) { return name(&pointer, 8, __VA_ARGS__ __VA_OPT__(, ) stream); }, &free_memory, \
                   of_thread);                                                                                           \
   }}

char memory[8];

constexpr Case kCases[] = {
    HOST_ACTION(cuLaunchHostFunc, 0, nullptr, nullptr),
    THREAD_ACTION(cuLaunchHostFunc_ptsz, 0, nullptr, nullptr),
    HOST_ACTION(cuLaunchHostFunc_v2, 1, nullptr, nullptr, 1),
    THREAD_ACTION(cuLaunchHostFunc_v2_ptsz, 1, nullptr, nullptr, 1),
    HOST_ACTION(cuStreamAddCallback, 5, nullptr, nullptr, 5),
    THREAD_ACTION(cuStreamAddCallback_ptsz, 5, nullptr, nullptr, 5),
    HOST_ACTION(cuStreamWaitValue32, digits(1, 2, 3), 1, 2, 3),
    THREAD_ACTION(cuStreamWaitValue32_ptsz, digits(1, 2, 3), 1, 2, 3),
    HOST_ACTION(cuStreamWaitValue32_v2, digits(1, 2, 3), 1, 2, 3),
    THREAD_ACTION(cuStreamWaitValue32_v2_ptsz, digits(1, 2, 3), 1, 2, 3),
    HOST_ACTION(cuStreamWaitValue64, digits(1, 2, 3), 1, 2, 3),
    THREAD_ACTION(cuStreamWaitValue64_ptsz, digits(1, 2, 3), 1, 2, 3),
    HOST_ACTION(cuStreamWaitValue64_v2, digits(1, 2, 3), 1, 2, 3),
    THREAD_ACTION(cuStreamWaitValue64_v2_ptsz, digits(1, 2, 3), 1, 2, 3),
    HOST_ACTION(cuStreamBatchMemOp, digits(4, 1, 6), 4, &operations, 6),
    THREAD_ACTION(cuStreamBatchMemOp_ptsz, digits(4, 1, 6), 4, &operations, 6),
    HOST_ACTION(cuStreamBatchMemOp_v2, digits(4, 1, 6), 4, &operations, 6),
    THREAD_ACTION(cuStreamBatchMemOp_v2_ptsz, digits(4, 1, 6), 4, &operations, 6),
    {"cuWaitExternalSemaphoresAsync",
     [] {
       host_action("cuWaitExternalSemaphoresAsync", digits(1, 1, 7),
                   [](cu::Stream stream) { return cuWaitExternalSemaphoresAsync(&semaphore, &semaphore, 7, stream); });
     }},
    {"cuWaitExternalSemaphoresAsync_ptsz",
     [] {
       host_action_of_thread("cuWaitExternalSemaphoresAsync_ptsz", digits(1, 1, 7), [](cu::Stream stream) {
         return cuWaitExternalSemaphoresAsync_ptsz(&semaphore, &semaphore, 7, stream);
       });
     }},
    {"cuCtxSynchronize", context_synchronize},
    {"cuCtxSynchronize_v2", context_synchronize_v2},
    {"cuMemcpyDtoH_v2", copy_to_host},
    {"cuMemcpyDtoH_v2_ptds", copy_to_host_of_thread},
    {"cuStreamSynchronize", stream_synchronize},
    {"cuStreamSynchronize_ptsz", stream_synchronize_of_thread},
    {"cuStreamQuery", stream_query},
    {"cuStreamQuery_ptsz", stream_query_of_thread},
    {"cuEventQuery", [] { host_waits_for_event(&cuEventQuery); }},
    {"cuEventSynchronize", [] { host_waits_for_event(&cuEventSynchronize); }},
    ALLOCATES(cuMemAllocAsync, false),
    ALLOCATES(cuMemAllocAsync_ptsz, true),
    ALLOCATES(cuMemAllocFromPoolAsync, false, pool),
    ALLOCATES(cuMemAllocFromPoolAsync_ptsz, true, pool),
    {"cuMemFreeAsync", [] { memory_reused(&allocate, &free_memory, false); }},
    {"cuMemFreeAsync_ptsz",
     [] { memory_reused(&allocate, [](cu::Stream stream) { return cuMemFreeAsync_ptsz(8, stream); }, false); }},
    {"cuMemcpyAsync", [] { copies("cuMemcpyAsync", 0, &cuMemcpyAsync); }},
    STANDS_BETWEEN(cuMemcpyHtoDAsync_v2, digits(1, 1, 8), 1, memory),
    STANDS_BETWEEN(cuMemcpyDtoHAsync_v2, digits(1, 1, 8), memory, 1),
    {"cuMemcpyDtoDAsync_v2", [] { copies("cuMemcpyDtoDAsync_v2", digits(1, 2, 8), &cuMemcpyDtoDAsync_v2); }},
    STANDS_BETWEEN(cuMemsetD8Async, 0, 1, 2),
    STANDS_BETWEEN(cuMemsetD32Async, digits(1, 2, 8), 1, 2),
};

}  // namespace

int main(int argc, char** argv) { return run_hook_cases(kCases, argc, argv); }
