#include "preload/same_bits.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "elbowroom/model/comm_environment.hpp"
#include "preload/xla_buffers.hpp"

namespace elbowroom::preload {
namespace {

bool changes_sums(const std::pair<std::string, std::string>& setting) {
  return orders_sums(setting.first) || setting.first == kSymmetricBlocksVariable;
}

}  // namespace

std::optional<std::string> same_bits_asked_by(bool option, const Variables& environment) {
  if (option) { return "--same-bits"; }
  // These two values are how cuBLAS is made deterministic, which PyTorch's deterministic mode insists on.
  const std::optional<std::string> workspace = word_of(environment, "CUBLAS_WORKSPACE_CONFIG");
  if (workspace == ":4096:8" || workspace == ":16:8") { return fmt::format("CUBLAS_WORKSPACE_CONFIG={}", *workspace); }
  for (const CommVariable& variable : comm_variables()) {
    if (variable.fixes != CommVariable::Fixes::algorithm) { continue; }
    if (const auto value = word_of(environment, variable.name)) { return fmt::format("{}={}", variable.name, *value); }
  }
  return std::nullopt;
}

Status check_same_bits(const Controls& asked) {
  if (asked.sm_target) {
    return invalid_input(
        "--sm-target: not beside --same-bits, because cuBLAS may take another algorithm for it; expected one of them");
  }
  if (asked.xla_buffers.value_or(false)) {
    return invalid_input(
        fmt::format("--set: {} not beside --same-bits, because its kernels add in another order than a ring; expected one of them",
                    kXlaBuffers));
  }
  const auto setting = std::ranges::find_if(asked.comm_library, changes_sums);
  if (setting == asked.comm_library.end()) { return {}; }
  return invalid_input(fmt::format(
      "--set: {} not beside --same-bits, because the order of a sum's terms depends on it; expected one of them", setting->first));
}

std::optional<std::string> leave_other_bits(Controls& offered) {
  std::vector<std::string> left;
  if (!offered.product_targets.empty()) { left.emplace_back("SM targets"); }
  offered.product_targets.clear();
  if (std::erase_if(offered.comm_library, changes_sums) > 0) { left.emplace_back("blocks and threads of collectives"); }
  if (left.empty()) { return std::nullopt; }
  return fmt::format("{}", fmt::join(left, ", "));
}

}  // namespace elbowroom::preload
