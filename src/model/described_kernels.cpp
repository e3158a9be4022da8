#include "model/described_kernels.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "elbowroom/model/size.hpp"
#include "model/scenario_words.hpp"
#include "model/step_limits.hpp"

namespace elbowroom::detail {
namespace {

using nlohmann::json;

constexpr std::size_t kMostArguments = 64;
constexpr std::size_t kLongestFile = 4'096;
constexpr Bytes kMostBuffers = mebibytes(std::int64_t{16} << 20);
constexpr std::array<std::int64_t, 3> kLongestGrid{(std::int64_t{1} << 31) - 1, 65'535, 65'535};
constexpr std::array<std::int64_t, 3> kLongestBlock{1'024, 1'024, 64};
constexpr std::int64_t kMostThreads = 1'024;
constexpr int kMostCluster = 16;
constexpr double kLongestBlockTime = 1e9;
constexpr std::int64_t kMostBlockBytes = std::int64_t{1} << 40;
constexpr std::string_view kArgument =
    "{\"buffer\": SIZE} with \"fill\", \"dtype\", \"compared\" as wanted, or a number such as {\"i32\": 4} (i32, i64, f32 or f64)";

constexpr std::array kFills{ModuleBuffer::Fill::zero, ModuleBuffer::Fill::uniform};
std::string_view to_string(ModuleBuffer::Fill fill) { return fill == ModuleBuffer::Fill::zero ? "zero" : "uniform"; }

/// One to three whole numbers from 1, for x, y and z.
Extents read_extents(JsonFields& fields, const char* name, const std::array<std::int64_t, 3>& greatest) {
  const json* value = fields.member(name);
  Extents extents;
  bool good = value != nullptr && value->is_array() && !value->empty() && value->size() <= 3;
  std::size_t at = 0;
  for (std::int64_t* side : {&extents.x, &extents.y, &extents.z}) {
    if (!good || at == value->size()) { break; }
    const json& number = (*value)[at];
    good = number.is_number_unsigned() && number.get<std::uint64_t>() >= 1 &&
           number.get<std::uint64_t>() <= static_cast<std::uint64_t>(greatest[at]);
    if (good) { *side = number.get<std::int64_t>(); }
    ++at;
  }
  if (!good) {
    fields.reject(name, value == nullptr ? "missing" : shown(*value),
                  fmt::format("[X], [X, Y] or [X, Y, Z], each from 1 to {}, {}, {}", greatest[0], greatest[1], greatest[2]));
  }
  return extents;
}

std::optional<Bytes> size_in(const json& value) {
  if (value.is_number_unsigned()) {
    const auto bytes = value.get<std::uint64_t>();
    return bytes <= static_cast<std::uint64_t>(kMostBuffers.count()) ? std::optional(Bytes(static_cast<std::int64_t>(bytes)))
                                                                     : std::nullopt;
  }
  if (!value.is_string()) { return std::nullopt; }
  const Result<Bytes> size = parse_size(value.get_ref<const std::string&>());
  return size ? std::optional(*size) : std::nullopt;
}

template <class All>
auto word_in(const json& object, const char* name, const All& all, typename All::value_type absent)
    -> std::optional<typename All::value_type> {
  const auto member = object.find(name);
  if (member == object.end()) { return absent; }
  if (!member->is_string()) { return std::nullopt; }
  for (const auto one : all) {
    if (to_string(one) == member->get_ref<const std::string&>()) { return one; }
  }
  return std::nullopt;
}

std::optional<ModuleArgument> buffer_in(const json& object) {
  constexpr std::array<std::string_view, 4> known{"buffer", "fill", "dtype", "compared"};
  for (const auto& [name, value] : object.items()) {
    if (std::ranges::find(known, name) == known.end()) { return std::nullopt; }
  }
  const std::optional<Bytes> bytes = size_in(object["buffer"]);
  const auto fill = word_in(object, "fill", kFills, ModuleBuffer::Fill::zero);
  const auto dtype = word_in(object, "dtype", kElementwiseTypes, DataType::f32);
  const auto compared = object.find("compared");
  if (!bytes || !fill || !dtype || (compared != object.end() && !compared->is_boolean())) { return std::nullopt; }
  return ModuleBuffer{*bytes, *fill, *dtype, compared == object.end() || compared->get<bool>()};
}

template <class Whole>
std::optional<ModuleArgument> whole_in(const json& value) {
  if (!value.is_number_integer()) { return std::nullopt; }
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<Whole>::max())) {
    return std::nullopt;
  }
  const auto number = value.get<std::int64_t>();
  if (number < std::numeric_limits<Whole>::min() || number > std::numeric_limits<Whole>::max()) { return std::nullopt; }
  return ModuleArgument(static_cast<Whole>(number));
}

template <class Real>
std::optional<ModuleArgument> real_in(const json& value) {
  if (!value.is_number() || std::abs(value.get<double>()) > static_cast<double>(std::numeric_limits<Real>::max())) {
    return std::nullopt;
  }
  return ModuleArgument(static_cast<Real>(value.get<double>()));
}

