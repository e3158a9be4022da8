#include "preload/recorder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace elbowroom::preload {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

const RecorderOrder kOrder{"/lib/libelbowroom_recorder.so", "/tmp/folder", 1'000, 60'000'000'000};

TEST(RecorderEnvironment, HasCudaLoadTheRecorder) {
  const Result<Variables> changes = recorder_environment(kOrder, {{"CUDA_INJECTION64_PATH", ""}});
  ASSERT_TRUE(changes.ok());
  EXPECT_THAT(*changes, ElementsAre(Pair("CUDA_INJECTION64_PATH", "/lib/libelbowroom_recorder.so"),
                                    Pair("ELBOWROOM_RECORD_DIR", "/tmp/folder"), Pair("ELBOWROOM_RECORD_BEGIN", "1000"),
                                    Pair("ELBOWROOM_RECORD_AFTER", "60000000000")));
}

TEST(RecorderEnvironment, LeavesTheUsersLibraryInPlace) {
  const Result<Variables> refused = recorder_environment(kOrder, {{"CUDA_INJECTION64_PATH", "/opt/nsys.so"}});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "CUDA_INJECTION64_PATH is '/opt/nsys.so' and stays: nothing is recorded");
  EXPECT_TRUE(recorder_environment(kOrder, {{"CUDA_INJECTION64_PATH", "/old/libelbowroom_recorder.so"}}).ok())
      << "a recording inside a recording";
}

}  // namespace
}  // namespace elbowroom::preload
