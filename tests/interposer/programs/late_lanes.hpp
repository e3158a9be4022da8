#pragma once

#include "hook_cases.hpp"

/// A stream with a collective whose peers are late, and an event.
struct LateLanes {
  Lanes lanes;
  cu::Stream late = make_stream();
  cu::Event event = make_event();

  LateLanes() {
    EXPECT(lanes.waits_for(lanes.comm));  // nothing is followed before the first collective
    lanes.collective(late);
    EXPECT(lanes.product_waits(lanes.compute));
  }
};

/// An executable graph of what `fill` launches on the stream that it is given.
template <class Fill>
cu::GraphExec graph_of(Fill fill) {
  cu::Graph graph = nullptr;
  cu::GraphExec exec = nullptr;
  const cu::Stream stream = make_stream();
  EXPECT(cuStreamBeginCapture_v2(stream, cu::kCaptureModeRelaxed) == 0);
  fill(stream);
  EXPECT(cuStreamEndCapture(stream, &graph) == 0 && cuGraphInstantiateWithFlags(&exec, graph, 0) == 0);
  return exec;
}
