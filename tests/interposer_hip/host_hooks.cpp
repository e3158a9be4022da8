#include "hook_cases.hpp"

// Hooks of what makes the host wait, and of what stands on default streams.

namespace {

// The point that the host has waited for: `covered` is a collective that has ended then, `beside` one that may still run. A call
// that fails has waited for nothing.
template <class Launch, class Call>
void host_waits(const char* name, Launch covered, Call call) {
  const Lanes lanes;
  covered(lanes);
  refuse(name);
  EXPECT(call(lanes) == 700);
  fake_hip_set_failing("");
  EXPECT(lanes.is_beside(lanes.compute));
  Lanes::settle();
  covered(lanes);
  EXPECT(call(lanes) == 0 && !lanes.is_beside(lanes.compute));
}

template <class Launch, class Beside, class Call>
void host_waits(const char* name, Launch covered, Beside beside, Call call) {
  host_waits(name, covered, call);
  const Lanes lanes;
  beside(lanes);
  EXPECT(call(lanes) == 0 && lanes.is_beside(lanes.compute));
}

void on_comm(const Lanes& lanes) { lanes.collective(lanes.comm); }
void on_other(const Lanes& lanes) { lanes.collective(make_stream()); }
void on_blocking(const Lanes& lanes) { lanes.collective(make_blocking_stream()); }
void on_thread(const Lanes& lanes) {
  EXPECT(hipLaunchKernel_spt(lanes.all_reduce, {24, 1, 1}, {256, 1, 1}, nullptr, 0, nullptr) == 0);
}
void on_other_device(const Lanes& lanes) {
  EXPECT(hipSetDevice(1) == 0);
  const hip::Stream stream = make_stream();
  EXPECT(launch_on(stream, lanes.all_reduce, 24) == 0);
}

// Of the current device: the product is launched on the other one.
template <class Call>
void device_waits(const char* name, Call call) {
  host_waits(name, on_comm, [=](const Lanes&) { return call(); });
  const Lanes lanes;
  on_other_device(lanes);
  const hip::Stream compute = make_stream();
  EXPECT(hipSetDevice(0) == 0 && call() == 0 && hipSetDevice(1) == 0 && lanes.is_beside(compute) && hipSetDevice(0) == 0);
}

void synchronize_stream() {
  const auto call = [](const Lanes& lanes) { return hipStreamSynchronize(lanes.comm); };
  host_waits("hipStreamSynchronize", on_comm, on_other, call);
  host_waits("hipStreamSynchronize", on_blocking, on_comm, [](const Lanes&) { return hipStreamSynchronize(nullptr); });
}
void synchronize_stream_of_thread() {
  const auto call = [](const Lanes& lanes) { return hipStreamSynchronize_spt(lanes.comm); };
  host_waits("hipStreamSynchronize_spt", on_comm, on_other, call);
  host_waits("hipStreamSynchronize_spt", on_thread, on_blocking, [](const Lanes&) { return hipStreamSynchronize_spt(nullptr); });
}
void query_stream() {
  const auto call = [](const Lanes& lanes) { return hipStreamQuery(lanes.comm); };
  host_waits("hipStreamQuery", on_comm, on_other, call);
  host_waits("hipStreamQuery", on_blocking, on_comm, [](const Lanes&) { return hipStreamQuery(nullptr); });
}
void query_stream_of_thread() {
  const auto call = [](const Lanes& lanes) { return hipStreamQuery_spt(lanes.comm); };
  host_waits("hipStreamQuery_spt", on_comm, on_other, call);
  host_waits("hipStreamQuery_spt", on_thread, on_blocking, [](const Lanes&) { return hipStreamQuery_spt(nullptr); });
}

void copy_with_stream() {
  const auto to_host = [](const Lanes& lanes) {
    return hipMemcpyWithStream(nullptr, nullptr, 8, hip::kMemcpyDeviceToHost, lanes.comm);
  };
  host_waits("hipMemcpyWithStream", on_comm, on_other, to_host);
}

void free_memory() {
  const auto call = [](const Lanes&) {
    void* pointer = nullptr;
    EXPECT(hipMalloc(&pointer, 8) == 0);
    return hipFree(pointer);
  };
  host_waits("hipFree", on_comm, call);
  const Lanes lanes;
  on_comm(lanes);
  EXPECT(hipFree(nullptr) == 0 && lanes.is_beside(lanes.compute));
}

// An event covers what its stream held when it was recorded.
template <class Call>
void host_waits_for_event(Call call) {
  const Lanes lanes;
  const hip::Event done = make_event();
  lanes.collective(lanes.comm);
  EXPECT(hipEventRecord(done, lanes.comm) == 0 && call(done) == 0 && !lanes.is_beside(lanes.compute));
  lanes.collective(lanes.comm);
  EXPECT(call(done) == 0 && lanes.is_beside(lanes.compute));
}

// Work on the legacy default stream stands between the launches of blocking streams; on another stream, or refused, it does not.
template <class Call>
void stands_between(const char* name, Call call) {
  const Lanes lanes;
  const hip::Stream comm = make_blocking_stream();
  const hip::Stream compute = make_blocking_stream();
  lanes.collective(comm);
  EXPECT(call(lanes.comm) == 0 && last_call().stream == lanes.comm && lanes.is_beside(compute));
  refuse(name);
  EXPECT(call(nullptr) == 700 && lanes.is_beside(compute));
  fake_hip_set_failing("");
  EXPECT(call(nullptr) == 0 && last_call().stream == nullptr && !lanes.is_beside(compute));
}

char memory[8];
int word = 0;

#define STANDS_BETWEEN(name, ...) \
  {#name, [] { stands_between(#name, [](hip::Stream stream) { return name(__VA_ARGS__, stream); }); }}
#define STANDS_BETWEEN_FIRST(name, ...) \
  {#name, [] { stands_between(#name, [](hip::Stream stream) { return name(stream, __VA_ARGS__); }); }}

constexpr Case kCases[] = {
    {"hipStreamSynchronize", synchronize_stream},
    {"hipStreamSynchronize_spt", synchronize_stream_of_thread},
    {"hipStreamQuery", query_stream},
    {"hipStreamQuery_spt", query_stream_of_thread},
    {"hipEventQuery", [] { host_waits_for_event(&hipEventQuery); }},
    {"hipEventSynchronize", [] { host_waits_for_event(&hipEventSynchronize); }},
    {"hipDeviceSynchronize", [] { device_waits("hipDeviceSynchronize", &hipDeviceSynchronize); }},
    {"hipCtxSynchronize", [] { device_waits("hipCtxSynchronize", &hipCtxSynchronize); }},
    {"hipMemcpy",
     [] {
       const auto to_host = [](const Lanes&) { return hipMemcpy(nullptr, nullptr, 8, hip::kMemcpyDeviceToHost); };
       host_waits("hipMemcpy", on_blocking, on_comm, to_host);
     }},
    {"hipMemcpy_spt",
     [] {
       const auto to_host = [](const Lanes&) { return hipMemcpy_spt(nullptr, nullptr, 8, hip::kMemcpyDeviceToHost); };
       host_waits("hipMemcpy_spt", on_thread, on_blocking, to_host);
     }},
    {"hipMemcpyWithStream", copy_with_stream},
    {"hipMemcpyDtoH",
     [] { host_waits("hipMemcpyDtoH", on_blocking, on_comm, [](const Lanes&) { return hipMemcpyDtoH(nullptr, nullptr, 8); }); }},
    {"hipFree", free_memory},
    STANDS_BETWEEN(hipMemcpyAsync, memory, memory, 8, hip::kMemcpyHostToDevice),
    STANDS_BETWEEN(hipMemcpyHtoDAsync, memory, memory, 8),
    STANDS_BETWEEN(hipMemcpyDtoHAsync, memory, memory, 8),
    STANDS_BETWEEN(hipMemcpyDtoDAsync, memory, memory, 8),
    STANDS_BETWEEN(hipMemsetAsync, memory, 0, 8),
    STANDS_BETWEEN(hipMemsetD8Async, memory, 0, 8),
    STANDS_BETWEEN(hipMemsetD32Async, memory, 0, 2),
    STANDS_BETWEEN(hipWaitExternalSemaphoresAsync, &word, &word, 1),
    STANDS_BETWEEN_FIRST(hipLaunchHostFunc, nullptr, nullptr),
    STANDS_BETWEEN_FIRST(hipStreamAddCallback, nullptr, nullptr, 0),
    STANDS_BETWEEN_FIRST(hipStreamWaitValue32, nullptr, 0, 0, 0),
    STANDS_BETWEEN_FIRST(hipStreamWaitValue64, nullptr, 0, 0, 0),
    STANDS_BETWEEN_FIRST(hipStreamBatchMemOp, 1, &word, 0),
};

}  // namespace

int main(int argc, char** argv) { return run_hook_cases(kCases, argc, argv); }
