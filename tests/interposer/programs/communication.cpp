#include <tuple>

#include "two_streams.hpp"

// Kernels that a rule names as communication: they go as the program asked, and nothing waits for them or beside them. Then which
// collectives get a priority.

namespace {

void named() {
  const TwoStreams two;
  const auto [compute, comm, gemm] = std::tuple(two.compute, two.comm, two.gemm);
  const cu::Function exchange = fake_function("_ZN4mine11my_exchangeEPv", 96, 21568);
  EXPECT(launch_on(comm, exchange, 24) == 0 && launch_on(compute, gemm) == 0);
  EXPECT(fake_call_count() == 2 && is_call(0, "cuLaunchKernel") && is_call(1, "cuLaunchKernel"));
  EXPECT(fake_call(0)->attribute_count == 0);
  two.settle();
  // It does not wait for a collective that is known either.
  EXPECT(launch_on(make_stream(), fake_function(kAllReduce, 96, 21568), 24) == 0);
  fake_reset();
  EXPECT(launch_on(compute, gemm) == 0 && fake_call_count() == 2 && is_call(0, "cuStreamWaitEvent"));
  EXPECT(launch_on(comm, exchange, 4096) == 0 && fake_call_count() == 3 && is_call(2, "cuLaunchKernel"));
  // Other ranks may come to it late.
  EXPECT(launch_on(make_stream(), fake_function(kAllReduce, 96, 21568), 24) == 0);
  fake_reset();
  EXPECT(launch_on(compute, gemm) == 0 && fake_call_count() == 1);
}

// Blocks that could take more than half of the SMs would stand before those of a product that the peers wait for.
void priority_leaves_half() {
  const TwoStreams two;
  const cu::Stream other = make_stream();
  const auto goes_first = [&](cu::Stream stream, cu::Function function, unsigned blocks) {
    EXPECT(launch_on(stream, function, blocks) == 0);
    return attribute_of(*fake_call(fake_call_count() - 1), cu::kLaunchPriority) != nullptr;
  };
  EXPECT(goes_first(two.comm, two.all_reduce, 40) && !goes_first(other, two.all_reduce, 27));
  two.settle();
  EXPECT(goes_first(two.comm, two.all_reduce, 66));
  two.settle();
  EXPECT(!goes_first(two.comm, two.all_reduce, 67));
  EXPECT(!goes_first(other, fake_function("_ZN9deep_gemm28sm100_fp8_fp4_mega_moe_implE", 255, 0), 24));
}

constexpr Case kCases[] = {{"named", named}, {"priority_leaves_half", priority_leaves_half}};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
