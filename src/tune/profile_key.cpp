#include "elbowroom/tune/profile_key.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>

namespace elbowroom {
namespace {

constexpr std::int64_t kGreatestNumber = 0x7fff'ffff;
constexpr std::int64_t kGreatestCluster = 64;
constexpr std::int64_t kGreatestExponent = 127;

using Versions = std::span<const std::pair<std::string, std::string>>;

/// Where NCCL and RCCL take from the environment by which links, algorithm and blocks they move data.
constexpr std::array<std::string_view, 23> kMovesData = {"NCCL_ALGO",          "NCCL_BUFFSIZE",          "NCCL_CGA_CLUSTER_SIZE",
                                                         "NCCL_CTA_POLICY",    "NCCL_CUMEM_ENABLE",      "NCCL_MAX_CTAS",
                                                         "NCCL_MAX_NCHANNELS", "NCCL_MAX_P2P_NCHANNELS", "NCCL_MIN_CTAS",
                                                         "NCCL_MIN_NCHANNELS", "NCCL_MIN_P2P_NCHANNELS", "NCCL_NTHREADS",
                                                         "NCCL_NVLS_ENABLE",   "NCCL_NVLS_NCHANNELS",    "NCCL_P2P_DIRECT_DISABLE",
                                                         "NCCL_P2P_DISABLE",   "NCCL_P2P_LEVEL",         "NCCL_P2P_USE_CUDA_MEMCPY",
                                                         "NCCL_PROTO",         "NCCL_SHM_DISABLE",       "NCCL_SYM_CTAS",
                                                         "NCCL_TUNER_PLUGIN",  "NCCL_WIN_ENABLE"};

std::string version_of(Versions versions, std::string_view name) {
  const auto found = std::ranges::find(versions, name, &Versions::value_type::first);
  return found == versions.end() ? "" : found->second;
}

/// A profile holds no control characters, an environment may; blanks stand between settings.
std::string as_a_word(std::string text) {
  std::ranges::replace_if(text, [](unsigned char c) { return c <= ' ' || c == 0x7f; }, '?');
  return text;
}

std::string comm_library_of(Versions versions) {
  for (const std::string_view library : {"nccl", "rccl"}) {
    const std::string version = version_of(versions, library);
    if (version.empty()) continue;
    std::string words = fmt::format("{} {}", library, version);
    for (const std::string_view name : kMovesData) {
      const auto set = std::ranges::find(versions, name, &Versions::value_type::first);
      if (set != versions.end()) words += fmt::format(" {}={}", name, as_a_word(set->second));
    }
    return words;
  }
  return "";
}

double flop(std::int64_t m, std::int64_t n, std::int64_t k) {
  return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
}

std::string flop_class(std::int64_t m, std::int64_t n, std::int64_t k) {
  return fmt::format("2^{} flop", std::ilogb(flop(m, n, k)));
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

/// What stands before `end`, a whole number of 31 bits; takes both from `text`. Absent: something else stands there.
std::optional<std::int64_t> taken(std::string_view& text, std::string_view end) {
  const std::size_t length = end.empty() ? text.size() : text.find(end);
  if (length == std::string_view::npos) return std::nullopt;
  std::int64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + length, number);
  if (error != std::errc() || rest != text.data() + length || number < 0 || number > kGreatestNumber) return std::nullopt;
  text.remove_prefix(length + end.size());
  return number;
}

}  // namespace

CaseSize case_size(const Scenario& scenario) {
  double compute = 0;
  if (const auto* tiled = std::get_if<TiledGemm>(&scenario.compute)) compute = flop(tiled->m, tiled->n, tiled->k);
  if (const auto* library = std::get_if<LibraryGemm>(&scenario.compute)) compute = flop(library->m, library->n, library->k);
  if (const auto* elementwise = std::get_if<Elementwise>(&scenario.compute)) {
    compute = static_cast<double>(elementwise->bytes.count());
  }
  return {scenario.iterations, compute, scenario.collective.bytes};
}

bool alike(const CaseSize& one, const CaseSize& other) {
  const auto balance = [](const CaseSize& size) { return size.compute / static_cast<double>(size.collective.count()); };
  constexpr double most = 1.25;
  const double ratio = balance(one) / balance(other);
  return (one.iterations == 1) == (other.iterations == 1) && ratio <= most && ratio >= 1 / most;
}

Surroundings surroundings(Provenance provenance, std::string device, Versions versions) {
  const std::string simulator = version_of(versions, "simulator");
  std::string driver = simulator.empty() ? version_of(versions, "driver") : fmt::format("simulator {}", simulator);
  return {provenance, std::move(device), std::move(driver), comm_library_of(versions)};
}

ProfileKey profile_key(const Scenario& scenario, const std::optional<KernelFootprint>& compute, const Surroundings& surroundings) {
  return {surroundings,
          scenario.gpus,
          std::string(to_string(scenario.pattern)),
          compute_of(scenario.compute, compute),
          class_of(scenario.compute),
          collective_of(scenario.collective),
          byte_class(scenario.collective.bytes)};
}

std::optional<KernelFootprint> footprint_of(const ProfileKey& key) {
  std::string_view text = key.compute;
  const auto threads = taken(text, "x");
  const auto registers = threads ? taken(text, " ") : std::nullopt;
  const auto fixed = registers ? taken(text, "+") : std::nullopt;
  const auto dynamic = fixed ? taken(text, " ") : std::nullopt;
  const auto cluster = dynamic ? taken(text, "") : std::nullopt;
  if (!cluster || *cluster < 1 || *cluster > kGreatestCluster) return std::nullopt;
  return KernelFootprint{Threads(*threads), Registers(*registers), Bytes(*fixed), Bytes(*dynamic), static_cast<int>(*cluster)};
}

std::optional<ProductClass> product_of(const ProfileKey& key) {
  for (const DataType dtype : {DataType::f32, DataType::bf16}) {
    if (key.compute != compute_of(LibraryGemm{.m = 1, .n = 1, .k = 1, .dtype = dtype}, std::nullopt)) continue;
    std::string_view text = key.compute_class;
    if (!text.starts_with("2^")) return std::nullopt;
    text.remove_prefix(2);
    const auto exponent = taken(text, " flop");
    if (!exponent || !text.empty() || *exponent < 1 || *exponent > kGreatestExponent) return std::nullopt;
    return ProductClass{dtype, static_cast<int>(*exponent)};
  }
  return std::nullopt;
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

}  // namespace elbowroom
