#include "hook_cases.hpp"

// Hooks of launches, of streams and events, of captures and graphs, and of what ends handles.

namespace {

// A collective of every form counts as one.
template <class Launch>
void launched(Launch launch) {
  const Lanes lanes;
  EXPECT(launch(lanes) == 0 && lanes.is_beside(lanes.compute));
}

// On the thread's own stream.
template <class Launch>
void launched_on_thread(Launch launch) {
  const Lanes lanes;
  EXPECT(launch(lanes) == 0 && lanes.is_beside(make_stream()));
}

template <class Launch>
void launched_several(Launch launch) {
  stands_aside([=](const Lanes& lanes) {
    auto* const function = const_cast<void*>(lanes.gemm);
    hip::LaunchParams both[2] = {{function, {24, 1, 1}, {256, 1, 1}, nullptr, 0, lanes.comm},
                                 {function, {24, 1, 1}, {256, 1, 1}, nullptr, 0, make_stream()}};
    return launch(both, 2, 0U);
  });
}

template <class Launch>
void launched_in_threads(Launch launch) {
  launched([=](const Lanes& l) { return launch(l.module_all_reduce, 24 * 256U, 256U, l.comm); });
}

// What has a mask of compute units, or is in a green context, must keep to it.
void masked_stream_created() {
  stands_aside([](const Lanes&) {
    hip::Stream masked = nullptr;
    const std::uint32_t mask[4] = {~0U, 0, 0, 0};
    return hipExtStreamCreateWithCUMask(&masked, 4, mask);
  });
}
void context_stream_created() {
  stands_aside([](const Lanes&) {
    hip::Stream part = nullptr;
    return hipExecutionCtxStreamCreate(&part, nullptr, hip::kStreamNonBlocking, 0);
  });
}

// A carrier goes with its stream.
void stream_destroyed() {
  const Lanes lanes;
  const std::size_t before = fake_hip_streams();
  lanes.collective(lanes.comm);
  EXPECT(fake_hip_streams() == before + 1 && hipStreamDestroy(lanes.comm) == 0 && fake_hip_streams() == before - 1);
}

// What waits for the event of a collective is ordered behind it.
template <class Record>
void event_recorded(Record record) {
  const Lanes lanes;
  const hip::Event done = make_event();
  lanes.collective(lanes.comm);
  EXPECT(record(done, lanes.comm) == 0 && hipStreamWaitEvent(lanes.compute, done, 0) == 0 && !lanes.is_beside(lanes.compute));
}
void event_recorded_on_thread() {
  const Lanes lanes;
  const hip::Event done = make_event();
  EXPECT(hipLaunchKernel_spt(lanes.all_reduce, {24, 1, 1}, {256, 1, 1}, nullptr, 0, nullptr) == 0);
  EXPECT(hipEventRecord_spt(done, nullptr) == 0 && hipStreamWaitEvent(lanes.compute, done, 0) == 0);
  EXPECT(!lanes.is_beside(lanes.compute));
}
void event_waited_for_by_thread() {
  const Lanes lanes;
  const hip::Event done = make_event();
  lanes.collective(lanes.comm);
  EXPECT(hipEventRecord(done, lanes.comm) == 0 && hipStreamWaitEvent_spt(nullptr, done, 0) == 0);
  EXPECT(hipLaunchKernel_spt(lanes.gemm, {100000, 1, 1}, {256, 1, 1}, nullptr, 0, nullptr) == 0 && last_call().shared == 0);
  EXPECT(lanes.is_beside(make_stream()));
}

// A new event with the handle of one that is gone was recorded nowhere.
void event_destroyed() {
  const Lanes lanes;
  const hip::Event done = make_event();
  lanes.collective(lanes.comm);
  EXPECT(hipEventRecord(done, lanes.comm) == 0 && hipEventDestroy(done) == 0);
  fake_hip_reuse(done);
  EXPECT(make_event() == done && hipStreamWaitEvent(lanes.compute, done, 0) == 0 && lanes.is_beside(lanes.compute));
}

// While something is captured no end is asked for: the question may break the capture. What has ended counts as if it ran.
template <class Begin, class End>
void captures(Begin begin, End end) {
  const Lanes lanes;
  const hip::Stream captured = make_stream();
  lanes.collective(lanes.comm);
  EXPECT(begin(captured) == 0);
  lanes.settle();
  EXPECT(lanes.is_beside(lanes.compute));
  hip::Graph graph = nullptr;
  EXPECT(end(captured, &graph) == 0 && graph != nullptr);
  lanes.settle();
  EXPECT(!lanes.is_beside(lanes.compute));
}
int begin(hip::Stream stream) { return hipStreamBeginCapture(stream, hip::kCaptureModeRelaxed); }
int begin_of_thread(hip::Stream stream) { return hipStreamBeginCapture_spt(stream, hip::kCaptureModeRelaxed); }
int begin_to_graph(hip::Stream stream) {
  hip::Graph graph = nullptr;
  EXPECT(hipGraphCreate(&graph, 0) == 0);
  return hipStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0, hip::kCaptureModeRelaxed);
}

