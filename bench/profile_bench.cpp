#include <benchmark/benchmark.h>

#include <string>

#include "unit/tune/choices.hpp"

namespace elbowroom {
namespace {

// Required: under 1 us for a choice whose key is at hand, in a profile of a thousand.
void look_up(benchmark::State& state) {
  Profile profile;
  for (int number = 0; number < 1000; ++number) profile.put(testing::choice(number));
  const std::string key = to_string(testing::choice(static_cast<int>(state.range(0))).key);
  for (auto _ : state) benchmark::DoNotOptimize(profile.find(key));
}
BENCHMARK(look_up)->ArgName("number")->Arg(500)->Arg(5000);

// What a caller pays that builds the key for every lookup.
void build_key_and_look_up(benchmark::State& state) {
  Profile profile;
  for (int number = 0; number < 1000; ++number) profile.put(testing::choice(number));
  const ProfileKey key = testing::choice(500).key;
  for (auto _ : state) benchmark::DoNotOptimize(profile.find(to_string(key)));
}
BENCHMARK(build_key_and_look_up);

}  // namespace
}  // namespace elbowroom

BENCHMARK_MAIN();
