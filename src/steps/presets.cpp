// Shapes as their authors published them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "elbowroom/steps/decoder.hpp"

namespace elbowroom {
namespace {

// Vocabularies are rounded up to the next multiple of 64, as training programs pad them.
constexpr std::int64_t kGptVocabulary = 50'304;  // of 50,257

Decoder gpt(std::string name, int layers, std::int64_t hidden, int heads, std::int64_t sequence) {
  return {std::move(name), layers, hidden, 4 * hidden, heads, heads, kGptVocabulary, true, Activation::gelu, 0, 2, sequence};
}

Decoder llama(std::string name, int layers, std::int64_t hidden, std::int64_t ffn, int heads, int kv_heads, std::int64_t vocabulary,
              std::int64_t sequence) {
  return {std::move(name), layers, hidden, ffn, heads, kv_heads, vocabulary, false, Activation::swiglu, 0, 2, sequence};
}

Decoder gpt2() { return gpt("gpt-2", 12, 768, 12, 1'024); }
Decoder gpt3() { return gpt("gpt-3-175b", 96, 12'288, 96, 2'048); }
Decoder llama2_7b() { return llama("llama-2-7b", 32, 4'096, 11'008, 32, 32, 32'000, 4'096); }
Decoder llama2_70b() { return llama("llama-2-70b", 80, 8'192, 28'672, 64, 8, 32'000, 4'096); }
Decoder llama3_8b() { return llama("llama-3-8b", 32, 4'096, 14'336, 32, 8, 128'256, 8'192); }
Decoder llama3_70b() { return llama("llama-3-70b", 80, 8'192, 28'672, 64, 8, 128'256, 8'192); }
Decoder llama3_405b() { return llama("llama-3-405b", 126, 16'384, 53'248, 128, 8, 128'256, 8'192); }
Decoder mistral_7b() { return llama("mistral-7b", 32, 4'096, 14'336, 32, 8, 32'000, 8'192); }

Decoder mixtral_8x7b() {
  Decoder decoder = llama("mixtral-8x7b", 32, 4'096, 14'336, 32, 8, 32'000, 8'192);
  decoder.experts = 8;
  decoder.experts_per_token = 2;
  return decoder;
}

constexpr std::string_view kLlama2 = "Touvron et al. 2023, arXiv 2307.09288, and its model card";
constexpr std::string_view kLlama3 = "Grattafiori et al. 2024, arXiv 2407.21783, table 3, and its model card";

constexpr std::array kPresets{
    DecoderPreset{"gpt-2", gpt2, "Radford et al. 2019, Language Models are Unsupervised Multitask Learners, table 2"},
    DecoderPreset{"gpt-3-175b", gpt3, "Brown et al. 2020, arXiv 2005.14165, table 2.1"},
    DecoderPreset{"llama-2-7b", llama2_7b, kLlama2},
    DecoderPreset{"llama-2-70b", llama2_70b, kLlama2},
    DecoderPreset{"llama-3-8b", llama3_8b, kLlama3},
    DecoderPreset{"llama-3-70b", llama3_70b, kLlama3},
    DecoderPreset{"llama-3-405b", llama3_405b, kLlama3},
    DecoderPreset{"mistral-7b", mistral_7b, "Jiang et al. 2023, arXiv 2310.06825, table 1"},
    DecoderPreset{"mixtral-8x7b", mixtral_8x7b, "Jiang et al. 2024, arXiv 2401.04088, table 1"},
};

}  // namespace

std::span<const DecoderPreset> decoder_presets() { return kPresets; }

Result<Decoder> find_decoder(std::string_view name) {
  const auto found = std::ranges::find(kPresets, name, &DecoderPreset::name);
  if (found != kPresets.end()) { return found->decoder(); }
  std::string names;
  for (const DecoderPreset& preset : kPresets) { names += fmt::format("{}{}", names.empty() ? "" : ", ", preset.name); }
  return invalid_input(fmt::format("'{}', expected one of {}", name, names));
}

std::int64_t head_width(const Decoder& decoder) { return decoder.head_width.value_or(decoder.hidden / decoder.heads); }

std::int64_t parameters_of(const Decoder& decoder) {
  const std::int64_t attention = 2 * decoder.hidden * head_width(decoder) * (decoder.heads + decoder.kv_heads);
  const std::int64_t matrices = decoder.activation == Activation::swiglu ? 3 : 2;
  const std::int64_t network = matrices * decoder.hidden * decoder.ffn;
  const std::int64_t feed_forward =
      decoder.experts == 0 ? network : decoder.experts * network + decoder.hidden * decoder.experts;  // with the router
  const std::int64_t ends =
      decoder.vocabulary * decoder.hidden * (decoder.tied ? 1 : 2) + (decoder.vocabulary > 0 ? decoder.hidden : 0);
  return decoder.layers * (attention + feed_forward + 2 * decoder.hidden) + ends;
}

}  // namespace elbowroom
