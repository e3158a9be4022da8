#include <initializer_list>

#include "hook_cases.hpp"

// Hooks of launches, streams and events, of captures and of graphs.

namespace {

constexpr cu::Stream kNoStream = nullptr;

// A stream that stands behind a collective by the program's own order: nothing waits there.
void stand_behind_collective(const Lanes& lanes, cu::Stream stream) {
  const cu::Event done = make_event();
  lanes.collective(lanes.comm);
  EXPECT(cuEventRecord(done, lanes.comm) == 0 && cuStreamWaitEvent(stream, done, 0) == 0 && !lanes.product_waits(stream));
}

template <class Destroy>
void stream_destroyed(Destroy destroy) {
  const Lanes lanes;
  stand_behind_collective(lanes, lanes.compute);
  EXPECT(destroy(lanes.compute) == 0 && lanes.product_waits(lanes.compute));
}

// What waits for the event of a collective is ordered behind it; `of_thread`: on the threads' own streams.
template <class Record, class Wait>
void event_orders(Record record, Wait wait, bool of_thread) {
  const Lanes lanes;
  const cu::Event done = make_event();
  const cu::Stream comm = of_thread ? kNoStream : lanes.comm;
  of_thread ? lanes.collective_of_thread() : lanes.collective(comm);
  EXPECT(record(done, comm) == 0 && wait(lanes.compute, done, 0U) == 0 && !lanes.product_waits(lanes.compute));
  lanes.settle();
  // An event of another stream orders nothing.
  of_thread ? lanes.collective_of_thread() : lanes.collective(comm);
  EXPECT(cuEventRecord(done, make_stream()) == 0 && wait(lanes.compute, done, 0U) == 0 && lanes.product_waits(lanes.compute));
}

void wait_of_thread() {
  const Lanes lanes;
  const cu::Event done = make_event();
  lanes.collective(lanes.comm);
  EXPECT(cuEventRecord(done, lanes.comm) == 0 && cuStreamWaitEvent_ptsz(nullptr, done, 0) == 0);
  const std::size_t before = fake_call_count();
  EXPECT(cuLaunchKernel_ptsz(lanes.gemm, 4096, 1, 1, 256, 1, 1, 0, nullptr, nullptr, nullptr) == 0);
  EXPECT(fake_call_count() == before + 1 && lanes.product_waits(lanes.compute));
}

template <class Record>
void record_with_flags(Record record, bool of_thread) {
  event_orders([record](cu::Event event, cu::Stream stream) { return record(event, stream, 0U); }, &cuStreamWaitEvent, of_thread);
}

// A new event with the handle of one that is gone was recorded nowhere.
template <class Destroy>
void event_destroyed(Destroy destroy) {
  const Lanes lanes;
  const cu::Event done = make_event();
  lanes.collective(lanes.comm);
  EXPECT(cuEventRecord(done, lanes.comm) == 0 && destroy(done) == 0);
  EXPECT(cuStreamWaitEvent(lanes.compute, done, 0) == 0 && lanes.product_waits(lanes.compute));
}

template <auto End>  // no graph comes of it
int end_to_cig(cu::Stream stream, cu::Graph* graph) {
  return *graph = reinterpret_cast<cu::Graph>(stream), End(stream);
}

// While something is captured nothing waits, on no stream.
template <class Begin, class End>
void captures(Begin begin, End end) {
  const Lanes lanes;
  const cu::Stream captured = make_stream();
  EXPECT(begin(captured) == 0);
  lanes.collective(lanes.comm);
  EXPECT(!lanes.product_waits(lanes.compute));
  cu::Graph graph = nullptr;
  EXPECT(end(captured, &graph) == 0 && graph != nullptr);
  lanes.settle();
  EXPECT(lanes.waits_for(lanes.comm));
}
template <class Begin>
void begins(Begin begin) {
  captures(begin, &cuStreamEndCapture);
}
int begin(cu::Stream stream) { return cuStreamBeginCapture_v2(stream, cu::kCaptureModeRelaxed); }

cu::GraphExec some_graph() {
  use_device(0);
  cu::Graph graph = nullptr;
  cu::GraphExec exec = nullptr;
  EXPECT(cuGraphCreate(&graph, 0) == 0 && cuGraphInstantiateWithFlags(&exec, graph, 0) == 0);
  return exec;
}

// Kernels may launch such a graph.
template <class Instantiate>
void launched_by_kernels(Instantiate instantiate) {
  use_device(0);
  cu::Graph graph = nullptr;
  cu::GraphExec exec = nullptr;
  EXPECT(cuGraphCreate(&graph, 0) == 0);
  stands_aside([&] { return instantiate(&exec, graph); });
}
template <auto Instantiate>
int with_params(cu::GraphExec* exec, cu::Graph graph) {
  cu::GraphInstantiateParams parameters{};
  parameters.flags = cu::kInstantiateDeviceLaunch;
  return Instantiate(exec, graph, &parameters);
}

template <class Launch>
void launched(Launch launch) {
  const Lanes lanes;
  EXPECT(launch(lanes) == 0 && lanes.product_waits(lanes.compute));
}

cu::LaunchConfig config_on(cu::Stream stream) { return {24, 1, 1, 544, 1, 1, 0, stream, nullptr, 0}; }

// A product on the thread's own stream waits there, by the handle that says so.
template <class Launch>
void launched_on_thread(Launch launch) {
  const Lanes lanes;
  EXPECT(launch(lanes, lanes.all_reduce) == 0 && lanes.product_waits(lanes.compute));
  lanes.settle();
  lanes.collective(lanes.comm);
  const std::size_t before = fake_call_count();
  EXPECT(launch(lanes, lanes.gemm) == 0 && fake_call_count() == before + 2 && is_call(before, "cuStreamWaitEvent"));
  EXPECT(fake_call(before)->stream == reinterpret_cast<cu::Stream>(cu::kStreamPerThread));
}

void found() {
  void* function = nullptr;
  EXPECT(cuGetProcAddress("cuLaunchKernel", &function, 12000, 0) == 0 && function == reinterpret_cast<void*>(&cuLaunchKernel));
}
void found_with_status() {
  void* function = nullptr;
  int status = -1;
  EXPECT(cuGetProcAddress_v2("cuLaunchKernel", &function, 12000, 0, &status) == 0 && status == 0);
  EXPECT(function == reinterpret_cast<void*>(&cuLaunchKernel));
}

#define BEGINS(hook, ...) HOOK(hook, begins([](cu::Stream stream) { return hook(stream, __VA_ARGS__); }))

constexpr Case kCases[] = {
    {"cuGetProcAddress", found},
    {"cuGetProcAddress_v2", found_with_status},
    HOOK(cuLaunchKernel, launched([](const Lanes& l) { return launch_on(l.comm, l.all_reduce, 24); })),
    HOOK(cuLaunchKernel_ptsz, launched_on_thread([](const Lanes&, cu::Function function) {
           return cuLaunchKernel_ptsz(function, 132, 1, 1, 256, 1, 1, 0, nullptr, nullptr, nullptr);
         })),
    HOOK(cuLaunchKernelEx, launched([](const Lanes& l) {
           const cu::LaunchConfig config = config_on(l.comm);
           return cuLaunchKernelEx(&config, l.all_reduce, nullptr, nullptr);
         })),
    HOOK(cuLaunchKernelEx_ptsz, launched_on_thread([](const Lanes&, cu::Function function) {
           const cu::LaunchConfig config{132, 1, 1, 256, 1, 1, 0, nullptr, nullptr, 0};
           return cuLaunchKernelEx_ptsz(&config, function, nullptr, nullptr);
         })),
    HOOK(cuLaunchCooperativeKernel, launched([](const Lanes& l) {
           EXPECT(cuLaunchCooperativeKernel(l.gemm, 1, 1, 1, 32, 1, 1, 0, l.comm, nullptr) == 0);
           return cuLaunchCooperativeKernel(l.all_reduce, 24, 1, 1, 544, 1, 1, 0, l.comm, nullptr);
         })),
    {"cuLaunchCooperativeKernel_ptsz",
     [] {
       const Lanes lanes;
       EXPECT(cuLaunchCooperativeKernel_ptsz(lanes.gemm, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr) == 0);
       EXPECT(cuLaunchCooperativeKernel_ptsz(lanes.all_reduce, 24, 1, 1, 544, 1, 1, 0, nullptr, nullptr) == 0);
       EXPECT(lanes.product_waits(lanes.compute));
     }},
    STANDS_ASIDE(cuGreenCtxStreamCreate, &some_stream, fake_green_context(66), cu::kStreamNonBlocking, 0),
    HOOK(cuStreamDestroy, stream_destroyed(&cuStreamDestroy)),
    HOOK(cuStreamDestroy_v2, stream_destroyed(&cuStreamDestroy_v2)),
    HOOK(cuStreamWaitEvent, event_orders(&cuEventRecord, &cuStreamWaitEvent, false)),
    {"cuStreamWaitEvent_ptsz", wait_of_thread},
    HOOK(cuEventRecord, event_orders(&cuEventRecord, &cuStreamWaitEvent, false)),
    HOOK(cuEventRecord_ptsz, event_orders(&cuEventRecord_ptsz, &cuStreamWaitEvent, true)),
    HOOK(cuEventRecordWithFlags, record_with_flags(&cuEventRecordWithFlags, false)),
    HOOK(cuEventRecordWithFlags_ptsz, record_with_flags(&cuEventRecordWithFlags_ptsz, true)),
    STANDS_ASIDE(cuIpcOpenEventHandle, &some_event, {}),
    STANDS_ASIDE(cuIpcGetEventHandle, &some_handle, make_event()),
    HOOK(cuEventDestroy, event_destroyed(&cuEventDestroy)),
    HOOK(cuEventDestroy_v2, event_destroyed(&cuEventDestroy_v2)),
    HOOK(cuStreamBeginCapture, begins(&cuStreamBeginCapture)),
    HOOK(cuStreamBeginCapture_ptsz, begins(&cuStreamBeginCapture_ptsz)),
    HOOK(cuStreamBeginCapture_v2, begins(&begin)),
    BEGINS(cuStreamBeginCapture_v2_ptsz, 0),
    BEGINS(cuStreamBeginCaptureToGraph, nullptr, nullptr, nullptr, 0, 0),
    BEGINS(cuStreamBeginCaptureToGraph_ptsz, nullptr, nullptr, nullptr, 0, 0),
    BEGINS(cuStreamBeginRecaptureToGraph, 0, nullptr, nullptr, nullptr),
    BEGINS(cuStreamBeginRecaptureToGraph_ptsz, 0, nullptr, nullptr, nullptr),
    BEGINS(cuStreamBeginCaptureToCig, nullptr),
    BEGINS(cuStreamBeginCaptureToCig_ptsz, nullptr),
    HOOK(cuStreamEndCaptureToCig, captures(&begin, &end_to_cig<&cuStreamEndCaptureToCig>)),
    HOOK(cuStreamEndCaptureToCig_ptsz, captures(&begin, &end_to_cig<&cuStreamEndCaptureToCig_ptsz>)),
    HOOK(cuStreamEndCapture, captures(&begin, &cuStreamEndCapture)),
    HOOK(cuStreamEndCapture_ptsz, captures(&begin, &cuStreamEndCapture_ptsz)),
    HOOK(cuGraphInstantiateWithFlags, launched_by_kernels([](cu::GraphExec* exec, cu::Graph graph) {
           return cuGraphInstantiateWithFlags(exec, graph, cu::kInstantiateDeviceLaunch);
         })),
    HOOK(cuGraphInstantiateWithParams, launched_by_kernels(&with_params<&cuGraphInstantiateWithParams>)),
    HOOK(cuGraphInstantiateWithParams_ptsz, launched_by_kernels(&with_params<&cuGraphInstantiateWithParams_ptsz>)),
    HOOK(cuGraphLaunch, counts_as_unknown([exec = some_graph(), stream = make_stream()] { return cuGraphLaunch(exec, stream); })),
    HOOK(cuGraphLaunch_ptsz, counts_as_unknown([exec = some_graph()] { return cuGraphLaunch_ptsz(exec, nullptr); })),
};

}  // namespace

int main(int argc, char** argv) { return run_hook_cases(kCases, argc, argv); }
