#include <cstdlib>
#include <initializer_list>

#include "two_streams.hpp"

// What ends the gate, or keeps a launch from it, beyond the order of streams and events.

namespace {

bool launch_waits(const TwoStreams& two) {
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0);
  fake_reset();
  EXPECT(launch_on(two.compute, two.gemm) == 0);
  return fake_call_count() == 2;
}

// A launch of the program's records its event: that it has passed says nothing of the record before.
void own_event() {
  for (const cu::LaunchAttributeId id : {cu::kLaunchCompletionEvent, cu::kLaunchProgrammaticEvent}) {
    const TwoStreams two;
    const cu::Event done = make_event();
    EXPECT(launch_waits(two));
    EXPECT(cuLaunchHostFunc(two.comm, nullptr, nullptr) == 0 && cuEventRecord(done, two.comm) == 0);
    cu::LaunchAttribute own{};
    own.id = id;
    own.value.launch_completion_event.event = done;
    const cu::LaunchConfig config{1, 1, 1, 32, 1, 1, 0, two.compute, &own, 1};
    EXPECT(cuLaunchKernelEx(&config, two.gemm, nullptr, nullptr) == 0 && cuEventSynchronize(done) == 0 && !launch_waits(two));
    EXPECT(cuCtxSynchronize() == 0);
  }
}

// A function that the interposer does not know may make any stream wait for the host.
void newer_form() {
  const TwoStreams two;
  EXPECT(launch_waits(two) && cuStreamSynchronize(two.comm) == 0);
  void* found = nullptr;
  EXPECT(cuGetProcAddress_v2("cuStreamWaitValue64", &found, 13020, 0, nullptr) == 0 && launch_waits(two));
  EXPECT(cuStreamSynchronize(two.comm) == 0);
  EXPECT(cuGetProcAddress_v2("cuStreamWaitValue64", &found, 14000, 0, nullptr) == 0 && !launch_waits(two));
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
    EXPECT(cuCtxSynchronize() == 0);
  }
}

// Behind a cooperative launch that waits for its SMs nothing begins. Another collective may hold some: 24 + 24 + 84 blocks fit on
// 132. Launches of that shape that were not cooperative took the short way.
void behind_cooperative() {
  cu::LaunchAttribute own{};
  own.id = cu::kLaunchCooperative;
  own.value.cooperative = 1;
  for (const unsigned blocks : {84U, 85U}) {
    const TwoStreams two;
    const cu::Function function = fake_function("cooperative", 64, 0);
    const cu::Stream other = make_stream();
    cu::LaunchConfig config{blocks, 1, 1, 544, 1, 1, 0, make_stream(), nullptr, 0};
    EXPECT(launch_on(other, two.all_reduce, 24) == 0);
    for (int i = 0; i < 4; ++i) { EXPECT(cuLaunchKernelEx(&config, function, nullptr, nullptr) == 0); }
    config.attributes = &own;
    config.attribute_count = 1;
    EXPECT(cuLaunchKernelEx(&config, function, nullptr, nullptr) == 0 && launch_waits(two) == (blocks == 84));
    EXPECT(cuCtxSynchronize() == 0);
  }
}

// What is captured with the collective may wait for the host, which may wait for the product. A wait outside changes nothing: the
// step that is captured again becomes the same graph.
void captured_wait() {
  const cu::Event outside = make_event();
  const auto waits_with = [&](auto wait) {
    const TwoStreams two;
    const cu::Event forked = make_event();
    EXPECT(cuStreamBeginCapture_v2(two.comm, cu::kCaptureModeRelaxed) == 0);
    EXPECT(cuEventRecord(forked, two.comm) == 0 && cuStreamWaitEvent(two.compute, forked, 0) == 0);
    wait(two.comm);
    const std::size_t before = fake_call_count();
    EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0 && launch_on(two.compute, two.gemm) == 0);
    const bool waits = fake_call_count() == before + 3;
    EXPECT(cuEventRecord(forked, two.compute) == 0 && cuStreamWaitEvent(two.comm, forked, 0) == 0);
    cu::Graph graph = nullptr;
    EXPECT(cuStreamEndCapture(two.comm, &graph) == 0);
    return waits;
  };
  EXPECT(waits_with([](cu::Stream) {}));
  EXPECT(!waits_with([](cu::Stream stream) { EXPECT(cuLaunchHostFunc(stream, nullptr, nullptr) == 0); }));
  EXPECT(!waits_with([](cu::Stream stream) { EXPECT(cuStreamWaitValue32(stream, 0x1000, 1, 0) == 0); }));
  EXPECT(!waits_with([&](cu::Stream stream) { EXPECT(cuStreamWaitEvent(stream, outside, 1) == 0); }));
  const cu::Stream elsewhere = make_stream();
  EXPECT(waits_with([&](cu::Stream) { EXPECT(cuLaunchHostFunc(elsewhere, nullptr, nullptr) == 0); }));
}

