#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "elbowroom/steps/totals.hpp"
#include "elbowroom/steps/transformer.hpp"

// Requests that tests of training steps share.
namespace elbowroom {

/// Four layers of small matrices, without embedding and head: 4 x (4 + 8) x 64^2 + 8 x 64 = 197,120 parameters.
inline TransformerStep small_request() {
  TransformerStep request;
  request.decoder.layers = 4;
  request.decoder.hidden = 64;
  request.decoder.ffn = 256;
  request.decoder.heads = 4;
  request.decoder.kv_heads = 4;
  request.tokens = 128;
  return request;
}

inline const Operation* operation_named(const Step& step, const std::string& name) {
  for (const Operation& operation : step.operations) {
    if (operation.name == name) { return &operation; }
  }
  return nullptr;
}

inline std::vector<std::string> names_before(const Step& step, const std::string& name) {
  std::vector<std::string> names;
  const Operation* operation = operation_named(step, name);
  if (operation == nullptr) { return names; }
  for (const Dependency& before : operation->after) {
    names.push_back(step.operations[static_cast<std::size_t>(before.operation)].name + (before.of_previous ? "@-1" : ""));
  }
  return names;
}

inline Bytes bytes_of(const Step& step, const std::string& what, int rank = 0) { return totals_of(step, rank).comm[what].bytes; }

}  // namespace elbowroom
