#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "fake_cuda.hpp"

// What a launch takes longer through the interposer where caches and branch predictors hold other things, as they do between two
// launches of a program. The driver does nothing. Launches through the hook and past it take turns, and before each some MiB of
// data are touched and a few thousand functions are called.
//
// usage: interposer_cold_bench [KIB] [TURNS]     with ELBOWROOM_RUN_POLICY other than gate: of that policy

namespace {

using Clock = std::chrono::steady_clock;
using LaunchKernel = int (*)(cu::Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, cu::Stream, void**,
                             void**);

constexpr std::size_t kFunctions = 3000;
std::uint64_t mixed = 1;

template <std::size_t kNumber>
[[gnu::noinline, gnu::aligned(64)]] void small_function() {
  mixed = mixed * 6364136223846793005U + kNumber;
  if ((mixed >> 60U & 1U) != 0) { mixed ^= kNumber; }
}
template <std::size_t... kNumbers>
constexpr std::array<void (*)(), sizeof...(kNumbers)> functions_of(std::index_sequence<kNumbers...> /*numbers*/) {
  return {&small_function<kNumbers>...};
}
constexpr auto kOthers = functions_of(std::make_index_sequence<kFunctions>());

class Caches {
 public:
  explicit Caches(std::size_t bytes) : lines_(bytes) {}
  void fill() {
    for (std::size_t at = 0; at < lines_.size(); at += 64) { ++lines_[at]; }
    for (const auto& other : kOthers) { other(); }
  }

 private:
  std::vector<char> lines_;
};

/// Blocks of a kernel that leaves a collective no room, and of one that does.
constexpr unsigned kLarge = 4096, kSmall = 16;

struct Program {
  void* handle = dlopen(ELBOWROOM_FAKE_CUDA, RTLD_NOW);
  LaunchKernel hook = find<LaunchKernel>("cuLaunchKernel");
  LaunchKernel direct = nullptr;
  cu::Stream compute = nullptr, comm = nullptr;
  cu::Function all_reduce = nullptr;
  std::vector<cu::Function> kernels;

