#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom {

/// `gelu`: two matrices, up and down. `swiglu`: a third one gates the first.
enum class Activation { gelu, swiglu };

/// A decoder by its shape. Biases, position embeddings and rotations are not counted.
struct Decoder {
  std::string name = "transformer";
  int layers = 1;
  std::int64_t hidden = 0;
  std::int64_t ffn = 0;
  int heads = 1;
  int kv_heads = 1;             ///< fewer than heads: several of these share their keys and values
  std::int64_t vocabulary = 0;  ///< 0: neither an embedding nor a head
  bool tied = false;            ///< the head is the embedding
  Activation activation = Activation::gelu;
  int experts = 0;                       ///< 0: one feed-forward network for all tokens
  int experts_per_token = 2;             ///< where there are experts
  std::optional<std::int64_t> sequence;  ///< its longest, as published; absent: not said
  std::optional<std::int64_t> head_width =
      std::nullopt;  ///< columns of a head; absent: the width of the model, parted among the heads

  bool operator==(const Decoder&) const = default;
};

struct DecoderPreset {
  std::string_view name;
  Decoder (*decoder)();
  std::string_view source;  ///< who published the shape
};

ELBOWROOM_API std::span<const DecoderPreset> decoder_presets();

/// `invalid_input` names every preset.
ELBOWROOM_API Result<Decoder> find_decoder(std::string_view name);

/// Columns of one attention head.
ELBOWROOM_API std::int64_t head_width(const Decoder& decoder);

/// Of the whole model: matrices and the weights of its norms.
ELBOWROOM_API std::int64_t parameters_of(const Decoder& decoder);

}  // namespace elbowroom
