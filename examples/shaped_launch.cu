// An application's own kernel on its own streams, held at four blocks per SM so that a collective on the other stream finds room
// sooner. Exit 77 where no GPU is.
#include <array>
#include <cstdio>
#include <elbowroom/interop/cuda.hpp>
#include <elbowroom/runtime/session.hpp>

__global__ void scale(float* x, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) { x[i] *= 2; }
}

int main() {
  namespace interop = elbowroom::interop;
  constexpr elbowroom::DeviceIndex first{0};
  int least = 0, greatest = 0;
  cudaStream_t compute{}, comm{};
  if (cudaDeviceGetStreamPriorityRange(&least, &greatest) != cudaSuccess ||
      cudaStreamCreateWithPriority(&compute, cudaStreamNonBlocking, 0) != cudaSuccess ||
      cudaStreamCreateWithPriority(&comm, cudaStreamNonBlocking, greatest) != cudaSuccess) {
    return std::fprintf(stderr, "skipped: no CUDA device\n"), 77;
  }
  const std::array streams{elbowroom::StreamPair{*interop::stream(first, compute), *interop::stream(first, comm)}};
  auto session = elbowroom::Session::attach(streams);
  if (!session) { return std::fprintf(stderr, "skipped: %s\n", session.error().message.c_str()), 77; }

  constexpr int n = 1 << 26;
  float* x = nullptr;
  cudaFunction_t function = nullptr;
  if (cudaMalloc(&x, n * sizeof(float)) != cudaSuccess ||
      cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(scale)) != cudaSuccess) {
    return 1;
  }

  const auto kernel = interop::kernel(scale, function);
  const elbowroom::LaunchSize size{{n / 256}, {256}, elbowroom::Bytes(0)};
  const auto plan = session->shape(*kernel, size, elbowroom::BlocksPerSm(4));
  if (!plan) { return std::fprintf(stderr, "%s\n", plan.error().message.c_str()), 1; }

  const auto launched = session->launch(*kernel, size, session->devices()[0].streams.compute, *plan, x, n);
  // ncclAllReduce(send, recv, count, ncclFloat, ncclSum, communicator, comm);
  const bool done = launched && session->synchronize();
  return done && cudaFree(x) == cudaSuccess ? 0 : 1;
}
