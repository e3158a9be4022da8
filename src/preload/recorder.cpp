#include "preload/recorder.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "run/recording.hpp"

namespace elbowroom::preload {

Result<Variables> recorder_environment(const RecorderOrder& order, const Variables& environment) {
  const std::optional<std::string> before = word_of(environment, run::kInjectionVariable);
  if (before && std::filesystem::path(*before).filename() != run::kRecordLibrary) {
    return unavailable(fmt::format("{} is '{}' and stays: nothing is recorded", run::kInjectionVariable, *before));
  }
  return Variables{{run::kInjectionVariable, order.library},
                   {run::kRecordDirVariable, order.folder},
                   {run::kRecordBeginVariable, std::to_string(order.begin)},
                   {run::kRecordAfterVariable, std::to_string(order.after)}};
}

}  // namespace elbowroom::preload
