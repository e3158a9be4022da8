#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "elbowroom/model/collective_facts.hpp"
#include "elbowroom/model/scenario.hpp"

// The words of enumerations, read.
namespace elbowroom::detail {

/// Finds the enumerator whose to_string is the word.
template <class Enum, std::size_t N>
auto word_of(const std::array<Enum, N>& all) {
  return [&all](std::string_view word) -> std::optional<Enum> {
    for (const Enum candidate : all) {
      if (to_string(candidate) == word) { return candidate; }
    }
    return std::nullopt;
  };
}

inline constexpr std::array kDataTypes{DataType::f32, DataType::bf16};
inline constexpr std::array kElementwiseOps{ElementwiseOp::gelu, ElementwiseOp::relu, ElementwiseOp::copy};
inline constexpr std::array kPatterns{Pattern::pipeline, Pattern::pair};

inline std::optional<CollectiveOp> collective_of(std::string_view word) {
  for (const CollectiveFacts& facts : collectives()) {
    if (facts.name == word) { return facts.op; }
  }
  return std::nullopt;
}

}  // namespace elbowroom::detail
