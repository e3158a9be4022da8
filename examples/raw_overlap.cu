// A program that knows nothing of Elbowroom: `<<<>>>`, two GPUs in one process, NCCL loaded at run time. Each layer's elementwise
// kernel may run beside the all-reduce of the layer before it. Prints times and a digest of all results as one JSON line, so that
//     ./example_raw_overlap   and   elbowroom run -- ./example_raw_overlap
// can be compared. Exit 77 where two GPUs or NCCL are missing.
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr int kGpus = 2;
constexpr int kLayers = 4;
constexpr std::size_t kElements = std::size_t{1} << 28;  // 1 GiB of floats through each layer
constexpr std::size_t kReduced = std::size_t{1} << 26;   // of which 256 MiB are summed over the GPUs
constexpr int kThreads = 256;

__global__ void fill(float* x, std::size_t count, std::uint32_t seed) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) {
    x[i] = static_cast<float>((static_cast<std::uint32_t>(i) * 2654435761U + seed) >> 8) * (1.0F / (1U << 24)) - 0.5F;
  }
}

__global__ void gelu(const float* in, float* out, std::size_t count) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) { out[i] = 0.5F * in[i] * (1.0F + erff(in[i] * 0.70710678F)); }
}

[[noreturn]] void end(int code, const std::string& why) {
  std::fprintf(stderr, "%s: %s\n", code == 77 ? "skipped" : "failed", why.c_str());
  std::exit(code);
}

void check(cudaError_t error, const char* call) {
  if (error != cudaSuccess) { end(1, std::string(call) + ": " + cudaGetErrorString(error)); }
}

// As nccl.h declares them, since 2.0.
struct Nccl {
  using Comm = void*;
  int (*comm_init_all)(Comm* comms, int devices, const int* device_list);
  int (*comm_destroy)(Comm comm);
  int (*group_start)();
  int (*group_end)();
  int (*all_reduce)(const void* send, void* receive, std::size_t count, int type, int op, Comm comm, cudaStream_t stream);
};
constexpr int kFloat32 = 7;
constexpr int kSum = 0;

template <class Function>
void find(void* library, const char* name, Function& function) {
  void* const found = dlsym(library, name);
  if (found == nullptr) { end(77, std::string(name) + " is not in libnccl.so.2"); }
  std::memcpy(&function, &found, sizeof function);
}

Nccl load_nccl() {
  void* const library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) { end(77, "libnccl.so.2 cannot be loaded"); }
  Nccl nccl{};
  find(library, "ncclCommInitAll", nccl.comm_init_all);
  find(library, "ncclCommDestroy", nccl.comm_destroy);
  find(library, "ncclGroupStart", nccl.group_start);
  find(library, "ncclGroupEnd", nccl.group_end);
  find(library, "ncclAllReduce", nccl.all_reduce);
  return nccl;
}

void check_nccl(int code, const char* call) {
  if (code != 0) { end(1, std::string(call) + ": NCCL error " + std::to_string(code)); }
}

struct Gpu {
  cudaStream_t compute = nullptr;
  cudaStream_t comm = nullptr;
  cudaEvent_t ready = nullptr;
  cudaEvent_t reduced = nullptr;
  std::vector<float*> activations;  ///< of kLayers + 1
  std::vector<float*> sums;         ///< of kLayers
};

float* floats(std::size_t count) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, count * sizeof(float)), "cudaMalloc");
  return static_cast<float*>(memory);
}

unsigned blocks(std::size_t count) { return static_cast<unsigned>(count / kThreads); }

