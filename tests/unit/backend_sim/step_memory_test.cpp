#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "backend/leaves.hpp"
#include "elbowroom/model/step.hpp"
#include "scenarios.hpp"

namespace elbowroom {
namespace {

TEST(StepMemory, BeyondTheDevicesIsRefusedWithTheSum) {
  BackendOptions options;
  options.device = "a40";
  const std::unique_ptr<Backend> backend = std::move(*detail::open_sim(options));
  // 10 + 10 + 20 + 8 GiB: an A40 has 48.
  Step step = step_of(gelu_all_reduce(mebibytes(64)));
  step.memory = TrainingMemory{mebibytes(10'240), mebibytes(10'240), mebibytes(20'480), mebibytes(8'192)};
  EXPECT_TRUE(backend->prepare(step));
  step.memory->activations = mebibytes(9'216);
  EXPECT_EQ(backend->prepare(step).error().message,
            "memory: 10.0 GiB of parameters, 10.0 of gradients, 20.0 of the optimizer, 9.0 of activations: 49.0 GiB on a rank, "
            "expected at most the 48.0 GiB of a40");
}

}  // namespace
}  // namespace elbowroom