// Not every operation of the legacy default stream is seen, as a fill of memory is not, and each puts what blocking streams do next
// behind all that they did. The younger collective may so be behind the older one, whose peers may be late.
void unseen_legacy_operation() {
  const TwoStreams two;
  const auto on_stream = [&](unsigned flags) {
    cu::Stream stream = nullptr;
    EXPECT(cuStreamCreate(&stream, flags) == 0 && launch_on(stream, two.all_reduce, 24) == 0);
  };
  const auto events_waited_for = [&] {
    fake_reset();
    EXPECT(launch_on(two.compute, two.gemm) == 0 && launch_on(two.compute, two.gemm) == 0);
    const auto waits = static_cast<int>(fake_call_count()) - 2;
    EXPECT(cuCtxSynchronize() == 0);
    return waits;
  };
  on_stream(0);
  on_stream(0);
  EXPECT(events_waited_for() == 1);
  on_stream(0);
  on_stream(cu::kStreamNonBlocking);
  EXPECT(events_waited_for() == 2);
  // What waits for a blocking stream is behind what that one is behind.
  on_stream(0);
  const cu::Event done = make_event();
  cu::Stream blocking = nullptr;
  EXPECT(cuStreamCreate(&blocking, 0) == 0 && launch_on(blocking, two.gemm) == 0 && cuEventRecord(done, blocking) == 0);
  EXPECT(cuStreamWaitEvent(two.comm, done, 0) == 0 && launch_on(two.comm, two.all_reduce, 24) == 0);
  EXPECT(events_waited_for() == 1);
}

// What the driver refuses on the legacy default stream orders nothing: another stream passes, and the wait for the host is not
// over.
template <class Refused>
void refused_on_legacy_stream(Refused refused) {
  const TwoStreams two;
  EXPECT(launch_waits(two) && cuCtxSynchronize() == 0);
  cu::Stream waiting = nullptr;
  cu::Stream passing = nullptr;
  EXPECT(cuStreamCreate(&waiting, 0) == 0 && cuStreamCreate(&passing, 0) == 0);
  EXPECT(cuLaunchHostFunc(waiting, nullptr, nullptr) == 0);
  refused(two);
  EXPECT(launch_on(passing, two.gemm) == 0 && cuStreamSynchronize(passing) == 0);
  EXPECT(!launch_waits(two));
}

int refuse_all(const FakeCall* /*call*/) { return 701; }

void refused_launch() {
  refused_on_legacy_stream([](const TwoStreams& two) {
    fake_set_failure(&refuse_all);
    EXPECT(launch_on(nullptr, two.gemm) == 701);
    fake_set_failure(nullptr);
  });
}

void refused_graph() {
  refused_on_legacy_stream([](const TwoStreams& two) {
    const cu::Stream stream = make_stream();
    cu::Graph graph = nullptr;
    cu::GraphExec exec = nullptr;
    EXPECT(cuStreamBeginCapture_v2(stream, cu::kCaptureModeGlobal) == 0 && launch_on(stream, two.gemm) == 0);
    EXPECT(cuStreamEndCapture(stream, &graph) == 0 && cuGraphInstantiateWithFlags(&exec, graph, 0) == 0);
    fake_set_failure(&refuse_all);
    EXPECT(cuGraphLaunch(exec, nullptr) == 701);
    fake_set_failure(nullptr);
  });
}

