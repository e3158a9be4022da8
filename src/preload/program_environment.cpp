#include "preload/program_environment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string_view>

#include "elbowroom/model/comm_environment.hpp"
#include "preload/backend.hpp"

namespace elbowroom::preload {
namespace {

/// Its runtime ends a program in which another library stands before it.
bool is_address_sanitizer(std::string_view file) { return file.starts_with("libasan.so") || file.starts_with("libclang_rt.asan"); }

bool is_ours(std::string_view file) {
  return file == preloaded_library(RunBackend::cuda) || file == preloaded_library(RunBackend::hip);
}

}  // namespace

std::string preload_list(const std::string& library, const Variables& environment) {
  const std::string before = value_of(environment, "LD_PRELOAD").value_or("");
  std::string list = library;
  std::string_view rest = before;
  while (!rest.empty()) {
    const std::string_view entry = rest.substr(0, rest.find_first_of(": "));
    const std::string file = std::filesystem::path(entry).filename().string();
    if (is_address_sanitizer(file)) {
      list = fmt::format("{}:{}", entry, list);
    } else if (!entry.empty() && entry != library && !is_ours(file)) {
      list += fmt::format(":{}", entry);
    }
    rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
  }
  return list;
}

Variables copy_engines(const Controls& controls, const Variables& environment) {
  const bool chosen = value_of(controls.comm_library, kBlockPolicyVariable) || value_of(environment, kBlockPolicyVariable);
  return chosen ? Variables() : Variables{{std::string(kBlockPolicyVariable), "2"}};
}

Variables python_environment(const std::string& hook, const Controls& controls, bool gradient_views, const Variables& environment) {
  const std::optional<std::string> before = word_of(environment, "PYTHONPATH");
  const bool is_first = before && (*before == hook || before->starts_with(hook + ":"));  // a run inside a run
  const std::string list = is_first ? *before : before ? fmt::format("{}:{}", hook, *before) : hook;
  Variables changes = {{"PYTHONPATH", list}, {kPythonVariable, "1"}};
  std::ranges::copy(copy_engines(controls, environment), std::back_inserter(changes));
  if (gradient_views) { changes.emplace_back(kPythonViewsVariable, "1"); }
  return changes;
}

}  // namespace elbowroom::preload