  template <class Function>
  Function find(const char* name) const {
    return reinterpret_cast<Function>(dlsym(handle, name));
  }
  Program() {
    // The C library's own dlsym is not interposed and finds the driver's own function.
    const auto loader = reinterpret_cast<void* (*)(void*, const char*)>(dlsym(dlopen("libc.so.6", RTLD_NOW), "dlsym"));
    direct = reinterpret_cast<LaunchKernel>(loader(handle, "cuLaunchKernel"));
    cu::Context context = nullptr;
    find<int (*)(cu::Context*, unsigned, int)>("cuCtxCreate_v2")(&context, 0, 0);
    const auto create = find<int (*)(cu::Stream*, unsigned, int)>("cuStreamCreateWithPriority");
    create(&compute, cu::kStreamNonBlocking, 0);
    create(&comm, cu::kStreamNonBlocking, 0);
    const auto make = find<decltype(&fake_function)>("fake_function");
    for (int i = 0; i < 64; ++i) { kernels.push_back(make(("gemm" + std::to_string(i)).c_str(), 64, 0)); }
    all_reduce = make("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 96, 0);
    find<decltype(&fake_set_logging)>("fake_set_logging")(0);
  }
  int collective(unsigned blocks = 24) const { return hook(all_reduce, blocks, 1, 1, 512, 1, 1, 0, comm, nullptr, nullptr); }
  int synchronise() const { return find<int (*)()>("cuCtxSynchronize")(); }
  // So often that durations are known and `auto` has compared; its steps are repetitions of collectives.
  void warm_up() const {
    for (int i = 0; i < 4'000; ++i) {
      collective();
      launch_four(i);
      synchronise();
      launch_four(i);
    }
  }

 private:
  void launch_four(int step) const {
    for (int k = 0; k < 4; ++k) {
      for (cu::Stream stream : {compute, cu::Stream{nullptr}}) {
        for (const unsigned blocks : {kLarge, kSmall}) {
          hook(kernels[static_cast<std::size_t>(step * 4 + k) % kernels.size()], blocks, 1, 1, 256, 1, 1, 0, stream, nullptr,
               nullptr);
        }
      }
    }
  }
};

double launch_ns(LaunchKernel entry, cu::Function kernel, unsigned blocks, cu::Stream stream) {
  const auto begin = Clock::now();
  entry(kernel, blocks, 1, 1, 256, 1, 1, 0, stream, nullptr, nullptr);
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

double quantile(std::vector<double> of, double part) {
  const auto at = of.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(of.size() - 1));
  std::nth_element(of.begin(), at, of.end());
  return *at;
}

/// How much longer the hook takes, at some quantile of all turns, and at the least and greatest of ten parts of them.
void tell(const char* name, const std::vector<double>& hook, const std::vector<double>& direct) {
  std::printf("%-28s", name);
  for (const double part : {0.5, 0.1}) {
    std::vector<double> parts;
    const std::size_t each = hook.size() / 10;
    for (std::size_t i = 0; i + each <= hook.size(); i += each) {
      const auto piece = [&](const std::vector<double>& of) {
        return std::vector<double>(of.begin() + static_cast<std::ptrdiff_t>(i), of.begin() + static_cast<std::ptrdiff_t>(i + each));
      };
      parts.push_back(quantile(piece(hook), part) - quantile(piece(direct), part));
    }
    std::sort(parts.begin(), parts.end());
    std::printf("  p%.0f %+7.0f ns (%+.0f..%+.0f)", part * 100, quantile(hook, part) - quantile(direct, part), parts[1], parts[8]);
  }
  // Every 64th launch by the short way reads what was written down. What takes longest is the machine's.
  const auto mean = [](std::vector<double> of) {
    std::sort(of.begin(), of.end());
    of.resize(of.size() * 995 / 1000);
    return std::accumulate(of.begin(), of.end(), 0.0) / static_cast<double>(of.size());
  };
  std::printf("  mean of all but 0.5 %% %+7.0f ns\n", mean(hook) - mean(direct));
}

void measure(const Program& program, Caches& caches, const char* name, unsigned blocks, cu::Stream stream, bool inside, int turns) {
  std::vector<double> hook, direct;
  program.synchronise();
  if (inside) {  // of unknown duration, and without an end
    program.find<decltype(&fake_set_finished)>("fake_set_finished")(0);
    program.collective(16);
  }
  for (int turn = 0; turn < turns; ++turn) {
    cu::Function const kernel = program.kernels[static_cast<std::size_t>(turn) % program.kernels.size()];
    for (const bool hooked : {turn % 2 == 0, turn % 2 != 0}) {
      caches.fill();
      (hooked ? hook : direct).push_back(launch_ns(hooked ? program.hook : program.direct, kernel, blocks, stream));
    }
  }
  tell(name, hook, direct);
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("ELBOWROOM_INTERPOSER_BENCH") == nullptr) {
    setenv("ELBOWROOM_INTERPOSER_BENCH", "1", 1);
    setenv("ELBOWROOM_RUN_POLICY", "gate", 0);
    setenv("LD_PRELOAD", ELBOWROOM_INTERPOSER, 0);
    execv("/proc/self/exe", argv);
    std::perror("execv");
    return 1;
  }
  const std::size_t kib = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 2048;
  const int turns = argc > 2 ? std::atoi(argv[2]) : 4000;
  const Program program;
  program.warm_up();
  Caches caches(kib * 1024);
  measure(program, caches, "outside windows", kLarge, program.compute, false, turns);
  measure(program, caches, "outside, default stream", kLarge, nullptr, false, turns);
  measure(program, caches, "inside windows", kLarge, program.compute, true, turns);
  measure(program, caches, "inside, small kernels", kSmall, program.compute, true, turns);
  return 0;
}
