#include <gtest/gtest.h>

#include "elbowroom/steps/decoder.hpp"

namespace elbowroom {
namespace {

// Published counts: the model cards say 8,030,261,248 and 70,553,706,496 for Llama 3, 6,738,415,616 and 68,976,648,192 for Llama 2,
// 7,241,732,096 for Mistral and 46,702,792,704 for Mixtral. Of the GPTs biases and positions are not counted and the vocabulary is
// padded: 12 x (12 x 768^2 + 2 x 768) + 50,304 x 768 + 768 = 123,587,328 of 124 million.
TEST(Presets, HaveThePublishedNumberOfParameters) {
  const auto count = [](const char* name) { return parameters_of(*find_decoder(name)); };
  EXPECT_EQ(count("llama-3-8b"), 8'030'261'248);
  EXPECT_EQ(count("llama-3-70b"), 70'553'706'496);
  EXPECT_EQ(count("llama-2-7b"), 6'738'415'616);
  EXPECT_EQ(count("llama-2-70b"), 68'976'648'192);
  EXPECT_EQ(count("mistral-7b"), 7'241'732'096);
  EXPECT_EQ(count("mixtral-8x7b"), 46'702'792'704);
  EXPECT_EQ(count("gpt-2"), 123'587'328);
  EXPECT_NEAR(static_cast<double>(count("gpt-3-175b")), 175e9, 1e9);
  EXPECT_NEAR(static_cast<double>(count("llama-3-405b")), 405e9, 1e9);
}

TEST(Presets, NameTheirSourceAndEachOther) {
  for (const DecoderPreset& preset : decoder_presets()) {
    EXPECT_EQ(find_decoder(preset.name)->name, preset.name);
    EXPECT_FALSE(preset.source.empty());
  }
  EXPECT_EQ(
      find_decoder("gpt-9").error().message,
      "'gpt-9', expected one of gpt-2, gpt-3-175b, llama-2-7b, llama-2-70b, llama-3-8b, llama-3-70b, llama-3-405b, mistral-7b, "
      "mixtral-8x7b");
}

}  // namespace
}  // namespace elbowroom