Gpu prepare(int device) {
  Gpu gpu;
  check(cudaSetDevice(device), "cudaSetDevice");
  check(cudaStreamCreateWithFlags(&gpu.compute, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  check(cudaStreamCreateWithFlags(&gpu.comm, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  check(cudaEventCreateWithFlags(&gpu.ready, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  check(cudaEventCreateWithFlags(&gpu.reduced, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  for (int layer = 0; layer <= kLayers; ++layer) { gpu.activations.push_back(floats(kElements)); }
  for (int layer = 0; layer < kLayers; ++layer) { gpu.sums.push_back(floats(kReduced)); }
  fill<<<blocks(kElements), kThreads, 0, gpu.compute>>>(gpu.activations[0], kElements, 17U * static_cast<unsigned>(device + 1));
  check(cudaGetLastError(), "fill");
  check(cudaStreamSynchronize(gpu.compute), "cudaStreamSynchronize");
  return gpu;
}

void reduce(const Nccl& nccl, const std::vector<Nccl::Comm>& comms, std::vector<Gpu>& gpus, std::size_t layer) {
  check_nccl(nccl.group_start(), "ncclGroupStart");
  for (std::size_t rank = 0; rank < gpus.size(); ++rank) {
    Gpu& gpu = gpus[rank];
    check_nccl(nccl.all_reduce(gpu.activations[layer + 1], gpu.sums[layer], kReduced, kFloat32, kSum, comms[rank], gpu.comm),
               "ncclAllReduce");
  }
  check_nccl(nccl.group_end(), "ncclGroupEnd");
}

/// Enqueues all layers on all GPUs; afterwards each compute stream waits for its last all-reduce.
void step(const Nccl& nccl, const std::vector<Nccl::Comm>& comms, std::vector<Gpu>& gpus, bool communicate) {
  for (std::size_t layer = 0; layer < kLayers; ++layer) {
    for (int device = 0; device < kGpus; ++device) {
      Gpu& gpu = gpus[static_cast<std::size_t>(device)];
      check(cudaSetDevice(device), "cudaSetDevice");
      gelu<<<blocks(kElements), kThreads, 0, gpu.compute>>>(gpu.activations[layer], gpu.activations[layer + 1], kElements);
      check(cudaGetLastError(), "gelu");
      if (!communicate) { continue; }
      check(cudaEventRecord(gpu.ready, gpu.compute), "cudaEventRecord");
      check(cudaStreamWaitEvent(gpu.comm, gpu.ready, 0), "cudaStreamWaitEvent");
    }
    if (communicate) { reduce(nccl, comms, gpus, layer); }
  }
  for (int device = 0; communicate && device < kGpus; ++device) {
    Gpu& gpu = gpus[static_cast<std::size_t>(device)];
    check(cudaSetDevice(device), "cudaSetDevice");
    check(cudaEventRecord(gpu.reduced, gpu.comm), "cudaEventRecord");
    check(cudaStreamWaitEvent(gpu.compute, gpu.reduced, 0), "cudaStreamWaitEvent");
  }
}

void synchronize() {
  for (int device = 0; device < kGpus; ++device) {
    check(cudaSetDevice(device), "cudaSetDevice");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
}

/// Milliseconds of each step on the first GPU, from one step's end to the next one's.
template <class Step>
std::vector<float> timed_row(int steps, const Gpu& first, Step one_step) {
  std::vector<cudaEvent_t> ends(static_cast<std::size_t>(steps) + 1);
  synchronize();
  check(cudaSetDevice(0), "cudaSetDevice");
  for (cudaEvent_t& event : ends) { check(cudaEventCreate(&event), "cudaEventCreate"); }
  for (cudaEvent_t& event : ends) {
    one_step();
    check(cudaSetDevice(0), "cudaSetDevice");
    check(cudaEventRecord(event, first.compute), "cudaEventRecord");
  }
  synchronize();
  std::vector<float> times(static_cast<std::size_t>(steps));
  for (std::size_t i = 0; i < times.size(); ++i) {
    check(cudaEventElapsedTime(&times[i], ends[i], ends[i + 1]), "cudaEventElapsedTime");
  }
  for (cudaEvent_t event : ends) { check(cudaEventDestroy(event), "cudaEventDestroy"); }
  return times;
}

void add_to_digest(std::uint64_t& digest, const float* device_data, std::size_t count) {
  std::vector<std::uint32_t> words(count);
  check(cudaMemcpy(words.data(), device_data, count * sizeof(float), cudaMemcpyDeviceToHost), "cudaMemcpy");
  for (const std::uint32_t word : words) {
    digest = (digest ^ word) * 1099511628211ULL;  // FNV-1a by words
  }
}

std::uint64_t digest_of(const std::vector<Gpu>& gpus, bool communicated) {
  std::uint64_t digest = 14695981039346656037ULL;
  for (int device = 0; device < kGpus; ++device) {
    const Gpu& gpu = gpus[static_cast<std::size_t>(device)];
    check(cudaSetDevice(device), "cudaSetDevice");
    add_to_digest(digest, gpu.activations.back(), kReduced);
    for (const float* sum : gpu.sums) {
      if (communicated) { add_to_digest(digest, sum, kReduced); }
    }
  }
  return digest;
}

/// What no digest shows: that a sum is the sum of what both GPUs hold.
void verify(const std::vector<Gpu>& gpus) {
  for (const std::size_t at : {std::size_t{0}, kReduced / 3, kReduced - 1}) {
    float parts[kGpus] = {}, sum = 0;
    for (std::size_t rank = 0; rank < gpus.size(); ++rank) {
      check(cudaMemcpy(&parts[rank], gpus[rank].activations.back() + at, sizeof(float), cudaMemcpyDefault), "cudaMemcpy");
    }
    check(cudaMemcpy(&sum, gpus[1].sums.back() + at, sizeof(float), cudaMemcpyDefault), "cudaMemcpy");
    if (sum != parts[0] + parts[1]) { end(1, "element " + std::to_string(at) + " of the last sum is wrong"); }
  }
}

void print_mode(const char* name, const std::vector<float>& times, std::uint64_t digest, bool first) {
  std::printf("%s\"%s\": {\"ms\": [", first ? "" : ", ", name);
  for (std::size_t i = 0; i < times.size(); ++i) { std::printf("%s%.4f", i == 0 ? "" : ", ", static_cast<double>(times[i])); }
  std::printf("], \"digest\": \"%016llx\"}", static_cast<unsigned long long>(digest));
}

int positive(const char* text) {
  const int number = std::atoi(text);
  if (number < 1) { end(2, std::string("'") + text + "', expected a number from 1"); }
  return number;
}

}  // namespace

int main(int argc, char** argv) {
  std::string modes = "local,plain";
  int steps = 20, warm_up = 10;
  for (int at = 1; at < argc; at += 2) {
    const std::string option = argv[at];
    if (at + 1 == argc || (option != "--mode" && option != "--steps" && option != "--warm-up")) {
      end(2, "usage: " + std::string(argv[0]) + " [--mode local,plain] [--steps N] [--warm-up N]");
    }
    if (option == "--mode") { modes = argv[at + 1]; }
    if (option == "--steps") { steps = positive(argv[at + 1]); }
    if (option == "--warm-up") { warm_up = positive(argv[at + 1]); }
  }

  // NVLink multicast can put the GPUs of a shared host out of service.
  setenv("NCCL_NVLS_ENABLE", "0", 1);
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < kGpus) { end(77, "two GPUs are needed"); }
  const Nccl nccl = load_nccl();
  std::vector<Gpu> gpus;
  for (int device = 0; device < kGpus; ++device) { gpus.push_back(prepare(device)); }
  std::vector<Nccl::Comm> comms(kGpus);
  const int device_list[kGpus] = {0, 1};
  check_nccl(nccl.comm_init_all(comms.data(), kGpus, device_list), "ncclCommInitAll");
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  const char* const no_peer = std::getenv("NCCL_P2P_DISABLE");

  std::printf("{\"schema\": \"elbowroom.example/1\", \"example\": \"raw_overlap\", \"batch\": 1, \"link\": \"%s\", \"gpus\": %d, ",
              no_peer != nullptr && std::strcmp(no_peer, "1") == 0 ? "host" : "direct", kGpus);
  std::printf("\"device\": \"%s\", \"versions\": {\"cudart\": \"%d.%d\"}, \"modes\": {", properties.name, CUDART_VERSION / 1000,
              CUDART_VERSION % 1000 / 10);
  bool first = true;
  for (const char* mode : {"local", "plain"}) {
    if (("," + modes + ",").find("," + std::string(mode) + ",") == std::string::npos) { continue; }
    const bool communicate = std::strcmp(mode, "plain") == 0;
    const auto one_step = [&] { step(nccl, comms, gpus, communicate); };
    timed_row(warm_up, gpus[0], one_step);
    const std::vector<float> times = timed_row(steps, gpus[0], one_step);
    if (communicate) { verify(gpus); }
    print_mode(mode, times, digest_of(gpus, communicate), first);
    first = false;
  }
  std::printf("}}\n");
  for (Nccl::Comm comm : comms) { check_nccl(nccl.comm_destroy(comm), "ncclCommDestroy"); }
  return 0;
}
