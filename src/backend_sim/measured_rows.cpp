#include "backend_sim/measured_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

namespace headroom::sim {
namespace {

// Those up to nccl_nthreads name a group.
constexpr std::array<std::string_view, 20> kColumns{"kernel",
                                                    "n",
                                                    "grid_blocks",
                                                    "block_threads",
                                                    "registers",
                                                    "static_shared_bytes",
                                                    "blocks_per_sm_unshaped",
                                                    "collective",
                                                    "collective_MiB",
                                                    "gpus",
                                                    "iterations",
                                                    "pattern",
                                                    "comm_blocks",
                                                    "cluster",
                                                    "nccl_nthreads",
                                                    "scheme",
                                                    "priority",
                                                    "blocks_per_sm",
                                                    "dynamic_shared_bytes",
                                                    "time_ms"};
constexpr std::size_t kGroupColumns = 15;

std::vector<std::string_view> split(std::string_view line, char separator) {
  std::vector<std::string_view> fields;
  while (true) {
    const std::size_t end = line.find(separator);
    fields.push_back(line.substr(0, end));
    if (end == std::string_view::npos) return fields;
    line.remove_prefix(end + 1);
  }
}

/// The fields of one line by column name; remembers the first that could not be read.
class Fields {
 public:
  Fields(const std::map<std::string_view, std::size_t>& columns, std::vector<std::string_view> values, std::string where)
      : columns_(columns), values_(std::move(values)), where_(std::move(where)) {}

  [[nodiscard]] std::string_view text(std::string_view column) const { return values_[columns_.at(column)]; }

  std::int64_t integer(std::string_view column, std::int64_t least, std::int64_t greatest) {
    std::int64_t number = least;
    if (!read(text(column), number) || number < least || number > greatest) {
      reject(column, fmt::format("a whole number from {} to {}", least, greatest));
      return least;
    }
    return number;
  }

  double time(std::string_view column) {
    double number = 0;
    if (!read(text(column), number) || !std::isfinite(number) || number <= 0) reject(column, "a time above 0");
    return number;
  }

  template <class Value, std::size_t N>
  Value one_of(std::string_view column, const std::array<std::pair<std::string_view, Value>, N>& known) {
    std::string names;
    for (const auto& [name, value] : known) {
      if (name == text(column)) return value;
      names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
    }
    reject(column, "one of " + names);
    return known.front().second;
  }

  void reject(std::string_view column, std::string_view expected) {
    if (!failure_) failure_ = invalid_input(fmt::format("{}: {}: '{}', expected {}", where_, column, text(column), expected));
  }
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }

 private:
  template <class Number>
  static bool read(std::string_view text, Number& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
  }

