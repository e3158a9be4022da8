// An application's own kernel, held at four blocks per SM so that a collective on the other stream finds room sooner.
// Exit 77 where no GPU is.
#include <cstdio>
#include <elbowroom/runtime/session.hpp>

__global__ void scale(float* x, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) x[i] *= 2;
}

int main() {
  auto session = elbowroom::Session::open({.backend = "auto", .gpus = 1, .notice = {}});
  if (!session) return std::fprintf(stderr, "%s\n", session.error().message.c_str()), 77;

  int n = 1 << 26;
  float* x = nullptr;
  cudaFunction_t function = nullptr;
  if (cudaMalloc(&x, n * sizeof(float)) != cudaSuccess ||
      cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(scale)) != cudaSuccess)
    return 1;

  const auto kernel = elbowroom::Kernel::from_native(function);
  const auto plan = session->shape(kernel, {256}, elbowroom::BlocksPerSm(4));
  if (!plan) return std::fprintf(stderr, "%s\n", plan.error().message.c_str()), 1;

  void* arguments[] = {&x, &n};
  const auto launched =
      session->launch(kernel, {static_cast<unsigned>(n / 256)}, {256}, arguments, session->compute_stream(0), *plan);
  // ncclAllReduce(send, recv, count, ncclFloat, ncclSum, comm, static_cast<cudaStream_t>(session->comm_stream(0).native()));
  const bool done = launched && session->synchronize();
  return done && cudaFree(x) == cudaSuccess ? 0 : 1;
}
