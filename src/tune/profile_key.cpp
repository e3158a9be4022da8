#include "elbowroom/tune/profile_key.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string_view>
#include <utility>
#include <variant>

#include "base/mixed_hash.hpp"
#include "base/text_hash.hpp"
#include "elbowroom/model/comm_environment.hpp"

namespace elbowroom {
namespace {

using Versions = std::span<const std::pair<std::string, std::string>>;

std::optional<std::string> value_of(Versions versions, std::string_view name) {
  const auto found = std::ranges::find(versions, name, &Versions::value_type::first);
  return found == versions.end() ? std::nullopt : std::optional(found->second);
}

/// A profile holds no control characters, an environment may; blanks stand between settings.
std::string as_a_word(std::string text) {
  std::ranges::replace_if(text, [](unsigned char c) { return c <= ' ' || c == 0x7f; }, '?');
  return text;
}

std::optional<CommLibrary> comm_library_of(Versions versions) {
  for (const char* const library : {"nccl", "rccl"}) {
    std::optional<std::string> version = value_of(versions, library);
    if (version) { return CommLibrary{library, std::move(version), comm_settings(versions)}; }
  }
  return std::nullopt;
}

/// The exponent of the greatest power of two that is not above `value`, which is at least 1.
int exponent(std::int64_t value) { return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value))) - 1; }

ComputeClass flop_class(const Compute& compute) { return {ComputeClass::Unit::flop, std::ilogb(flop_of(compute)), std::nullopt}; }

/// What the work of two kernels of one kind is compared by; at least 1.
double amount_of(const Compute& compute) {
  if (const auto* elementwise = std::get_if<Elementwise>(&compute)) { return static_cast<double>(elementwise->bytes.count()); }
  const double flop = flop_of(compute);
  if (flop > 0) { return flop; }
  if (const auto* described = std::get_if<FootprintKernel>(&compute)) {
    return std::max(1.0, static_cast<double>(described->blocks.count()) * described->block_time.count());
  }
  return std::max(1.0, static_cast<double>(memory_of(compute).count()));
}

ComputeClass class_of(const Compute& compute) {
  if (std::holds_alternative<TiledGemm>(compute)) {
    // The same product in fewer blocks is another schedule.
    const std::optional<Blocks> blocks = compute_blocks(compute);
    ComputeClass size = flop_class(compute);
    size.blocks = exponent(blocks ? blocks->count() : 1);
    return size;
  }
  if (std::holds_alternative<LibraryGemm>(compute)) { return flop_class(compute); }
  ComputeClass size{ComputeClass::Unit::bytes, exponent(static_cast<std::int64_t>(amount_of(compute))), std::nullopt};
  // Those that a document describes, whose blocks are its own choice.
  if (const std::optional<Blocks> blocks = compute_blocks(compute)) { size.blocks = exponent(blocks->count()); }
  return size;
}

KernelKey kernel_of(const Compute& compute, const std::optional<KernelFootprint>& footprint) {
  if (footprint) { return *footprint; }
  if (const auto* library = std::get_if<LibraryGemm>(&compute)) { return NamedKernel{KernelKind::library_gemm, library->dtype}; }
  const bool tiled = std::holds_alternative<TiledGemm>(compute);
  return NamedKernel{tiled ? KernelKind::tiled_gemm : KernelKind::elementwise, std::nullopt};
}

/// In thousandths; none where all are equal, which is what profiles mean that name no shares.
std::vector<int> thousandths(const std::vector<double>& shares) {
  if (shares.empty()) { return {}; }
  const double all = std::accumulate(shares.begin(), shares.end(), 0.0);
  std::vector<int> parts;
  parts.reserve(shares.size());
  for (const double share : shares) { parts.push_back(static_cast<int>(std::lround(1000 * share / all))); }
  return std::ranges::count(parts, parts.front()) == std::ssize(parts) ? std::vector<int>() : parts;
}

CollectiveKey collective_of(const Collective& collective) {
  const std::optional<int> root = collective.root == 0 ? std::nullopt : collective.root;
  return {collective.op, collective.dtype, collective.comm_blocks, collective.cluster, root, thousandths(collective.shares)};
}

}  // namespace

CaseSize case_size(const Scenario& scenario) {
  return {scenario.iterations, amount_of(scenario.compute), scenario.collective.bytes};
}

bool alike(const CaseSize& one, const CaseSize& other) {
  const auto balance = [](const CaseSize& size) { return size.compute / static_cast<double>(size.collective.count()); };
  constexpr double most = 1.25;
  const double ratio = balance(one) / balance(other);
  return (one.iterations == 1) == (other.iterations == 1) && ratio <= most && ratio >= 1 / most;
}

std::vector<std::pair<std::string, std::string>> comm_settings(Versions environment) {
  std::vector<std::pair<std::string, std::string>> settings;
  for (const CommVariable& variable : comm_variables()) {
    const std::optional<std::string> value = variable.moves_data ? value_of(environment, variable.name) : std::nullopt;
    if (value) { settings.emplace_back(variable.name, as_a_word(*value)); }
  }
  return settings;
}

Surroundings surroundings(Provenance provenance, std::string device, Versions versions) {
  const std::optional<std::string> simulator = value_of(versions, "simulator");
  std::optional<std::string> driver = simulator ? fmt::format("simulator {}", *simulator) : value_of(versions, "driver");
  return {provenance, std::move(device), std::move(driver), comm_library_of(versions)};
}