  const std::map<std::string_view, std::size_t>& columns_;
  std::vector<std::string_view> values_;
  std::string where_;
  std::optional<Error> failure_;
};

constexpr std::int64_t kMost = 1 << 30;

// The near-square grid of that many blocks, where a GEMM was not launched with one block per tile.
GridShape near_square(std::int64_t blocks) {
  auto x = static_cast<std::int64_t>(std::sqrt(static_cast<double>(blocks)));
  while (blocks % x != 0) --x;
  return {x, blocks / x};
}

struct GemmName {
  std::string_view name;
  std::int64_t tile_m, tile_n, tile_k;
  DataType dtype;
};

// The first three are the names of data/h200x2.csv, the others this project's own kernels.
constexpr std::array kGemms{
    GemmName{"sgemm64", 64, 64, 8, DataType::f32},
    GemmName{"sgemm128", 128, 128, 8, DataType::f32},
    GemmName{"wgemm", 64, 64, 32, DataType::bf16},
    GemmName{"tiled_f32_64x64x8", 64, 64, 8, DataType::f32},
    GemmName{"tiled_f32_64x64x16", 64, 64, 16, DataType::f32},
    GemmName{"tiled_f32_64x64x32", 64, 64, 32, DataType::f32},
    GemmName{"tiled_f32_64x64x64", 64, 64, 64, DataType::f32},
    GemmName{"tiled_f32_128x128x8", 128, 128, 8, DataType::f32},
    GemmName{"tiled_f32_128x128x16", 128, 128, 16, DataType::f32},
    GemmName{"tiled_f32_128x128x32", 128, 128, 32, DataType::f32},
    GemmName{"tiled_bf16_64x64x32", 64, 64, 32, DataType::bf16},
    GemmName{"tiled_bf16_64x64x64", 64, 64, 64, DataType::bf16},
    GemmName{"tiled_bf16_128x128x32", 128, 128, 32, DataType::bf16},
    GemmName{"tiled_bf16_128x128x64", 128, 128, 64, DataType::bf16},
};

constexpr std::int64_t kBytesPerThread = 16;  // that an elementwise kernel reads

Compute read_compute(Fields& fields) {
  const std::string_view name = fields.text("kernel");
  const std::int64_t blocks = fields.integer("grid_blocks", 1, kMost);
  const std::int64_t n = fields.integer("n", 1, 1 << 20);
  if (name == "gelu") {
    const std::int64_t threads = fields.integer("block_threads", 1, 1024);
    return Elementwise{ElementwiseOp::gelu, DataType::f32, Bytes(blocks * threads * kBytesPerThread)};
  }
  if (name == "cublas") return LibraryGemm{n, n, n, DataType::bf16};
  for (const GemmName& gemm : kGemms) {
    if (gemm.name != name) continue;
    if (n % gemm.tile_m != 0 || n % gemm.tile_k != 0) fields.reject("n", fmt::format("a multiple of {}", gemm.tile_m));
    TiledGemm compute{n, n, n, gemm.tile_m, gemm.tile_n, gemm.tile_k, std::nullopt, gemm.dtype};
    if (blocks != (n / gemm.tile_m) * (n / gemm.tile_n)) compute.grid = near_square(blocks);
    return compute;
  }
  fields.reject("kernel", "sgemm64, sgemm128, wgemm, gelu, cublas or tiled_<type>_<m>x<n>x<k> of this project's kernels");
  return LibraryGemm{};
}

Collective read_collective(Fields& fields) {
  constexpr std::array<std::pair<std::string_view, CollectiveOp>, 4> ops{{{"all_reduce", CollectiveOp::all_reduce},
                                                                          {"all_gather", CollectiveOp::all_gather},
                                                                          {"reduce_scatter", CollectiveOp::reduce_scatter},
                                                                          {"all_to_all", CollectiveOp::all_to_all}}};
  Collective collective;
  collective.op = fields.one_of("collective", ops);
  collective.bytes = mebibytes(fields.integer("collective_MiB", 1, 1 << 20));
  if (const std::int64_t blocks = fields.integer("comm_blocks", 0, 64); blocks > 0) collective.comm_blocks = Blocks(blocks);
  if (const std::int64_t cluster = fields.integer("cluster", -1, 16); cluster > 0) collective.cluster = static_cast<int>(cluster);
  return collective;
}

MeasuredRow read_row(Fields& fields) {
  constexpr std::array<std::pair<std::string_view, Order>, 4> orders{{{"compute_only", Order::compute_only},
                                                                      {"comm_only", Order::comm_only},
                                                                      {"sequential", Order::sequential},
                                                                      {"concurrent", Order::concurrent}}};
  constexpr std::array<std::pair<std::string_view, Pattern>, 2> patterns{
      {{"pipeline", Pattern::pipeline}, {"pair", Pattern::pair}}};
  constexpr std::int64_t sync_warp = 32;  // beside NCCL_NTHREADS
  MeasuredRow row;
  for (std::size_t column = 0; column < kGroupColumns; ++column) {
    row.group += fmt::format("{}{}", column == 0 ? "" : " ", fields.text(kColumns[column]));
  }
  row.scenario.compute = read_compute(fields);
  row.scenario.collective = read_collective(fields);
  row.scenario.gpus = static_cast<int>(fields.integer("gpus", 2, 8));
  row.scenario.iterations = static_cast<int>(fields.integer("iterations", 1, 10'000));
  row.scenario.pattern = fields.one_of("pattern", patterns);
  if (!std::holds_alternative<LibraryGemm>(row.scenario.compute)) {
    row.footprint =
        KernelFootprint{Threads(fields.integer("block_threads", 1, 1024)), Registers(fields.integer("registers", 0, 255)),
                        Bytes(fields.integer("static_shared_bytes", 0, kMost)), Bytes(0), 1};
  }
  if (fields.text("nccl_nthreads") != "default") {
    row.comm_threads = Threads(fields.integer("nccl_nthreads", 64, 960) + sync_warp);
  }
  row.order = fields.one_of("scheme", orders);
  row.scheme = fields.text("scheme");
  row.priority = fields.integer("priority", 0, 1) == 1;
  row.blocks_per_sm = static_cast<int>(fields.integer("blocks_per_sm", 0, 32));
  row.pad = Bytes(fields.integer("dynamic_shared_bytes", 0, kMost));
  row.time = std::chrono::duration<double, std::milli>(fields.time("time_ms"));
  return row;
}

}  // namespace

Result<std::vector<MeasuredRow>> parse_measured_rows(std::string_view csv, std::string_view source) {
  std::vector<std::string_view> lines = split(csv, '\n');
  for (std::string_view& line : lines) {
    if (line.ends_with('\r')) line.remove_suffix(1);
  }
  const std::vector<std::string_view> header = split(lines.front(), ',');
  std::map<std::string_view, std::size_t> columns;
  for (std::size_t at = 0; at < header.size(); ++at) columns.emplace(header[at], at);
  for (const std::string_view column : kColumns) {
    if (!columns.contains(column))
      return invalid_input(fmt::format("{}:1: no column '{}', expected it in the header", source, column));
  }
  std::vector<MeasuredRow> rows;
  for (std::size_t at = 1; at < lines.size(); ++at) {
    if (lines[at].empty()) continue;
    std::vector<std::string_view> values = split(lines[at], ',');
    if (values.size() != header.size()) {
      return invalid_input(
          fmt::format("{}:{}: {} fields, expected {} as in the header", source, at + 1, values.size(), header.size()));
    }
    Fields fields(columns, std::move(values), fmt::format("{}:{}", source, at + 1));
    MeasuredRow row = read_row(fields);
    if (fields.failure()) return *fields.failure();
    rows.push_back(std::move(row));
  }
  if (rows.empty()) return invalid_input(fmt::format("{}: no rows below the header, expected at least one", source));
  return rows;
}

}  // namespace headroom::sim
