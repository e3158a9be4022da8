// Does it cost anything to run under Elbowroom with every control off? One process runs the same pipeline (cuBLAS products, each
// one's all-reduce beside the next) in turns: as a workload of the cuda backend with an empty plan, and as anybody would write it
// by hand. Prints both medians and their ratio with its interval; exit code 1 when the interval leaves 0.98 to 1.02, 77 without two
// GPUs, NCCL and cuBLAS.
//   usage: empty_plan [ROUNDS]
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "elbowroom/backend/registry.hpp"
#include "elbowroom/experiment/case_trials.hpp"
#include "elbowroom/plan/overlap_plan.hpp"
#include "elbowroom/plan/program.hpp"
#include "elbowroom/trace/summary.hpp"

namespace {

using elbowroom::Microseconds;

constexpr int kGpus = 2;
constexpr int kIterations = 8;
constexpr int kSide = 8192;
constexpr std::size_t kReducedBytes = std::size_t{512} << 20;
constexpr std::size_t kWorkspace = std::size_t{32} << 20;
constexpr int kWarmUps = 5;

[[noreturn]] void end(int code, const std::string& why) {
  std::fprintf(stderr, "%s: %s\n", code == 77 ? "skipped" : "failed", why.c_str());
  std::exit(code);
}

void check(cudaError_t error, const char* call) {
  if (error != cudaSuccess) { end(1, std::string(call) + ": " + cudaGetErrorString(error)); }
}

void check(int code, const char* call) {
  if (code != 0) { end(1, std::string(call) + ": error " + std::to_string(code)); }
}

template <class Function>
void find(void* library, const char* name, Function& function) {
  void* const found = library == nullptr ? nullptr : dlsym(library, name);
  if (found == nullptr) { end(77, std::string(name) + " cannot be found"); }
  std::memcpy(&function, &found, sizeof function);
}

// As the libraries' headers declare them.
struct Libraries {
  int (*init_all)(void** comms, int devices, const int* device_list);
  int (*group_start)();
  int (*group_end)();
  int (*all_reduce)(const void* send, void* receive, std::size_t count, int type, int op, void* comm, cudaStream_t stream);
  int (*create)(void** handle);
  int (*set_stream)(void* handle, cudaStream_t stream);
  int (*set_workspace)(void* handle, void* workspace, std::size_t size);
  int (*gemm)(void* handle, int transpose_a, int transpose_b, int m, int n, int k, const void* alpha, const void* a, int type_a,
              int lda, const void* b, int type_b, int ldb, const void* beta, void* c, int type_c, int ldc, int compute_type,
              int algorithm);
};
constexpr int kNcclBfloat16 = 9, kNcclSum = 0;
constexpr int kCudaR16BF = 14, kCompute32F = 68, kGemmDefault = -1;

Libraries load() {
  void* const nccl = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  void* cublas = dlopen("libcublas.so.13", RTLD_NOW | RTLD_LOCAL);
  if (cublas == nullptr) { cublas = dlopen("libcublas.so", RTLD_NOW | RTLD_LOCAL); }
  Libraries call{};
  find(nccl, "ncclCommInitAll", call.init_all);
  find(nccl, "ncclGroupStart", call.group_start);
  find(nccl, "ncclGroupEnd", call.group_end);
  find(nccl, "ncclAllReduce", call.all_reduce);
  find(cublas, "cublasCreate_v2", call.create);
  find(cublas, "cublasSetStream_v2", call.set_stream);
  find(cublas, "cublasSetWorkspace_v2", call.set_workspace);
  find(cublas, "cublasGemmEx", call.gemm);
  return call;
}

// A product's power, and with it the clock, depends on the values: 256 of them from -1 up, uniform, as the workload's.
__global__ void fill(__nv_bfloat16* x, std::size_t count, unsigned seed) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    unsigned bits = (static_cast<unsigned>(i) + seed) * 2654435761U;
    bits = (bits ^ (bits >> 15)) * 2246822519U;
    x[i] = __float2bfloat16(static_cast<float>(static_cast<int>((bits ^ (bits >> 13)) & 255U) - 128) * (1.0F / 128));
  }
}

struct Gpu {
  cudaStream_t compute, comm;
  cudaEvent_t begin, ready, reduced, finish;
  void* cublas = nullptr;
  void* workspace = nullptr;
  __nv_bfloat16 *a, *b, *c, *send, *receive;
};

__nv_bfloat16* filled(std::size_t bytes, unsigned seed) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes), "cudaMalloc");
  fill<<<1056, 256>>>(static_cast<__nv_bfloat16*>(memory), bytes / sizeof(__nv_bfloat16), seed);
  check(cudaGetLastError(), "fill");
  return static_cast<__nv_bfloat16*>(memory);
}