ProfileKey profile_key(const Scenario& scenario, const std::optional<KernelFootprint>& compute, const Surroundings& surroundings) {
  const Collective& collective = scenario.collective;
  return {surroundings, scenario.gpus,
          PairKey{scenario.pattern,
                  kernel_of(scenario.compute, compute),
                  class_of(scenario.compute),
                  collective_of(collective),
                  {exponent(collective.bytes.count())}}};
}

ProfileKey profile_key(const Step& step, const Surroundings& surroundings) {
  Step unnamed = step;
  unnamed.name.clear();
  return {surroundings, step.ranks, StepKey{std::max(detail::hash_of(to_json(unnamed, -1)), std::uint64_t{1})}};
}

std::optional<KernelFootprint> footprint_of(const ProfileKey& key) {
  const auto* pair = std::get_if<PairKey>(&key.what);
  const auto* block = pair != nullptr ? std::get_if<KernelFootprint>(&pair->compute) : nullptr;
  return block != nullptr ? std::optional(*block) : std::nullopt;
}

std::optional<ProductClass> product_of(const ProfileKey& key) {
  const auto* pair = std::get_if<PairKey>(&key.what);
  const auto* kernel = pair != nullptr ? std::get_if<NamedKernel>(&pair->compute) : nullptr;
  // `run` knows no product by another type.
  const bool known = kernel != nullptr && (kernel->dtype == DataType::f32 || kernel->dtype == DataType::bf16);
  const bool product = known && kernel->kind == KernelKind::library_gemm && pair->compute_class.unit == ComputeClass::Unit::flop &&
                       !pair->compute_class.blocks;
  return product ? std::optional(ProductClass{*kernel->dtype, pair->compute_class.exponent}) : std::nullopt;
}

static void mix(detail::MixedHash& hash, const std::string& text) { hash.mix(std::hash<std::string>{}(text)); }

static void mix(detail::MixedHash& hash, const CommLibrary& library) {
  mix(hash, library.name);
  if (library.version) { mix(hash, *library.version); }
  for (const auto& [variable, value] : library.settings) {
    mix(hash, variable);
    mix(hash, value);
  }
}

std::size_t ProfileKeyHash::operator()(const ProfileKey& key) const {
  detail::MixedHash hash;
  mix(hash, key.surroundings.device);
  if (key.surroundings.driver) { mix(hash, *key.surroundings.driver); }
  if (key.surroundings.comm_library) { mix(hash, *key.surroundings.comm_library); }
  // What is left out here is compared all the same.
  hash.mix(key.surroundings.provenance);
  hash.mix(key.ranks);
  if (const auto* step = std::get_if<StepKey>(&key.what)) {
    hash.mix(step->print);
    return hash.value();
  }
  const auto& pair = std::get<PairKey>(key.what);
  hash.mix(pair.pattern);
  if (const auto* block = std::get_if<KernelFootprint>(&pair.compute)) {
    hash.mix(block->threads.count());
    hash.mix(block->registers_per_thread.count());
    hash.mix(block->static_shared.count());
    hash.mix(block->dynamic_shared.count());
  }
  hash.mix(pair.compute_class.exponent);
  hash.mix(pair.collective.op);
  hash.mix(pair.collective.comm_blocks.value_or(Blocks(0)).count());
  hash.mix(pair.collective.root.value_or(0));
  for (const int share : pair.collective.shares) { hash.mix(share); }
  hash.mix(pair.collective_class.exponent);
  return hash.value();
}

namespace {

using NamedWords = std::vector<std::pair<std::string_view, std::string>>;

/// Each member by name, in words. A step and a pair have no name of the last ones in common.
NamedWords members(const ProfileKey& key) {
  const Surroundings& where = key.surroundings;
  NamedWords all{{"provenance", std::string(to_string(where.provenance))},
                 {"device", where.device},
                 {"driver", where.driver.value_or("")},
                 {"communication library", where.comm_library ? in_words(*where.comm_library) : ""},
                 {"ranks", std::to_string(key.ranks)}};
  if (const auto* step = std::get_if<StepKey>(&key.what)) {
    all.emplace_back("step", in_words(*step));
    return all;
  }
  const auto& pair = std::get<PairKey>(key.what);
  all.insert(all.end(), {{"pattern", std::string(to_string(pair.pattern))},
                         {"compute", in_words(pair.compute)},
                         {"size of compute", in_words(pair.compute_class)},
                         {"collective", in_words(pair.collective)},
                         {"size of collective", in_words(pair.collective_class)}});
  return all;
}

}  // namespace

std::vector<std::string> differences(const ProfileKey& wanted, const ProfileKey& stored) {
  const NamedWords ours = members(wanted);
  const NamedWords theirs = members(stored);
  if (wanted.what.index() != stored.what.index()) { return {"a step is no kernel beside a collective"}; }
  std::vector<std::string> found;
  for (std::size_t at = 0; at < ours.size(); ++at) {
    const auto& [name, value] = ours[at];
    if (value != theirs[at].second) { found.push_back(fmt::format("{} {}, stored {}", name, value, theirs[at].second)); }
  }
  return found;
}

std::string to_string(const ProfileKey& key) {
  // The separator is in no member: a reader refuses texts with control characters.
  constexpr char separator = '\x1f';
  std::string line;
  for (const auto& [name, value] : members(key)) { line += (line.empty() ? "" : std::string(1, separator)) + value; }
  return line;
}

}  // namespace elbowroom
