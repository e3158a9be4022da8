// The library's own door: an application's kernel launched through a Session, padded and not.
#include "elbowroom/runtime/session.hpp"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "backend_cuda/compiled_kernels.hpp"

namespace elbowroom {
namespace {

TEST(LiveSession, ShapesAndLaunchesAnApplicationsKernel) {
  Result<Session> session = Session::open({.backend = "cuda", .gpus = 1, .notice = {}});
  if (!session) GTEST_SKIP() << session.error().message;

  const cuda::CompiledKernel& copy = cuda::elementwise_kernels()[2];
  ASSERT_EQ("elementwise_copy_f32", copy.name);
  cudaFunction_t function = nullptr;
  ASSERT_EQ(cudaSuccess, cudaGetFuncBySymbol(&function, copy.symbol));
  const Kernel kernel = Kernel::from_native(function);
  const Extent block{256, 1, 1};

  const Result<OverlapPlan> plan = session->shape(kernel, block, BlocksPerSm(2));
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_GT(plan->pad.count(), 48 * 1024);  // beyond what a launch may ask for without being allowed to

  constexpr std::int64_t kVectors = 100'000;
  const std::vector<std::uint32_t> data(4 * kVectors, 0x3F800000u);
  void* in = nullptr;
  void* out = nullptr;
  ASSERT_EQ(cudaSuccess, cudaMalloc(&in, 16 * kVectors));
  ASSERT_EQ(cudaSuccess, cudaMalloc(&out, 16 * kVectors));
  ASSERT_EQ(cudaSuccess, cudaMemcpy(in, data.data(), 16 * kVectors, cudaMemcpyHostToDevice));
  std::int64_t vectors = kVectors;
  std::array<void*, 3> arguments{&in, &out, &vectors};
  for (const OverlapPlan& under : {OverlapPlan{}, *plan}) {
    ASSERT_EQ(cudaSuccess, cudaMemset(out, 0, 16 * kVectors));
    ASSERT_EQ(cudaSuccess, cudaDeviceSynchronize());  // the session's streams do not wait for the default one
    const Status launched =
        session->launch(kernel, {(kVectors + 255) / 256, 1, 1}, block, arguments, session->compute_stream(0), under);
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
  ASSERT_EQ(cudaSuccess, cudaStreamGetPriority(static_cast<cudaStream_t>(session->comm_stream(0).native()), &priority));
  EXPECT_EQ(greatest, priority);
}

TEST(LiveSession, TooManyDevicesAreRefusedInOneLine) {
  const Result<Session> session = Session::open({.backend = "cuda", .gpus = 64, .notice = {}});
  ASSERT_FALSE(session);
  if (session.error().kind == ErrorKind::unavailable) GTEST_SKIP() << session.error().message;
  EXPECT_NE(std::string::npos, session.error().message.find("gpus: 64, expected 1 to")) << session.error().message;
}

}  // namespace
}  // namespace elbowroom