// What a graph holds is not known: it may be a collective.
template <class Launch>
void graph_launched(Launch launch) {
  const Lanes lanes;
  hip::Graph graph = nullptr;
  hip::GraphExec exec = nullptr;
  EXPECT(hipGraphCreate(&graph, 0) == 0 && hipGraphInstantiateWithFlags(&exec, graph, 0) == 0);
  EXPECT(launch(exec, lanes.comm) == 0 && lanes.is_beside(lanes.compute));
  lanes.settle();
  EXPECT(!lanes.is_beside(lanes.compute));
}

// A function that is gone may have left its handle to another one.
template <class Unload>
void unloaded(Unload unload) {
  const Lanes lanes;
  lanes.collective(lanes.comm);
  EXPECT(lanes.is_beside(lanes.compute));
  lanes.settle();
  unload();
  fake_hip_reuse_symbol(lanes.all_reduce, "gelu");
  lanes.collective(lanes.comm);
  EXPECT(!lanes.is_beside(lanes.compute));
}

void found() {
  void* function = nullptr;
  int status = -1;
  EXPECT(hipGetProcAddress("hipLaunchKernel", &function, 60000000, 0, &status) == 0 && status == 0);
  EXPECT(function == reinterpret_cast<void*>(&hipLaunchKernel));
}

constexpr hip::Dim3 kGrid{24, 1, 1};
constexpr hip::Dim3 kBlock{256, 1, 1};

#define LAUNCHED(hook, ...) HOOK(hook, launched([](const Lanes& l) { return hook(__VA_ARGS__); }))

