// The library's own door: an application's kernel launched through a Session, padded and not.
#include "elbowroom/runtime/session.hpp"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backend_cuda/compiled_kernels.hpp"
#include "elbowroom/interop/cuda.hpp"

namespace elbowroom {
namespace {

TEST(LiveSession, ShapesAndLaunchesAnApplicationsKernel) {
  Result<Session> session = Session::open({.backend = "cuda", .gpus = 1, .notice = {}});
  if (!session) { GTEST_SKIP() << session.error().message; }

  const cuda::CompiledKernel& copy = cuda::elementwise_kernels()[2];
  ASSERT_EQ("elementwise_copy_f32", copy.name);
  cudaFunction_t function = nullptr;
  ASSERT_EQ(cudaSuccess, cudaGetFuncBySymbol(&function, copy.symbol));
  constexpr std::int64_t kVectors = 100'000;
  const auto kernel = interop::kernel<void*, void*, std::int64_t>(function);
  ASSERT_TRUE(kernel);
  const LaunchSize size{{(kVectors + 255) / 256, 1, 1}, {256, 1, 1}, Bytes(0)};

  const Result<OverlapPlan> plan = session->shape(*kernel, size, BlocksPerSm(2));
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_GT(plan->pad.count(), 48 * 1024);  // beyond what a launch may ask for without being allowed to

  const std::vector<std::uint32_t> data(4 * kVectors, 0x3F800000u);
  void* in = nullptr;
  void* out = nullptr;
  ASSERT_EQ(cudaSuccess, cudaMalloc(&in, 16 * kVectors));
  ASSERT_EQ(cudaSuccess, cudaMalloc(&out, 16 * kVectors));
  ASSERT_EQ(cudaSuccess, cudaMemcpy(in, data.data(), 16 * kVectors, cudaMemcpyHostToDevice));
  const StreamPair& streams = session->devices()[0].streams;
  for (const OverlapPlan& under : {OverlapPlan{}, *plan}) {
    ASSERT_EQ(cudaSuccess, cudaMemset(out, 0, 16 * kVectors));
    ASSERT_EQ(cudaSuccess, cudaDeviceSynchronize());  // the session's streams do not wait for the default one
    const Status launched = session->launch(*kernel, size, streams.compute, under, in, out, kVectors);
    ASSERT_TRUE(launched) << launched.error().message;
    ASSERT_TRUE(session->synchronize());
    std::vector<std::uint32_t> back(4 * kVectors);
    ASSERT_EQ(cudaSuccess, cudaMemcpy(back.data(), out, 16 * kVectors, cudaMemcpyDeviceToHost));
    EXPECT_EQ(data, back);
  }
  EXPECT_EQ(cudaSuccess, cudaFree(in));
  EXPECT_EQ(cudaSuccess, cudaFree(out));

  int least = 0;
  int greatest = 0;
  int priority = 0;
  ASSERT_EQ(cudaSuccess, cudaDeviceGetStreamPriorityRange(&least, &greatest));
  ASSERT_EQ(cudaSuccess, cudaStreamGetPriority(*interop::cuda_stream(streams.comm), &priority));
  EXPECT_EQ(greatest, priority);
  EXPECT_TRUE(session->devices()[0].comm_goes_first);
}

TEST(LiveSession, AGateWaitsForWhatItSawAndSaysWhereItSawNothing) {
  Result<Session> session = Session::open({.backend = "cuda", .gpus = 1, .notice = {}});
  if (!session) { GTEST_SKIP() << session.error().message; }
  Result<std::unique_ptr<CollectiveGate>> gate = session->launch_gate();
  if (!gate) { GTEST_SKIP() << gate.error().message; }
  const Status nothing = (*gate)->around([] { return Status(); });
  ASSERT_FALSE(nothing);
  EXPECT_NE(std::string::npos, nothing.error().message.find("launch_gate: the collective's launch was not seen"));
  EXPECT_TRUE(session->synchronize());
}

TEST(LiveSession, TooManyDevicesAreRefusedInOneLine) {
  const Result<Session> session = Session::open({.backend = "cuda", .gpus = 64, .notice = {}});
  ASSERT_FALSE(session);
  if (session.error().kind == ErrorKind::unavailable) { GTEST_SKIP() << session.error().message; }
  EXPECT_NE(std::string::npos, session.error().message.find("gpus: 64, expected 1 to")) << session.error().message;
}

}  // namespace
}  // namespace elbowroom
