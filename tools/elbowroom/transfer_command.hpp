#pragma once

#include <optional>
#include <string>
#include <vector>

#include "case_options.hpp"

namespace elbowroom {

struct TransferArguments {
  std::vector<std::string> profiles;  ///< files
  std::optional<int> trials;
  std::optional<std::string> json_file;
  std::optional<std::string> markdown_file;
  bool dry_run = false;
};

/// `bench --transfer`: runs what each profile offers in each case, prints what it costs, and writes an `elbowroom.transfer/1`
/// document after each case. The value is the exit code.
int run_transfer_command(const CaseOptions& cases, const TransferArguments& arguments);

}  // namespace elbowroom