constexpr Case kCases[] = {
    {"hipGetProcAddress", found},
    LAUNCHED(hipLaunchKernel, l.all_reduce, kGrid, kBlock, nullptr, 0, l.comm),
    HOOK(hipLaunchKernel_spt,
         launched_on_thread([](const Lanes& l) { return hipLaunchKernel_spt(l.all_reduce, kGrid, kBlock, nullptr, 0, nullptr); })),
    LAUNCHED(hipExtLaunchKernel, l.all_reduce, kGrid, kBlock, nullptr, 0, l.comm, nullptr, nullptr, 0),
    LAUNCHED(hipLaunchCooperativeKernel, l.all_reduce, kGrid, kBlock, nullptr, 0, l.comm),
    HOOK(hipLaunchCooperativeKernel_spt, launched_on_thread([](const Lanes& l) {
           return hipLaunchCooperativeKernel_spt(l.all_reduce, kGrid, kBlock, nullptr, 0, nullptr);
         })),
    HOOK(hipLaunchKernelExC, launched([](const Lanes& l) {
           const hip::LaunchConfig config{kGrid, kBlock, 0, l.comm, nullptr, 0};
           return hipLaunchKernelExC(&config, l.all_reduce, nullptr);
         })),
    HOOK(hipLaunchCooperativeKernelMultiDevice, launched_several(&hipLaunchCooperativeKernelMultiDevice)),
    HOOK(hipExtLaunchMultiKernelMultiDevice, launched_several(&hipExtLaunchMultiKernelMultiDevice)),
    LAUNCHED(hipModuleLaunchKernel, l.module_all_reduce, 24, 1, 1, 256, 1, 1, 0, l.comm, nullptr, nullptr),
    LAUNCHED(hipModuleLaunchCooperativeKernel, l.module_all_reduce, 24, 1, 1, 256, 1, 1, 0, l.comm, nullptr),
    HOOK(hipDrvLaunchKernelEx, launched([](const Lanes& l) {
           const hip::ModuleLaunchConfig config{24, 1, 1, 256, 1, 1, 0, l.comm, nullptr, 0};
           return hipDrvLaunchKernelEx(&config, l.module_all_reduce, nullptr, nullptr);
         })),
    HOOK(hipExtModuleLaunchKernel,
         launched_in_threads([](hip::Function function, unsigned work, unsigned block, hip::Stream stream) {
           return hipExtModuleLaunchKernel(function, work, 1, 1, block, 1, 1, 0, stream, nullptr, nullptr, nullptr, nullptr, 0);
         })),
    HOOK(_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j,
         launched_in_threads([](hip::Function function, unsigned work, unsigned block, hip::Stream stream) {
           return elbowroom_ext_module_launch(function, work, 1, 1, block, 1, 1, 0, stream, nullptr, nullptr, nullptr, nullptr, 0);
         })),
    {"hipExtStreamCreateWithCUMask", masked_stream_created},
    {"hipExecutionCtxStreamCreate", context_stream_created},
    {"hipStreamDestroy", stream_destroyed},
    HOOK(hipStreamWaitEvent, event_recorded(&hipEventRecord)),
    {"hipStreamWaitEvent_spt", event_waited_for_by_thread},
    HOOK(hipEventRecord, event_recorded(&hipEventRecord)),
    {"hipEventRecord_spt", event_recorded_on_thread},
    HOOK(hipEventRecordWithFlags,
         event_recorded([](hip::Event event, hip::Stream stream) { return hipEventRecordWithFlags(event, stream, 0); })),
    {"hipEventDestroy", event_destroyed},
    HOOK(hipDeviceReset, stands_aside([](const Lanes&) { return hipDeviceReset(); })),
    HOOK(hipDevicePrimaryCtxReset, stands_aside([](const Lanes&) { return hipDevicePrimaryCtxReset(0); })),
    HOOK(hipModuleUnload, unloaded([] { EXPECT(hipModuleUnload(nullptr) == 0); })),
    HOOK(hipLibraryUnload, unloaded([] { EXPECT(hipLibraryUnload(nullptr) == 0); })),
    HOOK(__hipUnregisterFatBinary, unloaded([] { __hipUnregisterFatBinary(nullptr); })),
    HOOK(hipStreamBeginCapture, captures(&begin, &hipStreamEndCapture)),
    HOOK(hipStreamBeginCapture_spt, captures(&begin_of_thread, &hipStreamEndCapture)),
    HOOK(hipStreamBeginCaptureToGraph, captures(&begin_to_graph, &hipStreamEndCapture)),
    HOOK(hipStreamEndCapture, captures(&begin, &hipStreamEndCapture)),
    HOOK(hipStreamEndCapture_spt, captures(&begin, &hipStreamEndCapture_spt)),
    HOOK(hipGraphLaunch, graph_launched(&hipGraphLaunch)),
    HOOK(hipGraphLaunch_spt, graph_launched([](hip::GraphExec exec, hip::Stream) { return hipGraphLaunch_spt(exec, nullptr); })),
};

}  // namespace

int main(int argc, char** argv) { return run_hook_cases(kCases, argc, argv); }
