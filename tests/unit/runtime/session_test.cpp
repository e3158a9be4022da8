#include "elbowroom/runtime/session.hpp"

#include <gtest/gtest.h>

#include "elbowroom/interop/cuda.hpp"
#include "elbowroom/interop/hip.hpp"

// Sessions run over the fake HIP in tests/hip and on GPUs in tests/device; here is what needs neither.
namespace elbowroom {
namespace {

TEST(Session, OfTheSimulatorIsUnavailable) {
  const Result<Session> session = Session::open({.backend = "sim", .gpus = 1, .notice = {}});
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().kind, ErrorKind::unavailable);
}

TEST(Session, RefusesDevicesThatAreNotThere) {
  const Result<Session> session = Session::open({.backend = "sim", .gpus = 0, .notice = {}});
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().message.find("gpus: 0, expected 1 to "), 0U) << session.error().message;
}

TEST(Interop, TellsVendorsApart) {
  int there = 0;
  // Opaque: only the address matters.
  auto* const cuda = reinterpret_cast<CUstream_st*>(&there);
  auto* const hip = reinterpret_cast<ihipStream_t*>(&there);
  const Result<Stream> of_cuda = interop::stream(DeviceIndex{1}, cuda);
  const Result<Stream> of_hip = interop::stream(DeviceIndex{1}, hip);
  ASSERT_TRUE(of_cuda && of_hip);
  EXPECT_NE(*of_cuda, *of_hip);
  EXPECT_EQ(of_cuda->device(), DeviceIndex{1});
  EXPECT_EQ(*interop::cuda_stream(*of_cuda), cuda);
  EXPECT_EQ(*interop::hip_stream(*of_hip), hip);
  EXPECT_EQ(interop::cuda_stream(*of_hip).error().message, "stream: of hip, expected one of cuda");
}

void scale(float*, int) {}

TEST(Interop, TakesParametersFromTheKernelsOwnSymbol) {
  int there = 0;
  const auto kernel = interop::kernel(scale, reinterpret_cast<CUfunc_st*>(&there));
  static_assert(std::is_same_v<decltype(kernel), const Result<KernelOf<float*, int>>>);
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->untyped().native(), &there);
  EXPECT_EQ(kernel->untyped().backend(), "cuda");
}

TEST(KernelArguments, AreTheAddressesOfTheirCopies) {
  float value = 0;
  KernelArguments<float*, int> arguments(&value, 7);
  ASSERT_EQ(arguments.addresses().size(), 2U);
  EXPECT_EQ(*static_cast<float**>(arguments.addresses()[0]), &value);
  EXPECT_EQ(*static_cast<int*>(arguments.addresses()[1]), 7);
}

}  // namespace
}  // namespace elbowroom