Gpu prepare(const Libraries& call, int device) {
  constexpr std::size_t kMatrix = std::size_t{kSide} * kSide * sizeof(__nv_bfloat16);
  Gpu gpu;
  check(cudaSetDevice(device), "cudaSetDevice");
  for (cudaStream_t* stream : {&gpu.compute, &gpu.comm}) {
    check(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  }
  for (cudaEvent_t* event : {&gpu.begin, &gpu.finish}) { check(cudaEventCreate(event), "cudaEventCreate"); }
  for (cudaEvent_t* event : {&gpu.ready, &gpu.reduced}) {
    check(cudaEventCreateWithFlags(event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  }
  check(call.create(&gpu.cublas), "cublasCreate");
  check(cudaMalloc(&gpu.workspace, kWorkspace), "cudaMalloc");
  check(call.set_stream(gpu.cublas, gpu.compute), "cublasSetStream");
  check(call.set_workspace(gpu.cublas, gpu.workspace, kWorkspace), "cublasSetWorkspace");
  gpu.a = filled(kMatrix, 1);
  gpu.b = filled(kMatrix, 2);
  gpu.c = filled(kMatrix, 3);
  gpu.send = filled(kReducedBytes, 4);
  gpu.receive = filled(kReducedBytes, 5);
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  return gpu;
}

/// The slowest GPU's time from its first product to the end of its last all-reduce.
Microseconds by_hand(const Libraries& call, std::vector<Gpu>& gpus, const std::vector<void*>& comms) {
  const float one = 1, zero = 0;
  const auto on_each = [&](auto body) {
    for (int device = 0; device < kGpus; ++device) {
      check(cudaSetDevice(device), "cudaSetDevice");
      body(gpus[static_cast<std::size_t>(device)], comms[static_cast<std::size_t>(device)]);
    }
  };
  on_each([](Gpu& gpu, void*) { check(cudaEventRecord(gpu.begin, gpu.compute), "cudaEventRecord"); });
  for (int i = 0; i < kIterations; ++i) {
    on_each([&](Gpu& gpu, void*) {
      check(call.gemm(gpu.cublas, 0, 0, kSide, kSide, kSide, &one, gpu.b, kCudaR16BF, kSide, gpu.a, kCudaR16BF, kSide, &zero, gpu.c,
                      kCudaR16BF, kSide, kCompute32F, kGemmDefault),
            "cublasGemmEx");
      check(cudaEventRecord(gpu.ready, gpu.compute), "cudaEventRecord");
      check(cudaStreamWaitEvent(gpu.comm, gpu.ready, 0), "cudaStreamWaitEvent");
    });
    check(call.group_start(), "ncclGroupStart");
    on_each([&](Gpu& gpu, void* comm) {
      check(call.all_reduce(gpu.send, gpu.receive, kReducedBytes / sizeof(__nv_bfloat16), kNcclBfloat16, kNcclSum, comm, gpu.comm),
            "ncclAllReduce");
    });
    check(call.group_end(), "ncclGroupEnd");
  }
  float slowest = 0;
  on_each([](Gpu& gpu, void*) {
    check(cudaEventRecord(gpu.reduced, gpu.comm), "cudaEventRecord");
    check(cudaStreamWaitEvent(gpu.compute, gpu.reduced, 0), "cudaStreamWaitEvent");
    check(cudaEventRecord(gpu.finish, gpu.compute), "cudaEventRecord");
  });
  on_each([&](Gpu& gpu, void*) {
    float milliseconds = 0;
    check(cudaEventSynchronize(gpu.finish), "cudaEventSynchronize");
    check(cudaEventElapsedTime(&milliseconds, gpu.begin, gpu.finish), "cudaEventElapsedTime");
    slowest = std::max(slowest, milliseconds);
  });
  return Microseconds(slowest * 1e3);
}

elbowroom::Scenario scenario() {
  using namespace elbowroom;
  return {"empty-plan",
          kGpus,
          kIterations,
          Pattern::pipeline,
          LibraryGemm{kSide, kSide, kSide, DataType::bf16},
          {CollectiveOp::all_reduce, Bytes(static_cast<std::int64_t>(kReducedBytes)), DataType::bf16, {}, {}}};
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 40;
  if (argc > 2 || rounds < 6) { end(2, "usage: empty_plan [ROUNDS], at least 6"); }
  setenv("NCCL_NVLS_ENABLE", "0", 1);  // NVLink multicast can put the GPUs of a shared host out of service
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < kGpus) { end(77, "two GPUs are needed"); }
  const Libraries call = load();
  const auto backend = elbowroom::open_backend("cuda", {});
  if (!backend) { end(77, backend.error().message); }
  auto workload = elbowroom::CaseTrials::prepare(**backend, scenario());
  if (!workload) { end(1, workload.error().message); }
  std::vector<Gpu> gpus;
  for (int device = 0; device < kGpus; ++device) { gpus.push_back(prepare(call, device)); }
  std::vector<void*> comms(kGpus);
  check(call.init_all(comms.data(), kGpus, nullptr), "ncclCommInitAll");

  std::vector<Microseconds> with, without;
  for (int round = 0; round < kWarmUps + rounds; ++round) {
    for (const bool under_elbowroom : {round % 2 == 0, round % 2 != 0}) {
      Microseconds time{0};
      if (under_elbowroom) {
        const auto ran = workload->run(elbowroom::Order::concurrent, {});
        if (!ran) { end(1, ran.error().message); }
        time = *ran;
      } else {
        time = by_hand(call, gpus, comms);
      }
      if (round >= kWarmUps) { (under_elbowroom ? with : without).push_back(time); }
    }
  }
  const auto ratio = elbowroom::summarize_ratio(with, without, 1);
  if (!ratio) { end(1, ratio.error().message); }
  std::printf("%d rounds: empty plan %.3f ms, by hand %.3f ms, ratio %.4f (%.4f to %.4f)\n", rounds,
              elbowroom::summarize(with, 1)->median.count() / 1e3, elbowroom::summarize(without, 1)->median.count() / 1e3,
              ratio->median, ratio->low, ratio->high);
  return ratio->low > 0.98 && ratio->high < 1.02 ? 0 : 1;
}
