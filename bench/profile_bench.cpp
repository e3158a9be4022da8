#include <benchmark/benchmark.h>

#include "unit/tune/choices.hpp"

namespace elbowroom {
namespace {

// Required: under 1 us for a choice whose key is at hand, in a profile of a thousand.
void look_up(benchmark::State& state) {
  Profile profile;
  for (int number = 0; number < 1000; ++number) { profile.put(testing::choice(number)); }
  const ProfileKey key = testing::choice(static_cast<int>(state.range(0))).key;
  for (auto _ : state) { benchmark::DoNotOptimize(profile.find(key)); }
}
BENCHMARK(look_up)->ArgName("number")->Arg(500)->Arg(1001);

}  // namespace
}  // namespace elbowroom

BENCHMARK_MAIN();
