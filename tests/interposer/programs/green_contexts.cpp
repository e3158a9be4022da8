#include <initializer_list>
#include <utility>

#include "hook_cases.hpp"

// Priority beside a part of the device: blocks that go first leave it an SM.

namespace {

cu::Stream stream_of_part(unsigned sms) {
  cu::Stream stream = nullptr;
  EXPECT(cuGreenCtxStreamCreate(&stream, fake_green_context(sms), cu::kStreamNonBlocking, 0) == 0);
  return stream;
}

bool goes_first(const Lanes& lanes) {
  fake_reset();
  lanes.collective(lanes.comm);
  const bool first = attribute_of(*fake_call(fake_call_count() - 1), cu::kLaunchPriority) != nullptr;
  Lanes::settle();
  return first;
}

// The collective has 24 blocks, and all SMs of the device. A product may be in a part of it.
void beside() {
  const Lanes lanes;
  EXPECT(goes_first(lanes));
  stream_of_part(25);
  EXPECT(goes_first(lanes));
  const cu::GreenContext small = fake_green_context(24);
  cu::Stream stream = nullptr;
  EXPECT(cuGreenCtxStreamCreate(&stream, small, cu::kStreamNonBlocking, 0) == 0 && !goes_first(lanes));
  // What runs there may outlive the part.
  EXPECT(cuStreamDestroy_v2(stream) == 0 && cuGreenCtxDestroy(small) == 0 && !goes_first(lanes));
}

// More parts than are told apart: the one that is left out may be small.
void many() {
  const Lanes lanes;
  const auto use_parts = [&](int count) {
    for (int i = 0; i < count; ++i) { EXPECT(launch_on(stream_of_part(60), lanes.gemm) == 0); }
  };
  use_parts(60);
  EXPECT(goes_first(lanes));
  use_parts(10);
  EXPECT(!goes_first(lanes));
}

// A graph may be captured on streams of any part.
void graphs() {
  const Lanes lanes;
  for (const auto& [sms, priority] : {std::pair{25U, -5}, std::pair{24U, 0}}) {
    stream_of_part(sms);
    cu::Graph graph = nullptr;
    cu::GraphNode node = nullptr;
    cu::GraphExec exec = nullptr;
    EXPECT(cuGraphCreate(&graph, 0) == 0);
    for (const auto& [function, blocks] : {std::pair{lanes.gemm, 4096U}, std::pair{lanes.all_reduce, 24U}}) {
      cu::KernelNodeParamsV2 parameters{};
      parameters.v1 = {function, blocks, 1, 1, 544, 1, 1, 0, nullptr, nullptr};
      EXPECT(cuGraphAddKernelNode_v2(&node, graph, nullptr, 0, &parameters) == 0);
    }
    EXPECT(cuGraphInstantiateWithFlags(&exec, graph, 0) == 0);
    EXPECT(fake_counted_priority(node) == priority);
  }
}

constexpr Case kCases[] = {{"beside", beside}, {"graphs", graphs}, {"many", many}};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
