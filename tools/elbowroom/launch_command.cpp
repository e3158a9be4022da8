#include "launch_command.hpp"

#include <fmt/format.h>

#include <memory>
#include <string_view>

#include "base/most_ranks.hpp"
#include "console.hpp"
#include "exit_code.hpp"
#include "rank_processes.hpp"

namespace elbowroom {
namespace {

constexpr std::string_view kLaunch = "elbowroom launch";

int launch(int ranks, int nodes, const std::optional<std::vector<std::string>>& command) {
  if (ranks < 1 || ranks > kMostRanks) {
    return complain(kLaunch, invalid_input(fmt::format("-n: {}, expected 1 to {}", ranks, kMostRanks)));
  }
  if (nodes < 1 || ranks % nodes != 0) {
    return complain(kLaunch, invalid_input(fmt::format("--nodes: {}, expected a divisor of {} (ranks)", nodes, ranks)));
  }
  if (!command || command->empty()) { return complain(kLaunch, invalid_input("no command, expected one after --")); }
  const Result<RanksEnd> end = RankProcesses(*command, ranks, nodes).run();
  if (!end) { return complain(kLaunch, end.error()); }
  if (end->problem) { print_notice(kLaunch, *end->problem); }
  return end->failure.value_or(exit_ok);
}

}  // namespace

void add_launch_command(CLI::App& app, const std::optional<std::vector<std::string>>& command, std::function<int()>& chosen) {
  CLI::App* own = app.add_subcommand("launch", "Starts a command on this host once for each rank, as bench and tune want it");
  own->footer("Call: elbowroom launch -n N -- COMMAND [ARGUMENTS]\nWhat follows the first -- is the command, run as it is.");
  const auto ranks = std::make_shared<int>(0);
  own->add_option("-n,--ranks", *ranks, "Number of ranks, one for each GPU")->required();
  const auto nodes = std::make_shared<int>(1);
  own->add_option("--nodes", *nodes, "Parts of the ranks that NCCL takes for hosts: it goes by sockets between them, over loopback")
      ->capture_default_str();
  own->callback([ranks, nodes, command, &chosen] { chosen = [=] { return launch(*ranks, *nodes, command); }; });
}

}  // namespace elbowroom
