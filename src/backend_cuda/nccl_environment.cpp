#include "backend_cuda/nccl_environment.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "plan/control_name.hpp"

namespace elbowroom::cuda {
namespace {

std::string_view value_of(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

}  // namespace

Status peers_allowed() {
  const std::string_view disabled = value_of("NCCL_P2P_DISABLE");
  const std::string_view level = value_of("NCCL_P2P_LEVEL");
  if (disabled == "1") { return unavailable("NCCL_P2P_DISABLE=1 rules out copies between GPUs"); }
  if (level == "LOC" || level == "0") { return unavailable(fmt::format("NCCL_P2P_LEVEL={} rules out copies between GPUs", level)); }
  return {};
}

Status comm_threads_possible(const CommSettings& settings) {
  if (!settings.comm_threads) { return {}; }
  const std::string wanted = std::to_string(settings.comm_threads->count());
  const std::string_view fixed = value_of("NCCL_NTHREADS");
  if (fixed == wanted) { return {}; }
  return invalid_input(elbowroom::detail::refusal_of<&OverlapPlan::comm_threads>(
      fmt::format("{}, but NCCL takes them from its environment when the process starts; start it with "
                  "NCCL_NTHREADS={} (it is {})",
                  wanted, wanted, fixed.empty() ? "not set" : fixed)));
}

}  // namespace elbowroom::cuda