using ScalarReader = std::optional<ModuleArgument> (*)(const json&);
constexpr std::array<std::pair<const char*, ScalarReader>, 4> kScalars{
    {{"i32", whole_in<std::int32_t>}, {"i64", whole_in<std::int64_t>}, {"f32", real_in<float>}, {"f64", real_in<double>}}};

std::optional<ModuleArgument> argument_in(const json& object) {
  if (!object.is_object()) { return std::nullopt; }
  if (object.contains("buffer")) { return buffer_in(object); }
  if (object.size() != 1) { return std::nullopt; }
  for (const auto& [name, read] : kScalars) {
    if (object.contains(name)) { return read(object[name]); }
  }
  return std::nullopt;
}

std::vector<ModuleArgument> read_arguments(JsonFields& fields) {
  std::vector<ModuleArgument> arguments;
  const json* all = fields.member("arguments");
  if (all == nullptr) { return arguments; }
  if (!all->is_array() || all->size() > kMostArguments) {
    fields.reject("arguments", shown(*all), fmt::format("a list of at most {}", kMostArguments));
    return arguments;
  }
  for (const json& object : *all) {
    const std::optional<ModuleArgument> argument = argument_in(object);
    if (!argument) {
      fields.reject(fmt::format("arguments[{}]", arguments.size()).c_str(), shown(object), kArgument);
      return arguments;
    }
    arguments.push_back(*argument);
  }
  return arguments;
}

nlohmann::ordered_json extents_json(const Extents& extents) {
  return nlohmann::ordered_json::array({extents.x, extents.y, extents.z});
}

struct ArgumentJson {
  nlohmann::ordered_json operator()(const ModuleBuffer& buffer) const {
    nlohmann::ordered_json out{
        {"buffer", format_size(buffer.bytes)}, {"fill", to_string(buffer.fill)}, {"dtype", elbowroom::to_string(buffer.dtype)}};
    if (!buffer.compared) { out["compared"] = false; }
    return out;
  }
  nlohmann::ordered_json operator()(std::int32_t number) const { return {{"i32", number}}; }
  nlohmann::ordered_json operator()(std::int64_t number) const { return {{"i64", number}}; }
  nlohmann::ordered_json operator()(float number) const { return {{"f32", number}}; }
  nlohmann::ordered_json operator()(double number) const { return {{"f64", number}}; }
};

Error wrong(std::string_view field, std::int64_t value, std::string_view expected) {
  return invalid_input(fmt::format("compute.{}: {}, expected {}", field, value, expected));
}

Status check_range(std::string_view field, std::int64_t value, std::int64_t least, std::int64_t greatest) {
  return value >= least && value <= greatest ? Status() : wrong(field, value, fmt::format("{} to {}", least, greatest));
}

Status check_extents(std::string_view name, const Extents& extents, const std::array<std::int64_t, 3>& greatest) {
  const std::array sides{extents.x, extents.y, extents.z};
  for (std::size_t at = 0; at < sides.size(); ++at) {
    if (Status fits = check_range(fmt::format("{}[{}]", name, at), sides[at], 1, greatest[at]); !fits) { return fits; }
  }
  return {};
}

Status check_cluster(int cluster, std::int64_t blocks, std::string_view of) {
  if (Status fits = check_range("cluster", cluster, 1, kMostCluster); !fits) { return fits; }
  return blocks % cluster == 0 ? Status() : wrong("cluster", cluster, fmt::format("a divisor of {} ({})", blocks, of));
}

Status check_buffers(const ModuleKernel& kernel) {
  Bytes all(0);
  for (std::size_t at = 0; at < kernel.arguments.size(); ++at) {
    const auto* buffer = std::get_if<ModuleBuffer>(&kernel.arguments[at]);
    if (buffer == nullptr) { continue; }
    const std::string field = fmt::format("arguments[{}].buffer", at);
    if (Status fits = check_range(field, buffer->bytes.count(), 1, kMostBuffers.count()); !fits) { return fits; }
    const Bytes element = size_of(buffer->dtype);
    if (buffer->bytes.count() % element.count() != 0) {
      return wrong(field, buffer->bytes.count(),
                   fmt::format("a multiple of {} ({})", element.count(), elbowroom::to_string(buffer->dtype)));
    }
    all += buffer->bytes;
    if (all > kMostBuffers) { return wrong("arguments", all.count(), "buffers of at most 16 TiB"); }
  }
  return {};
}

}  // namespace

Compute read_module(JsonFields& fields) {
  ModuleKernel kernel;
  kernel.file = fields.text("file");
  kernel.function = fields.text("function");
  kernel.grid = read_extents(fields, "grid", kLongestGrid);
  kernel.block = read_extents(fields, "block", kLongestBlock);
  kernel.dynamic_shared = Bytes(fields.optional_integer("dynamic_shared", 0, kMostShared).value_or(0));
  kernel.cluster = static_cast<int>(fields.optional_integer("cluster", 1, kMostCluster).value_or(1));
  kernel.arguments = read_arguments(fields);
  return kernel;
}

