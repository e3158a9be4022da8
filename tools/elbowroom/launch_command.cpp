#include "launch_command.hpp"

#include <fmt/format.h>

#include <memory>
#include <string_view>

#include "console.hpp"
#include "exit_code.hpp"
#include "rank_processes.hpp"
#include "ranks/place.hpp"

namespace elbowroom {
namespace {

constexpr std::string_view kLaunch = "elbowroom launch";

int launch(int ranks, const std::optional<std::vector<std::string>>& command) {
  if (ranks < 1 || ranks > ranks::kMostRanks)
    return complain(kLaunch, invalid_input(fmt::format("-n: {}, expected 1 to {}", ranks, ranks::kMostRanks)));
  if (!command || command->empty()) return complain(kLaunch, invalid_input("no command, expected one after --"));
  const Result<RanksEnd> end = RankProcesses(*command, ranks).run();
  if (!end) return complain(kLaunch, end.error());
  if (!end->problem.empty()) print_notice(kLaunch, end->problem);
  return end->exit_code;
}

}  // namespace

void add_launch_command(CLI::App& app, const std::optional<std::vector<std::string>>& command, std::function<int()>& chosen) {
  CLI::App* own = app.add_subcommand("launch", "Starts a command on this host once for each rank, as bench and tune want it");
  own->footer("Call: elbowroom launch -n N -- COMMAND [ARGUMENTS]\nWhat follows the first -- is the command, run as it is.");
  const auto ranks = std::make_shared<int>(0);
  own->add_option("-n,--ranks", *ranks, "Number of ranks, one for each GPU")->required();
  own->callback([ranks, command, &chosen] { chosen = [ranks, command] { return launch(*ranks, command); }; });
}

}  // namespace elbowroom
