#include <dlfcn.h>
#include <unistd.h>

#include <initializer_list>

#include "hip_program.hpp"

// Stream capture and graphs.

namespace {

struct TwoStreams {
  hip::Stream compute = make_stream();
  hip::Stream comm = make_stream();
  hip::Event forked = make_event();
  hip::Event joined = make_event();
  const void* gemm = fake_hip_symbol("gemm", 64, 0);
  hip::Function all_reduce = fake_hip_function(kAllReduce, 96, 4184);

  TwoStreams() { fake_hip_reset(); }

  int launch_collective() const { return launch_collective(comm); }
  int launch_collective(hip::Stream stream) const {
    return hipModuleLaunchKernel(all_reduce, 24, 1, 1, 256, 1, 1, 0, stream, nullptr, nullptr);
  }

  // The step that most programs capture: a collective beside a product, forked from and joined to the capturing stream.
  hip::Graph capture_step() const {
    EXPECT(hipStreamBeginCapture(compute, hip::kCaptureModeGlobal) == 0);
    EXPECT(hipEventRecord(forked, compute) == 0 && hipStreamWaitEvent(comm, forked, 0) == 0);
    EXPECT(launch_collective() == 0 && launch_on(compute, gemm) == 0);
    EXPECT(hipEventRecord(joined, comm) == 0 && hipStreamWaitEvent(compute, joined, 0) == 0);
    hip::Graph graph = nullptr;
    EXPECT(hipStreamEndCapture(compute, &graph) == 0 && graph != nullptr);
    return graph;
  }
};

// A capture in global mode is broken by calls such as hipEventQuery: none of ours may fall into it, and each launch is captured
// once, on the program's own stream.
void capture() {
  const TwoStreams two;
  for (int step = 0; step < 3; ++step) {
    EXPECT(two.launch_collective() == 0);  // outside, and timed where the policy times
    const hip::Graph graph = two.capture_step();
    hip::GraphExec exec = nullptr;
    EXPECT(hipGraphInstantiateWithFlags(&exec, graph, 0) == 0);
    EXPECT(hipGraphLaunch(exec, two.compute) == 0 && hipGraphExecDestroy(exec) == 0);
  }
  std::size_t launches = 0;
  for (std::size_t i = 0; i < fake_hip_call_count(); ++i) { launches += fake_hip_call(i)->function != nullptr ? 1 : 0; }
  EXPECT(launches == 9 && calls_named("hipGraphLaunch") == 3);
}

// The program's capture that its own call has broken ends with the runtime's code.
void broken_capture() {
  const TwoStreams two;
  EXPECT(hipStreamBeginCapture(two.compute, hip::kCaptureModeGlobal) == 0);
  EXPECT(hipEventQuery(two.joined) == hip::kErrorCaptureUnsupported);
  hip::Graph graph = nullptr;
  EXPECT(hipStreamEndCapture(two.compute, &graph) == hip::kErrorCaptureInvalidated && graph == nullptr);
  EXPECT(launch_on(two.compute, two.gemm) == 0);
}

// A capture may begin by an entry point that is not followed. No event of ours, nor a stream, must come into it. A question about
// an event that was recorded on its stream before would break it.
void unseen_capture() {
  const TwoStreams two;
  const auto loader = reinterpret_cast<void* (*)(void*, const char*)>(dlsym(dlopen("libc.so.6", RTLD_NOW), "dlsym"));
  void* runtime = dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_NOLOAD);
  const auto begin = reinterpret_cast<decltype(&hipStreamBeginCapture)>(loader(runtime, "hipStreamBeginCapture"));
  const auto end = reinterpret_cast<decltype(&hipStreamEndCapture)>(loader(runtime, "hipStreamEndCapture"));
  fake_hip_set_finished(0);
  EXPECT(two.launch_collective() == 0 && launch_on(two.compute, two.gemm) == 0);
  EXPECT(begin(two.comm, hip::kCaptureModeGlobal) == 0);
  const std::size_t before = fake_hip_call_count();
  for (unsigned launch = 1; launch < 4; ++launch) {
    usleep(300);  // it is time to ask for what was timed before it
    EXPECT(two.launch_collective() == 0 && launch_on(two.comm, two.gemm, launch) == 0);
  }
  std::size_t launches = 0;
  for (std::size_t i = before; i < fake_hip_call_count(); ++i) {
    const bool launch = fake_hip_call(i)->function != nullptr;
    EXPECT(launch && fake_hip_call(i)->stream == two.comm);
    launches += launch ? 1 : 0;
  }
  hip::Graph graph = nullptr;
  EXPECT(launches == 6 && end(two.comm, &graph) == 0 && graph != nullptr);
}

// Another thread begins a capture on the stream just when the runtime is asked whether a collective there has ended. It would break
// that capture if it were hipEventQuery that asked.
void capture_while_asked() {
  const TwoStreams two;
  fake_hip_set_finished(0);
  // More blocks than half of the units with a third one, so that it is asked about the others.
  EXPECT(two.launch_collective(two.compute) == 0 && two.launch_collective() == 0);
  fake_hip_capture_when_asked(two.comm);
  usleep(300);
  EXPECT(two.launch_collective(make_stream()) == 0 && fake_hip_times_called("hipEventElapsedTime") > 0);
  hip::Graph graph = nullptr;
  EXPECT(hipStreamEndCapture(two.comm, &graph) == 0 && graph != nullptr);
}

// The runtime is asked before something is added to a launch, and at no other.
void asked_for_what_is_added() {
  const TwoStreams two;
  const auto questions = [] { return fake_hip_times_called("hipStreamIsCapturing"); };
  for (std::size_t step = 1; step < 4; ++step) {
    EXPECT(launch_on(two.compute, two.gemm) == 0 && questions() == step - 1);
    EXPECT(two.launch_collective() == 0 && launch_on(two.compute, two.gemm) == 0 && questions() == step);
  }
}

// What is captured goes as the program asks, and so does its graph.
void left_alone() {
  const TwoStreams two;
  const hip::Graph graph = two.capture_step();
  for (std::size_t i = 0; i < fake_hip_call_count(); ++i) {
    const hip::Stream stream = fake_hip_call(i)->stream;
    EXPECT(stream == nullptr || stream == two.compute || stream == two.comm);
  }
  hip::GraphExec exec = nullptr;
  EXPECT(hipGraphInstantiateWithFlags(&exec, graph, 1) == 0 && last_call().flags == 1);
}

constexpr Case kCases[] = {
    CASE(capture),   CASE(broken_capture), CASE(unseen_capture), CASE(capture_while_asked), CASE(asked_for_what_is_added),
    CASE(left_alone)};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
