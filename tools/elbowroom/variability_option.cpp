#include "variability_option.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <string_view>

#include "base/number_of.hpp"

namespace elbowroom {
namespace {

Result<std::vector<OfRank>> of_ranks(std::string_view option, const std::vector<std::string>& texts) {
  std::vector<OfRank> made;
  for (const std::string_view text : texts) {
    const std::size_t sign = text.find('=');
    const auto rank = detail::number_of<int>(text.substr(0, sign));
    const auto value = sign < text.size() ? detail::number_of<double>(text.substr(sign + 1)) : std::nullopt;
    if (!rank || !value) { return invalid_input(fmt::format("{}: '{}', expected a rank and a number as in 3=1.2", option, text)); }
    made.push_back({*rank, *value});
  }
  return made;
}

}  // namespace

void add_variability_options(CLI::App& command, VariabilityOption& option) {
  command.add_option("--jitter", option.jitter,
                     "Percent: standard deviation of each rank's computing time, drawn from --seed; of the simulator");
  command
      .add_option("--straggler", option.stragglers, "RANK=FACTOR: a throttled GPU computes FACTOR times as long; of the simulator")
      ->allow_extra_args(false);
  command.add_option("--slow-link", option.slow_links, "RANK=SHARE: a GPU's links reach SHARE of their rate; of the simulator")
      ->allow_extra_args(false);
}

Result<Variability> variability_of(const VariabilityOption& option, int ranks) {
  Variability made;
  made.jitter = option.jitter;
  Result<std::vector<OfRank>> stragglers = of_ranks("--straggler", option.stragglers);
  if (!stragglers) { return stragglers.error(); }
  made.stragglers = *std::move(stragglers);
  Result<std::vector<OfRank>> slow_links = of_ranks("--slow-link", option.slow_links);
  if (!slow_links) { return slow_links.error(); }
  made.slow_links = *std::move(slow_links);
  if (Status good = check(made, ranks); !good) { return good.error(); }
  return made;
}

}  // namespace elbowroom
