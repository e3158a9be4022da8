#include "headroom/tune/profile_key.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>

namespace headroom {
namespace {

std::string flop_class(std::int64_t m, std::int64_t n, std::int64_t k) {
  const double flop = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  return fmt::format("2^{} flop", std::ilogb(flop));
}

/// The exponent of the greatest power of two that is not above `value`, which is at least 1.
int exponent(std::int64_t value) { return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value))) - 1; }

std::string byte_class(Bytes size) { return fmt::format("2^{} B", exponent(size.count())); }

std::string class_of(const Compute& compute) {
  if (const auto* tiled = std::get_if<TiledGemm>(&compute)) {
    // The same product in fewer blocks is another schedule.
    const std::optional<Blocks> blocks = compute_blocks(compute);
    return fmt::format("{} 2^{} blocks", flop_class(tiled->m, tiled->n, tiled->k), exponent(blocks ? blocks->count() : 1));
  }
  if (const auto* library = std::get_if<LibraryGemm>(&compute)) return flop_class(library->m, library->n, library->k);
  return byte_class(std::get<Elementwise>(compute).bytes);
}

std::string compute_of(const Compute& compute, const std::optional<KernelFootprint>& footprint) {
  if (footprint) {
    return fmt::format("{}x{} {}+{} {}", footprint->threads.count(), footprint->registers_per_thread.count(),
                       footprint->static_shared.count(), footprint->dynamic_shared.count(), footprint->cluster);
  }
  const auto* library = std::get_if<LibraryGemm>(&compute);
  return library == nullptr ? std::string(kernel_name(compute))
                            : fmt::format("{} {}", kernel_name(compute), to_string(library->dtype));
}

std::string collective_of(const Collective& collective) {
  std::string words = fmt::format("{} {}", to_string(collective.op), to_string(collective.dtype));
  if (collective.comm_blocks) words += fmt::format(" {} blocks", collective.comm_blocks->count());
  if (collective.cluster) words += fmt::format(" cluster {}", *collective.cluster);
  return words;
}

}  // namespace

ProfileKey profile_key(const Scenario& scenario, const std::optional<KernelFootprint>& compute, const Surroundings& surroundings) {
  return {surroundings,
          scenario.gpus,
          std::string(to_string(scenario.pattern)),
          compute_of(scenario.compute, compute),
          class_of(scenario.compute),
          collective_of(scenario.collective),
          byte_class(scenario.collective.bytes)};
}

std::vector<std::string> differences(const ProfileKey& wanted, const ProfileKey& stored) {
  const auto members = [](const ProfileKey& key) {
    const Surroundings& where = key.surroundings;
    return std::array<std::pair<std::string_view, std::string>, 10>{{{"provenance", std::string(to_string(where.provenance))},
                                                                     {"device", where.device},
                                                                     {"driver", where.driver},
                                                                     {"communication library", where.comm_library},
                                                                     {"ranks", std::to_string(key.ranks)},
                                                                     {"pattern", key.pattern},
                                                                     {"compute", key.compute},
                                                                     {"size of compute", key.compute_class},
                                                                     {"collective", key.collective},
                                                                     {"size of collective", key.collective_class}}};
  };
  const auto ours = members(wanted);
  const auto theirs = members(stored);
  std::vector<std::string> found;
  for (std::size_t at = 0; at < ours.size(); ++at) {
    const auto& [name, value] = ours[at];
    if (value != theirs[at].second) found.push_back(fmt::format("{} {}, stored {}", name, value, theirs[at].second));
  }
  return found;
}

std::string to_string(const ProfileKey& key) {
  // The separator is in no member: a reader refuses texts with control characters.
  constexpr char separator = '\x1f';
  return fmt::format("{1}{0}{2}{0}{3}{0}{4}{0}{5}{0}{6}{0}{7}{0}{8}{0}{9}{0}{10}", separator,
                     to_string(key.surroundings.provenance), key.surroundings.device, key.surroundings.driver,
                     key.surroundings.comm_library, key.ranks, key.pattern, key.compute, key.compute_class, key.collective,
                     key.collective_class);
}

}  // namespace headroom
