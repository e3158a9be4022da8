#include <initializer_list>

#include "hook_cases.hpp"

// Hooks of streams and events, of captures and of graphs.

namespace {

constexpr cu::Stream kNoStream = nullptr;

// A stream that stands behind a collective by the program's own order: nothing waits there.
void stand_behind_collective(const Lanes& lanes, cu::Stream stream) {
  const cu::Event done = make_event();
  lanes.collective(lanes.comm);
  EXPECT(cuEventRecord(done, lanes.comm) == 0 && cuStreamWaitEvent(stream, done, 0) == 0 && !lanes.product_waits(stream));
}

// A new stream has nothing of an older one whose handle it got: neither its order nor its kind.
template <class Create>
void stream_created(Create create) {
  const Lanes lanes;
  cu::Stream made = nullptr;
  stand_behind_collective(lanes, lanes.compute);
  fake_reuse_stream(lanes.compute);
  EXPECT(create(&made, cu::kStreamNonBlocking) == 0 && made == lanes.compute && lanes.product_waits(made));
  Lanes::settle();
  lanes.collective(nullptr);
  fake_reuse_stream(lanes.compute);
  EXPECT(create(&made, 0) == 0 && made == lanes.compute && !lanes.product_waits(made));
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
  Lanes::settle();
  // An event of another stream orders nothing.
  of_thread ? lanes.collective_of_thread() : lanes.collective(comm);
  EXPECT(cuEventRecord(done, make_stream()) == 0 && wait(lanes.compute, done, 0U) == 0 && lanes.product_waits(lanes.compute));
}

// The thread's own stream waits, and no other.
void wait_of_thread() {
  const Lanes lanes;
  const cu::Event done = make_event();
  event_orders(&cuEventRecord, &cuStreamWaitEvent_ptsz, false);
  Lanes::settle();
  lanes.collective(lanes.comm);
  EXPECT(cuEventRecord(done, lanes.comm) == 0 && cuStreamWaitEvent_ptsz(nullptr, done, 0) == 0);
  fake_reset();
  EXPECT(cuLaunchKernel_ptsz(lanes.gemm, 4096, 1, 1, 256, 1, 1, 0, nullptr, nullptr, nullptr) == 0 && fake_call_count() == 1);
  EXPECT(lanes.product_waits(make_blocking_stream()));
  Lanes::settle();
}

// Inside a capture the flag means a node: the event is recorded when the graph runs, and keeps what it had meanwhile.
template <class Record>
void external_record(Record record) {
  const Lanes lanes;
  const cu::Event done = make_event();
  const cu::Stream captured = make_stream();
  lanes.collective(lanes.comm);
  EXPECT(cuEventRecord(done, lanes.comm) == 0);
  EXPECT(cuStreamBeginCapture_v2(captured, cu::kCaptureModeRelaxed) == 0 && record(done, captured, cu::kEventExternal) == 0);
  cu::Graph graph = nullptr;
  EXPECT(cuStreamEndCapture(captured, &graph) == 0);
  EXPECT(cuStreamWaitEvent(lanes.compute, done, 0) == 0 && !lanes.product_waits(lanes.compute));
}

// An external wait is for whoever records the event then.
void external_wait() {
  const Lanes lanes;
  event_orders(&cuEventRecord, &cuStreamWaitEvent, false);
  EXPECT(lanes.waits_for(lanes.comm));
  const cu::Stream captured = make_stream();
  const cu::Event anybodys = make_event();
  EXPECT(cuStreamBeginCapture_v2(captured, cu::kCaptureModeRelaxed) == 0);
  EXPECT(cuStreamWaitEvent(lanes.comm, anybodys, cu::kEventExternal) == 0);
  cu::Graph graph = nullptr;
  EXPECT(cuStreamEndCapture(captured, &graph) == 0 && !lanes.waits_for(lanes.comm));
}

template <class Record>
void record_with_flags(Record record, bool of_thread) {
  const auto plain = [record](cu::Event event, cu::Stream stream) { return record(event, stream, 0U); };
  event_orders(plain, &cuStreamWaitEvent, of_thread);
  external_record(record);
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

// Nothing waits for a collective behind an event of another process, until the event is gone.
void foreign_event() {
  const Lanes lanes;
  cu::Event foreign = nullptr;
  EXPECT(cuIpcOpenEventHandle(&foreign, {}) == 0 && cuStreamWaitEvent(lanes.comm, foreign, 0) == 0);
  EXPECT(!lanes.waits_for(lanes.comm) && cuEventDestroy_v2(foreign) == 0);
  EXPECT(cuStreamWaitEvent(lanes.comm, foreign, 0) == 0 && lanes.waits_for(lanes.comm));
}

// Once exported it may be recorded by another process.
void exported_event() {
  const Lanes lanes;
  const cu::Event event = make_event();
  cu::IpcEventHandle handle{};
  EXPECT(cuStreamWaitEvent(lanes.comm, event, 0) == 0 && lanes.waits_for(lanes.comm) && cuIpcGetEventHandle(&handle, event) == 0);
  EXPECT(cuStreamWaitEvent(lanes.comm, event, 0) == 0 && !lanes.waits_for(lanes.comm));
  // The other one's record is what the host has waited for.
  EXPECT(cuLaunchHostFunc(lanes.comm, nullptr, nullptr) == 0 && cuEventRecord(event, lanes.comm) == 0);
  EXPECT(cuEventSynchronize(event) == 0 && !lanes.waits_for(lanes.comm));
}

template <auto End>  // no graph comes of it
int end_to_cig(cu::Stream stream, cu::Graph* graph) {
  return *graph = reinterpret_cast<cu::Graph>(stream), End(stream);
}

// What is launched inside a capture waits for nothing outside it, and what comes after its end does again.
template <class Begin, class End>
void captures(Begin begin, End end) {
  const Lanes lanes;
  lanes.collective(lanes.comm);
  EXPECT(begin(lanes.compute) == 0 && !lanes.product_waits(lanes.compute));
  cu::Graph graph = nullptr;
  EXPECT(end(lanes.compute, &graph) == 0 && graph != nullptr && lanes.product_waits(lanes.compute));
}
template <class Begin>
void begins(Begin begin) {
  captures(begin, &cuStreamEndCapture);
}
int begin(cu::Stream stream) { return cuStreamBeginCapture_v2(stream, cu::kCaptureModeRelaxed); }

// A collective that is captured behind nodes of the program's own: they may wait for the host, which may wait for the product.
template <class Update>
void dependencies_updated(Update update) {
  const Lanes lanes;
  for (const bool updates : {false, true}) {
    const cu::Event forked = make_event();
    EXPECT(begin(lanes.comm) == 0 && cuEventRecord(forked, lanes.comm) == 0 && cuStreamWaitEvent(lanes.compute, forked, 0) == 0);
    if (updates) { EXPECT(update(lanes.comm) == 0); }
    lanes.collective(lanes.comm);
    EXPECT(lanes.product_waits(lanes.compute) == !updates);
    EXPECT(cuEventRecord(forked, lanes.compute) == 0 && cuStreamWaitEvent(lanes.comm, forked, 0) == 0);
    cu::Graph graph = nullptr;
    EXPECT(cuStreamEndCapture(lanes.comm, &graph) == 0);
  }
}

cu::Graph graph_with(bool waits) {
  cu::Graph graph = nullptr;
  EXPECT(cuGraphCreate(&graph, 0) == 0);
  cu::KernelNodeParamsV2 parameters{};
  parameters.v1 = {fake_function("gelu", 32, 0), 24, 1, 1, 544, 1, 1, 0, nullptr, nullptr};
  cu::GraphNode node = nullptr;
  EXPECT(cuGraphAddKernelNode_v2(&node, graph, nullptr, 0, &parameters) == 0);
  if (waits) { EXPECT(cuGraphAddHostNode(&node, graph, nullptr, 0, nullptr) == 0); }
  return graph;
}

// Nothing waits for a collective behind a graph that waits for the host.
bool waits_behind(const Lanes& lanes, cu::GraphExec exec) {
  EXPECT(cuGraphLaunch(exec, lanes.comm) == 0);
  return lanes.waits_for(lanes.comm);
}

template <class Instantiate>
void instantiated(Instantiate instantiate) {
  const Lanes lanes;
  cu::GraphExec ends = nullptr;
  cu::GraphExec waits = nullptr;
  EXPECT(instantiate(&ends, graph_with(false)) == 0 && instantiate(&waits, graph_with(true)) == 0);
  EXPECT(waits_behind(lanes, ends) && !waits_behind(lanes, waits) && waits_behind(lanes, ends));
}

template <class Update>
void updated(Update update) {
  const Lanes lanes;
  cu::GraphExec exec = nullptr;
  const cu::Graph two_nodes = graph_with(false);
  cu::GraphNode node = nullptr;
  cu::KernelNodeParamsV2 parameters{};
  parameters.v1.function = lanes.gemm;
  EXPECT(cuGraphAddKernelNode_v2(&node, two_nodes, nullptr, 0, &parameters) == 0);
  EXPECT(cuGraphInstantiateWithFlags(&exec, two_nodes, 0) == 0 && waits_behind(lanes, exec));
  EXPECT(update(exec, graph_with(false)) == 910 && waits_behind(lanes, exec));  // refused: another number of nodes
  EXPECT(update(exec, graph_with(true)) == 0 && !waits_behind(lanes, exec));
}
int with_params(cu::GraphExec* exec, cu::Graph graph) {
  cu::GraphInstantiateParams parameters{};
  return cuGraphInstantiateWithParams(exec, graph, &parameters);
}
int with_params_of_thread(cu::GraphExec* exec, cu::Graph graph) {
  cu::GraphInstantiateParams parameters{};
  return cuGraphInstantiateWithParams_ptsz(exec, graph, &parameters);
}

void graph_launched() {
  const Lanes lanes;
  cu::GraphExec waits = nullptr;
  EXPECT(cuGraphInstantiateWithFlags(&waits, graph_with(true), 0) == 0 && !waits_behind(lanes, waits));
}

void graph_launched_on_thread() {
  const Lanes lanes;
  cu::GraphExec waits = nullptr;
  EXPECT(cuGraphInstantiateWithFlags(&waits, graph_with(true), 0) == 0 && lanes.waits_for_thread());
  EXPECT(cuGraphLaunch_ptsz(waits, nullptr) == 0 && cuStreamSynchronize(lanes.comm) == 0 && !lanes.waits_for_thread());
  EXPECT(cuGraphLaunch_ptsz(waits, nullptr) == 0 && cuStreamSynchronize_ptsz(nullptr) == 0 && lanes.waits_for_thread());
}

// Of an executable graph that is gone nothing is known: the next one with its handle may wait.
void graph_destroyed() {
  const Lanes lanes;
  cu::GraphExec ends = nullptr;
  EXPECT(cuGraphInstantiateWithFlags(&ends, graph_with(false), 0) == 0 && waits_behind(lanes, ends));
  EXPECT(cuGraphExecDestroy(ends) == 0 && !waits_behind(lanes, ends));
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
  Lanes::settle();
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

constexpr Case kCases[] = {
    {"cuGetProcAddress", found},
    {"cuGetProcAddress_v2", found_with_status},
    {"cuLaunchKernel", [] { launched([](const Lanes& l) { return launch_on(l.comm, l.all_reduce, 24); }); }},
    {"cuLaunchKernel_ptsz",
     [] {
       launched_on_thread([](const Lanes&, cu::Function function) {
         return cuLaunchKernel_ptsz(function, 132, 1, 1, 256, 1, 1, 0, nullptr, nullptr, nullptr);
       });
     }},
    {"cuLaunchKernelEx",
     [] {
       launched([](const Lanes& l) {
         const cu::LaunchConfig config = config_on(l.comm);
         return cuLaunchKernelEx(&config, l.all_reduce, nullptr, nullptr);
       });
     }},
    {"cuLaunchKernelEx_ptsz",
     [] {
       launched_on_thread([](const Lanes&, cu::Function function) {
         const cu::LaunchConfig config{132, 1, 1, 256, 1, 1, 0, nullptr, nullptr, 0};
         return cuLaunchKernelEx_ptsz(&config, function, nullptr, nullptr);
       });
     }},
    {"cuLaunchCooperativeKernel",
     [] {
       launched([](const Lanes& l) {
         EXPECT(cuLaunchCooperativeKernel(l.gemm, 1, 1, 1, 32, 1, 1, 0, l.comm, nullptr) == 0);
         return cuLaunchCooperativeKernel(l.all_reduce, 24, 1, 1, 544, 1, 1, 0, l.comm, nullptr);
       });
     }},
    {"cuLaunchCooperativeKernel_ptsz",
     [] {
       const Lanes lanes;
       EXPECT(cuLaunchCooperativeKernel_ptsz(lanes.gemm, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr) == 0);
       EXPECT(cuLaunchCooperativeKernel_ptsz(lanes.all_reduce, 24, 1, 1, 544, 1, 1, 0, nullptr, nullptr) == 0);
       EXPECT(lanes.product_waits(lanes.compute));
     }},
    {"cuStreamCreate", [] { stream_created(&cuStreamCreate); }},
    {"cuStreamCreateWithPriority",
     [] { stream_created([](cu::Stream* made, unsigned flags) { return cuStreamCreateWithPriority(made, flags, 0); }); }},
    {"cuGreenCtxStreamCreate",
     [] { stream_created([](cu::Stream* made, unsigned flags) { return cuGreenCtxStreamCreate(made, nullptr, flags, 0); }); }},
    {"cuStreamDestroy", [] { stream_destroyed(&cuStreamDestroy); }},
    {"cuStreamDestroy_v2", [] { stream_destroyed(&cuStreamDestroy_v2); }},
    {"cuStreamWaitEvent", external_wait},
    {"cuStreamWaitEvent_ptsz", wait_of_thread},
    {"cuEventRecord", [] { event_orders(&cuEventRecord, &cuStreamWaitEvent, false); }},
    {"cuEventRecord_ptsz", [] { event_orders(&cuEventRecord_ptsz, &cuStreamWaitEvent, true); }},
    {"cuEventRecordWithFlags", [] { record_with_flags(&cuEventRecordWithFlags, false); }},
    {"cuEventRecordWithFlags_ptsz", [] { record_with_flags(&cuEventRecordWithFlags_ptsz, true); }},
    {"cuIpcOpenEventHandle", foreign_event},
    {"cuIpcGetEventHandle", exported_event},
    {"cuEventDestroy", [] { event_destroyed(&cuEventDestroy); }},
    {"cuEventDestroy_v2", [] { event_destroyed(&cuEventDestroy_v2); }},
    {"cuStreamBeginCapture", [] { begins(&cuStreamBeginCapture); }},
    {"cuStreamBeginCapture_ptsz", [] { begins(&cuStreamBeginCapture_ptsz); }},
    {"cuStreamBeginCapture_v2", [] { begins(&begin); }},
    {"cuStreamBeginCapture_v2_ptsz", [] { begins([](cu::Stream stream) { return cuStreamBeginCapture_v2_ptsz(stream, 0); }); }},
    {"cuStreamBeginCaptureToGraph",
     [] { begins([](cu::Stream stream) { return cuStreamBeginCaptureToGraph(stream, nullptr, nullptr, nullptr, 0, 0); }); }},
    {"cuStreamBeginCaptureToGraph_ptsz",
     [] { begins([](cu::Stream stream) { return cuStreamBeginCaptureToGraph_ptsz(stream, nullptr, nullptr, nullptr, 0, 0); }); }},
    {"cuStreamBeginRecaptureToGraph",
     [] { begins([](cu::Stream stream) { return cuStreamBeginRecaptureToGraph(stream, 0, nullptr, nullptr, nullptr); }); }},
    {"cuStreamBeginRecaptureToGraph_ptsz",
     [] { begins([](cu::Stream stream) { return cuStreamBeginRecaptureToGraph_ptsz(stream, 0, nullptr, nullptr, nullptr); }); }},
    {"cuStreamBeginCaptureToCig", [] { begins([](cu::Stream stream) { return cuStreamBeginCaptureToCig(stream, nullptr); }); }},
    {"cuStreamBeginCaptureToCig_ptsz",
     [] { begins([](cu::Stream stream) { return cuStreamBeginCaptureToCig_ptsz(stream, nullptr); }); }},
    {"cuStreamUpdateCaptureDependencies",
     [] { dependencies_updated([](cu::Stream s) { return cuStreamUpdateCaptureDependencies(s, nullptr, 0, 1); }); }},
    {"cuStreamUpdateCaptureDependencies_ptsz",
     [] { dependencies_updated([](cu::Stream s) { return cuStreamUpdateCaptureDependencies_ptsz(s, nullptr, 0, 1); }); }},
    {"cuStreamUpdateCaptureDependencies_v2",
     [] { dependencies_updated([](cu::Stream s) { return cuStreamUpdateCaptureDependencies_v2(s, nullptr, nullptr, 0, 1); }); }},
    {"cuStreamUpdateCaptureDependencies_v2_ptsz",
     [] {
       dependencies_updated([](cu::Stream s) { return cuStreamUpdateCaptureDependencies_v2_ptsz(s, nullptr, nullptr, 0, 1); });
     }},
    {"cuStreamEndCaptureToCig", [] { captures(&begin, &end_to_cig<&cuStreamEndCaptureToCig>); }},
    {"cuStreamEndCaptureToCig_ptsz", [] { captures(&begin, &end_to_cig<&cuStreamEndCaptureToCig_ptsz>); }},
    {"cuStreamEndCapture", [] { captures(&begin, &cuStreamEndCapture); }},
    {"cuStreamEndCapture_ptsz", [] { captures(&begin, &cuStreamEndCapture_ptsz); }},
    {"cuGraphInstantiate",
     [] { instantiated([](cu::GraphExec* e, cu::Graph g) { return cuGraphInstantiate(e, g, nullptr, nullptr, 0); }); }},
    {"cuGraphInstantiate_v2",
     [] { instantiated([](cu::GraphExec* e, cu::Graph g) { return cuGraphInstantiate_v2(e, g, nullptr, nullptr, 0); }); }},
    {"cuGraphInstantiateWithFlags",
     [] { instantiated([](cu::GraphExec* e, cu::Graph g) { return cuGraphInstantiateWithFlags(e, g, 0); }); }},
    {"cuGraphInstantiateWithParams", [] { instantiated(&with_params); }},
    {"cuGraphInstantiateWithParams_ptsz", [] { instantiated(&with_params_of_thread); }},
    {"cuGraphExecUpdate", [] { updated([](cu::GraphExec e, cu::Graph g) { return cuGraphExecUpdate(e, g, nullptr, nullptr); }); }},
    {"cuGraphExecUpdate_v2", [] { updated([](cu::GraphExec e, cu::Graph g) { return cuGraphExecUpdate_v2(e, g, nullptr); }); }},
    {"cuGraphLaunch", graph_launched},
    {"cuGraphLaunch_ptsz", graph_launched_on_thread},
    {"cuGraphExecDestroy", graph_destroyed},
};

}  // namespace

int main(int argc, char** argv) { return run_hook_cases(kCases, argc, argv); }
