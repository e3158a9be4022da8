#include <vector>

#include "driver_program.hpp"

// The order of launches, records and waits of loops and training steps, as PyTorch and llm.c make it. The host is a step ahead of
// the device: within a step nothing ends. Gates are those that commit d0677c38 set, which followed orders by another rule.

namespace {

constexpr std::size_t kSteps = 40;

struct Program {
  cu::Context context = use_device(0);
  cu::Stream compute = make_stream(), comm = make_stream(), copies = make_stream(), gathers = make_stream(),
             scatters = make_stream();
  cu::Function product = fake_function("gemm", 64, 0), collective = fake_function(kAllReduce, 96, 21568);
  std::vector<cu::Event> events;  ///< of a step, used again in the next, as those of PyTorch's pool
  std::size_t recorded = 0, waits = 0;

  void compute_on(cu::Stream stream, int kernels) {
    for (int i = 0; i < kernels; ++i) { EXPECT(launch_on(stream, product) == 0); }
  }
  cu::Event behind(cu::Stream stream) {
    if (recorded == events.size()) { events.push_back(make_event()); }
    EXPECT(cuEventRecord(events[recorded], stream) == 0);
    return events[recorded++];
  }
  void wait(cu::Stream stream, cu::Event event) {
    EXPECT(cuStreamWaitEvent(stream, event, 0) == 0);
    ++waits;
  }
  void join(cu::Stream stream, cu::Stream other) { wait(stream, behind(other)); }
  cu::Event communicate(cu::Stream caller) {
    join(comm, caller);
    EXPECT(launch_on(comm, collective, 24) == 0);
    return behind(comm);
  }
};

// Eight layers, each with a collective that a later layer waits for.
template <std::size_t kInFlight>
void loop(Program& p) {
  std::vector<cu::Event> ends;
  for (std::size_t layer = 0; layer < 8; ++layer) {
    p.compute_on(p.compute, 3);
    if (kInFlight > 0 && kInFlight <= layer) { p.wait(p.compute, ends[layer - kInFlight]); }
    ends.push_back(p.communicate(p.compute));
    if (kInFlight == 0) { p.wait(p.compute, ends.back()); }
  }
  for (const cu::Event end : ends) { p.wait(p.compute, end); }
}

// An all-reduce beside some products, four times; both are joined behind them.
void raw_overlap(Program& p) {
  for (int i = 0; i < 4; ++i) {
    const cu::Event end = p.communicate(p.compute);
    p.compute_on(p.compute, 8);
    p.wait(p.compute, end);
  }
}

// A backward pass with a collective behind every third layer or every one; the optimizer waits for all.
template <int kLayers>
void backward(Program& p) {
  cu::Event end{};
  for (int layer = 1; layer <= 24; ++layer) {
    p.compute_on(p.compute, 14);
    if (layer % kLayers == 0) { end = p.communicate(p.compute); }
  }
  p.wait(p.compute, end);
  p.compute_on(p.compute, 8);
}

cu::Event gather(Program& p) {
  p.join(p.copies, p.compute);
  p.compute_on(p.copies, 1);
  p.join(p.gathers, p.copies);
  p.wait(p.gathers, p.communicate(p.gathers));
  return p.behind(p.gathers);
}

// Twelve layers forward and backward. Each gathers for the next one; backward a scatter follows each.
void fsdp2(Program& p) {
  cu::Event gathered = gather(p);
  for (int layer = 0; layer < 24; ++layer) {
    p.wait(p.compute, gathered);
    p.compute_on(p.compute, 1);
    if (layer != 11 && layer != 23) { gathered = gather(p); }
    p.compute_on(p.compute, 12);
    if (layer < 12) { continue; }
    p.join(p.scatters, p.compute);
    p.wait(p.scatters, p.communicate(p.scatters));
    p.compute_on(p.scatters, 1);
  }
  p.join(p.compute, p.scatters);
}

template <auto kStep, std::size_t kGates>
void gates() {
  Program program;
  see_begins();
  std::size_t waits = 0;
  for (std::size_t step = 0; step < kSteps; ++step) {
    fake_reset();
    fake_set_finished(0);
    program.recorded = 0;
    kStep(program);
    for (std::size_t i = 0; i < fake_call_count(); ++i) { waits += is_call(i, "cuStreamWaitEvent") ? 1 : 0; }
    all_ends();
  }
  EXPECT(waits - program.waits == kGates * kSteps);
}

constexpr Case kCases[] = {{"overlap_loop", gates<loop<1>, 7>}, {"free_loop", gates<loop<8>, 1>},
                           {"ordered_loop", gates<loop<0>, 0>}, {"raw_overlap", gates<raw_overlap, 4>},
                           {"ddp", gates<backward<3>, 1>},      {"zero", gates<backward<1>, 1>},
                           {"fsdp2", gates<fsdp2, 33>}};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
