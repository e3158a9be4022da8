// What a launch costs more under `elbowroom run`, by the program's own clock: a program without Python, and 20,000 pairs a process.
// See launch_pairs.py, which builds and starts it.
//
// usage: launch_pairs --offset      prints where cuLaunchKernel lies in the driver; to be asked with nothing preloaded
//        launch_pairs OFFSET KIB    an empty kernel by cuLaunchKernel as the program finds it and by the driver's own, in blocks in
//        turns, with so
//                                   many KiB of other memory read before each launch. Prints nanoseconds: found, own.
#include <cuda.h>
#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

// Counts as a collective by its name: a program at rest has had some.
extern "C" __global__ void ncclDevKernel_AllReduce_Sum_f32_RING_LL() {}
extern "C" __global__ void nothing() {}

namespace {

constexpr int kBlock = 20, kBlocks = 1000, kCollectives = 6000;
constexpr unsigned kCollectiveBlocks = 24;

using Launch = decltype(&cuLaunchKernel);

void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) { return; }
  std::fprintf(stderr, "%s: error %d\n", what, static_cast<int>(result));
  std::exit(1);
}

std::uintptr_t driver_base() {
  std::uintptr_t base = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* found) {
        if (std::strstr(object->dlpi_name, "libcuda.so") != nullptr) { *static_cast<std::uintptr_t*>(found) = object->dlpi_addr; }
        return 0;
      },
      &base);
  return base;
}

CUfunction function_of(const void* symbol) {
  cudaFunction_t function = nullptr;
  if (cudaGetFuncBySymbol(&function, symbol) != cudaSuccess) { std::exit(1); }
  return reinterpret_cast<CUfunction>(function);
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2) { return std::printf("%zu\n", reinterpret_cast<std::uintptr_t>(&cuLaunchKernel) - driver_base()) < 0; }
  if (argc != 3) { return 2; }
  cudaFree(nullptr);
  const auto own = reinterpret_cast<Launch>(driver_base() + std::strtoull(argv[1], nullptr, 10));
  const std::size_t trash_bytes = std::strtoull(argv[2], nullptr, 10) * 1024;
  std::vector<char> trash(trash_bytes + 64);
  CUstream stream = nullptr;
  check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  const CUfunction kernel = function_of(reinterpret_cast<const void*>(&nothing));
  const CUfunction collective = function_of(reinterpret_cast<const void*>(&ncclDevKernel_AllReduce_Sum_f32_RING_LL));
  const auto launch = [&](Launch by, CUfunction function, unsigned blocks) {
    check(by(function, blocks, 1, 1, 32, 1, 1, 0, stream, nullptr, nullptr), "cuLaunchKernel");
  };
  for (int step = 0; step < kCollectives; ++step) {
    launch(&cuLaunchKernel, collective, kCollectiveBlocks);
    launch(&cuLaunchKernel, kernel, 1);
    if (step % 100 == 99) { check(cuStreamSynchronize(stream), "cuStreamSynchronize"); }
  }
  volatile char sink = 0;
  const auto block = [&](Launch by) {
    double spent = 0;
    for (int i = 0; i < kBlock; ++i) {
      for (std::size_t at = 0; at < trash_bytes; at += 64) { sink = trash[at]; }
      const auto begin = std::chrono::steady_clock::now();
      launch(by, kernel, 1);
      spent += std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
    }
    return spent / kBlock;
  };
  std::vector<double> found_ns, own_ns;
  for (int i = 0; i < kBlocks; ++i) {
    const bool first = i % 2 == 0;
    (first ? found_ns : own_ns).push_back(block(first ? &cuLaunchKernel : own));
    (first ? own_ns : found_ns).push_back(block(first ? own : &cuLaunchKernel));
    check(cuStreamSynchronize(stream), "cuStreamSynchronize");
  }
  std::printf("%.1f %.1f\n", median(found_ns), median(own_ns));
}