Compute read_footprint_kernel(JsonFields& fields) {
  FootprintKernel kernel;
  kernel.footprint.threads = Threads(fields.integer("threads", 1, kMostThreads));
  kernel.footprint.registers_per_thread = Registers(fields.integer("registers", 1, 512));
  kernel.footprint.static_shared = Bytes(fields.optional_integer("static_shared", 0, kMostShared).value_or(0));
  kernel.footprint.dynamic_shared = Bytes(fields.optional_integer("dynamic_shared", 0, kMostShared).value_or(0));
  kernel.footprint.cluster = static_cast<int>(fields.optional_integer("cluster", 1, kMostCluster).value_or(1));
  kernel.blocks = Blocks(fields.integer("blocks", 1, kMostBlocks));
  const json* time = fields.member("us_per_block");
  const bool good = time != nullptr && time->is_number() && time->get<double>() > 0 && time->get<double>() <= kLongestBlockTime;
  if (good) {
    kernel.block_time = Microseconds(time->get<double>());
  } else {
    fields.reject("us_per_block", time == nullptr ? "missing" : shown(*time), "microseconds above 0, at most 1e9");
  }
  kernel.traffic = Bytes(fields.optional_integer("bytes_per_block", 0, kMostBlockBytes).value_or(0));
  return kernel;
}

nlohmann::ordered_json json_of(const ModuleKernel& kernel) {
  nlohmann::ordered_json out{{"file", kernel.file},
                             {"function", kernel.function},
                             {"grid", extents_json(kernel.grid)},
                             {"block", extents_json(kernel.block)},
                             {"dynamic_shared", kernel.dynamic_shared.count()},
                             {"cluster", kernel.cluster}};
  out["arguments"] = nlohmann::ordered_json::array();
  for (const ModuleArgument& argument : kernel.arguments) { out["arguments"].push_back(std::visit(ArgumentJson{}, argument)); }
  return out;
}

nlohmann::ordered_json json_of(const FootprintKernel& kernel) {
  return {{"threads", kernel.footprint.threads.count()},
          {"registers", kernel.footprint.registers_per_thread.count()},
          {"static_shared", kernel.footprint.static_shared.count()},
          {"dynamic_shared", kernel.footprint.dynamic_shared.count()},
          {"cluster", kernel.footprint.cluster},
          {"blocks", kernel.blocks.count()},
          {"us_per_block", kernel.block_time.count()},
          {"bytes_per_block", kernel.traffic.count()}};
}

Status check(const ModuleKernel& kernel) {
  for (const auto& [field, text] : {std::pair{"file", &kernel.file}, {"function", &kernel.function}}) {
    if (text->empty() || text->size() > kLongestFile || text->find('\0') != std::string::npos) {
      return invalid_input(fmt::format("compute.{}: {} bytes, expected a text of 1 to {}", field, text->size(), kLongestFile));
    }
  }
  if (Status fits = check_extents("grid", kernel.grid, kLongestGrid); !fits) { return fits; }
  if (Status fits = check_extents("block", kernel.block, kLongestBlock); !fits) { return fits; }
  if (Status fits = check_range("block", kernel.block.product(), 1, kMostThreads); !fits) { return fits; }
  if (Status fits = check_range("dynamic_shared", kernel.dynamic_shared.count(), 0, kMostShared); !fits) { return fits; }
  if (Status fits = check_cluster(kernel.cluster, kernel.grid.x, "compute.grid[0]"); !fits) { return fits; }
  return check_buffers(kernel);
}

Status check(const FootprintKernel& kernel) {
  const KernelFootprint& block = kernel.footprint;
  for (const Status& fits : {check_range("threads", block.threads.count(), 1, kMostThreads),
                             check_range("registers", block.registers_per_thread.count(), 1, 512),
                             check_range("static_shared", block.static_shared.count(), 0, kMostShared),
                             check_range("dynamic_shared", block.dynamic_shared.count(), 0, kMostShared),
                             check_range("blocks", kernel.blocks.count(), 1, kMostBlocks),
                             check_range("bytes_per_block", kernel.traffic.count(), 0, kMostBlockBytes)}) {
    if (!fits) { return fits; }
  }
  // Written so that NaN is refused.
  if (!(kernel.block_time > Microseconds(0) && kernel.block_time <= Microseconds(kLongestBlockTime))) {
    return invalid_input(
        fmt::format("compute.us_per_block: {}, expected microseconds above 0, at most 1e9", kernel.block_time.count()));
  }
  return check_cluster(block.cluster, kernel.blocks.count(), "compute.blocks");
}

Bytes memory(const ModuleKernel& kernel) {
  Bytes all(0);
  for (const ModuleArgument& argument : kernel.arguments) {
    if (const auto* buffer = std::get_if<ModuleBuffer>(&argument)) { all += buffer->bytes; }
  }
  return all;
}

}  // namespace elbowroom::detail
