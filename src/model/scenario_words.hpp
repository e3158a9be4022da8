#pragma once

#include <fmt/format.h>

#include <array>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "elbowroom/model/collective_facts.hpp"
#include "elbowroom/model/scenario.hpp"

// The words of enumerations, read.
namespace elbowroom::detail {

/// "\"f32\", \"bf16\" or \"f16\""
template <class Values, class Word>
std::string alternatives(const Values& values, const Word& word_of_value) {
  std::string words;
  for (const auto& value : values) {
    const bool last = &value == &*std::prev(std::end(values));
    words += fmt::format("{}\"{}\"", words.empty() ? "" : last ? " or " : ", ", std::invoke(word_of_value, value));
  }
  return words;
}

/// Finds the enumerator whose to_string is the word.
template <class Values>
auto word_of(const Values& all) {
  return [&all](std::string_view word) -> std::optional<typename Values::value_type> {
    for (const auto candidate : all) {
      if (to_string(candidate) == word) { return candidate; }
    }
    return std::nullopt;
  };
}

inline constexpr std::array kDataTypes{DataType::f32, DataType::bf16, DataType::f16, DataType::e4m3};
// Kernels, collectives and buffers take fewer of them.
inline constexpr std::array kTiledTypes{DataType::f32, DataType::bf16};
inline constexpr std::array kCollectiveTypes{DataType::f32, DataType::bf16};
inline constexpr std::array kElementwiseTypes{DataType::f32, DataType::bf16, DataType::f16};  // and buffers of modules
inline constexpr std::array kElementwiseOps{ElementwiseOp::gelu, ElementwiseOp::relu, ElementwiseOp::copy};
inline constexpr std::array kPatterns{Pattern::pipeline, Pattern::pair};

inline std::optional<CollectiveOp> collective_of(std::string_view word) {
  for (const CollectiveFacts& facts : collectives()) {
    if (facts.name == word) { return facts.op; }
  }
  return std::nullopt;
}

}  // namespace elbowroom::detail
