// The run time compiler of a real ROCm, which needs no device: the text compiles for every architecture as the backend compiles it.

#include <gtest/gtest.h>

#include <string>

#include "backend_hip/hiprtc_library.hpp"
#include "backend_hip/kernels/kernel_source.hpp"

namespace elbowroom::hip {
namespace {

// Of the packages that ./dev test-hip installs.
constexpr int kGeneration = 5;

TEST(RunTimeCompiler, CompilesTheKernelsForEveryArchitectureThatItKnows) {
  Result<HiprtcLibrary> compiler = HiprtcLibrary::load(kGeneration);
  ASSERT_TRUE(compiler) << compiler.error().message;
  for (const char* target : {"gfx90a:sramecc+:xnack-", "gfx906:sramecc+:xnack-", "gfx1030"}) {
    const Result<std::string> code = compiler->compile("elbowroom_kernels.hip", kernel_source(), target);
    ASSERT_TRUE(code) << target << ": " << code.error().message;
    for (const char* kernel : {"tiled_gemm_bf16_64x64x32", "elementwise_gelu_f32", "check_collective_bf16", "spin", "await_word"}) {
      EXPECT_NE(code->find(kernel), std::string::npos) << target << " lacks " << kernel;
    }
  }
}

TEST(RunTimeCompiler, SaysWhatIsWrongWithAText) {
  Result<HiprtcLibrary> compiler = HiprtcLibrary::load(kGeneration);
  ASSERT_TRUE(compiler) << compiler.error().message;
  const Result<std::string> code = compiler->compile("broken.hip", "extern \"C\" __global__ void f() { nonsense; }", "gfx90a");
  ASSERT_FALSE(code);
  EXPECT_NE(code.error().message.find("nonsense"), std::string::npos) << code.error().message;
}

}  // namespace
}  // namespace elbowroom::hip
