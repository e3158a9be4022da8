#include "elbowroom/model/training_memory.hpp"

#include <gtest/gtest.h>

namespace elbowroom {
namespace {

// 1.5 + 1.5 + 9 + 3 GiB.
constexpr TrainingMemory kFifteen{mebibytes(1'536), mebibytes(1'536), mebibytes(9'216), mebibytes(3'072)};

TEST(TrainingMemory, SaysTheSum) {
  EXPECT_EQ(in_words(kFifteen), "1.5 GiB of parameters, 1.5 of gradients, 9.0 of the optimizer, 3.0 of activations: 15.0 GiB");
}

TEST(TrainingMemory, FitsWhatIsNoSmaller) {
  EXPECT_TRUE(check_fits(kFifteen, mebibytes(15 * 1'024), "d").ok());
  EXPECT_EQ(check_fits(kFifteen, mebibytes(15 * 1'024) - Bytes(1), "d").error().message,
            in_words(kFifteen) + " on a rank, expected at most the 15.0 GiB of d");
}

}  // namespace
}  // namespace elbowroom