/// A collective whose peers are late, an event behind it, and a collective behind what `then` makes of these.
template <class Then>
bool waits_beside_late(Then then) {
  const TwoStreams two;
  const cu::Stream late = make_stream();
  const cu::Event done = make_event();
  EXPECT(launch_waits(two) && cuCtxSynchronize() == 0 && launch_on(late, two.all_reduce, 24) == 0);
  EXPECT(launch_on(two.compute, two.gemm) == 0 && cuEventRecord(done, late) == 0);
  then(late, done);
  EXPECT(cuStreamWaitEvent(two.comm, done, 0) == 0);
  const bool waits = launch_waits(two);
  EXPECT(cuCtxSynchronize() == 0);
  return waits;
}
template <class Destroy>
void refused(Destroy destroy) {
  fake_set_failure(&refuse_all);
  EXPECT(destroy() == 701);
  fake_set_failure(nullptr);
}

// What the driver does not destroy stands behind what it stood behind.
void refused_event() {
  EXPECT(!waits_beside_late([](cu::Stream, cu::Event done) { refused([=] { return cuEventDestroy(done); }); }));
  EXPECT(waits_beside_late([](cu::Stream, cu::Event done) {
    EXPECT(cuEventDestroy_v2(done) == 0 && cuEventDestroy_v2(nullptr) != 0 && cuEventRecord(done, make_stream()) == 0);
  }));
}
void refused_stream() {
  EXPECT(!waits_beside_late([](cu::Stream late, cu::Event done) {
    refused([=] { return cuStreamDestroy_v2(late); });
    EXPECT(cuEventRecord(done, late) == 0);
  }));
  EXPECT(waits_beside_late([](cu::Stream, cu::Event done) {
    const cu::Stream unknown = make_stream();
    refused([=] { return cuStreamDestroy_v2(unknown); });
    EXPECT(cuEventRecord(done, make_stream()) == 0);
  }));
}
// Another process records it.
void refused_foreign_event() {
  const TwoStreams two;
  cu::Event foreign = nullptr;
  EXPECT(launch_waits(two) && cuCtxSynchronize() == 0 && cuIpcOpenEventHandle(&foreign, {}) == 0);
  refused([=] { return cuEventDestroy(foreign); });
  EXPECT(cuStreamWaitEvent(two.comm, foreign, 0) == 0 && !launch_waits(two));
  EXPECT(cuCtxSynchronize() == 0 && cuEventDestroy_v2(foreign) == 0);
  EXPECT(cuStreamWaitEvent(two.comm, foreign, 0) == 0 && launch_waits(two));
}

// A kernel of a graph that the driver says nothing of may be a collective, whose peers may be late.
void unread_kernel() {
  const TwoStreams two;
  const auto waits_behind = [&](cu::Function function) {
    cu::KernelNodeParamsV2 kernel{};
    kernel.v1.function = function;
    cu::Graph graph = nullptr;
    cu::GraphNode node = nullptr;
    cu::GraphExec exec = nullptr;
    EXPECT(cuGraphCreate(&graph, 0) == 0 && cuGraphAddKernelNode_v2(&node, graph, nullptr, 0, &kernel) == 0);
    EXPECT(cuGraphInstantiateWithFlags(&exec, graph, 0) == 0 && cuGraphLaunch(exec, two.comm) == 0);
    const bool waits = launch_waits(two);
    EXPECT(cuCtxSynchronize() == 0);
    return waits;
  };
  EXPECT(waits_behind(two.gemm) && !waits_behind(nullptr) && waits_behind(two.gemm));
}

// What the rules leave out is not known: nothing is done.
void rules_lost() {
  EXPECT(setenv("ELBOWROOM_RUN_RULES", "/nowhere/run.rules", 1) == 0);
  const TwoStreams two;
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0 && launch_on(two.compute, two.gemm) == 0);
  EXPECT(fake_call_count() == 2 && fake_call(0)->attribute_count == 0);
}

constexpr Case kCases[] = {{"own_event", own_event},
                           {"newer_form", newer_form},
                           {"clusters", clusters},
                           {"behind_cooperative", behind_cooperative},
                           {"captured_wait", captured_wait},
                           {"unseen_legacy_operation", unseen_legacy_operation},
                           {"refused_launch", refused_launch},
                           {"refused_graph", refused_graph},
                           {"refused_event", refused_event},
                           {"refused_stream", refused_stream},
                           {"refused_foreign_event", refused_foreign_event},
                           {"unread_kernel", unread_kernel},
                           {"rules_lost", rules_lost}};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
