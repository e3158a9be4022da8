#include "backend_sim/measured_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <vector>

#include "elbowroom/model/collective_facts.hpp"

namespace elbowroom::sim {
namespace {

struct Column {
  std::string_view name;
  std::string_view if_absent;  ///< empty: a file must have it
};

// Those up to nccl_nthreads name a group.
constexpr std::array kColumns{
    Column{"kernel", ""},
    Column{"n", ""},
    Column{"grid_blocks", ""},
    Column{"block_threads", ""},
    Column{"registers", ""},
    Column{"static_shared_bytes", ""},
    Column{"blocks_per_sm_unshaped", "0"},
    Column{"collective", ""},
    Column{"collective_MiB", ""},
    Column{"gpus", ""},
    Column{"iterations", ""},
    Column{"pattern", ""},
    Column{"comm_blocks", "0"},
    Column{"cluster", "-1"},
    Column{"nccl_nthreads", "default"},
    Column{"scheme", ""},
    Column{"priority", ""},
    Column{"blocks_per_sm", ""},
    Column{"dynamic_shared_bytes", ""},
    Column{"time_ms", ""},
};
constexpr std::size_t kGroupColumns = 15;

constexpr double kLeastTime = 1e-4;  // milliseconds
constexpr double kMostTime = 1e9;

/// Without blanks, tabs and a carriage return at its ends.
std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r";
  const std::size_t begin = text.find_first_not_of(blank);
  if (begin == std::string_view::npos) { return {}; }
  return text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

std::vector<std::string_view> split(std::string_view line, char separator) {
  std::vector<std::string_view> fields;
  while (true) {
    const std::size_t end = line.find(separator);
    fields.push_back(trimmed(line.substr(0, end)));
    if (end == std::string_view::npos) { return fields; }
    line.remove_prefix(end + 1);
  }
}

/// The fields of one line by column name; remembers the first that could not be read.
class Fields {
 public:
  Fields(const std::map<std::string_view, std::size_t>& columns, std::vector<std::string_view> values, std::string where)
      : columns_(columns), values_(std::move(values)), where_(std::move(where)) {}

  [[nodiscard]] std::string_view text(std::string_view column) const {
    if (const auto found = columns_.find(column); found != columns_.end()) { return values_[found->second]; }
    return std::find_if(kColumns.begin(), kColumns.end(), [&](const Column& one) { return one.name == column; })->if_absent;
  }

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
    // Written so that NaN is refused.
    if (!read(text(column), number) || !(number >= kLeastTime && number <= kMostTime)) {
      reject(column, fmt::format("a time above 0, {:g} to {:g} ms", kLeastTime, kMostTime));
    }
    return number;
  }

  template <class Known>
  auto one_of(std::string_view column, const Known& known) {
    std::string names;
    for (const auto& [name, value] : known) {
      if (name == text(column)) { return value; }
      names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
    }
    reject(column, "one of " + names);
    return known.front().second;
  }

  void reject(std::string_view column, std::string_view expected) {
    if (!failure_) { failure_ = invalid_input(fmt::format("{}: {}: '{}', expected {}", where_, column, text(column), expected)); }
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

constexpr std::int64_t kMostBytes = 1 << 30;
// Of one launch: 256 GiB of an elementwise kernel.
constexpr std::int64_t kMostBlocks = 1 << 26;

// The near-square grid of that many blocks, where a GEMM was not launched with one block per tile.
GridShape near_square(std::int64_t blocks) {
  auto x = static_cast<std::int64_t>(std::sqrt(static_cast<double>(blocks)));
  while (blocks % x != 0) { --x; }
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

constexpr std::array<std::pair<std::string_view, ElementwiseOp>, 3> kElementwise{
    {{"gelu", ElementwiseOp::gelu}, {"relu", ElementwiseOp::relu}, {"copy", ElementwiseOp::copy}}};

Compute read_gemm(Fields& fields, const GemmName& gemm) {
  const std::int64_t n = fields.integer("n", 1, 1 << 20);
  const std::int64_t blocks = fields.integer("grid_blocks", 1, kMostBlocks);
  if (n % gemm.tile_m != 0 || n % gemm.tile_k != 0) { fields.reject("n", fmt::format("a multiple of {}", gemm.tile_m)); }
  TiledGemm compute{n, n, n, gemm.tile_m, gemm.tile_n, gemm.tile_k, std::nullopt, gemm.dtype};
  if (blocks != (n / gemm.tile_m) * (n / gemm.tile_n)) { compute.grid = near_square(blocks); }
  return compute;
}

Compute read_compute(Fields& fields) {
  const std::string_view name = fields.text("kernel");
  for (const auto& [op_name, op] : kElementwise) {
    if (name != op_name) { continue; }
    const std::int64_t blocks = fields.integer("grid_blocks", 1, kMostBlocks);
    return Elementwise{op, DataType::f32, Bytes(blocks * fields.integer("block_threads", 1, 1024) * kBytesPerThread)};
  }
  if (name == "cublas") {
    const std::int64_t n = fields.integer("n", 1, 1 << 20);
    return LibraryGemm{n, n, n, DataType::bf16};
  }
  const auto gemm = std::find_if(kGemms.begin(), kGemms.end(), [&](const GemmName& one) { return one.name == name; });
  if (gemm != kGemms.end()) { return read_gemm(fields, *gemm); }
  fields.reject("kernel",
                "sgemm64, sgemm128, wgemm, gelu, relu, copy, cublas or tiled_<type>_<m>x<n>x<k> of this project's kernels");
  return LibraryGemm{};
}

Collective read_collective(Fields& fields) {
  std::vector<std::pair<std::string_view, CollectiveOp>> ops;
  for (const CollectiveFacts& facts : collectives()) { ops.emplace_back(facts.name, facts.op); }
  Collective collective;
  collective.op = fields.one_of("collective", ops);
  collective.bytes = mebibytes(fields.integer("collective_MiB", 1, 1 << 20));
  if (const std::int64_t blocks = fields.integer("comm_blocks", 0, 64); blocks > 0) { collective.comm_blocks = Blocks(blocks); }
  if (const std::int64_t cluster = fields.integer("cluster", -1, 16); cluster > 0) {
    collective.cluster = static_cast<int>(cluster);
  }
  return collective;
}

MeasuredRow read_row(Fields& fields) {
  constexpr std::array<std::pair<std::string_view, Order>, 4> orders{{{"compute_only", Order::compute_only},
                                                                      {"comm_only", Order::comm_only},
                                                                      {"sequential", Order::sequential},
                                                                      {"concurrent", Order::concurrent}}};
  constexpr std::array<std::pair<std::string_view, Pattern>, 2> patterns{
      {{"pipeline", Pattern::pipeline}, {"pair", Pattern::pair}}};
  MeasuredRow row;
  for (std::size_t column = 0; column < kGroupColumns; ++column) {
    row.group += fmt::format("{}{}", column == 0 ? "" : " ", fields.text(kColumns[column].name));
  }
  row.scenario.compute = read_compute(fields);
  row.scenario.collective = read_collective(fields);
  row.scenario.gpus = static_cast<int>(fields.integer("gpus", 2, 8));
  row.scenario.iterations = static_cast<int>(fields.integer("iterations", 1, 10'000));
  row.scenario.pattern = fields.one_of("pattern", patterns);
  if (!std::holds_alternative<LibraryGemm>(row.scenario.compute)) {
    row.footprint =
        KernelFootprint{Threads(fields.integer("block_threads", 1, 1024)), Registers(fields.integer("registers", 0, 255)),
                        Bytes(fields.integer("static_shared_bytes", 0, kMostBytes)), Bytes(0), 1};
  }
  if (fields.text("nccl_nthreads") != "default") { row.comm_threads = Threads(fields.integer("nccl_nthreads", 64, 960)); }
  row.order = fields.one_of("scheme", orders);
  row.scheme = fields.text("scheme");
  row.priority = fields.integer("priority", 0, 1) == 1;
  row.blocks_per_sm = static_cast<int>(fields.integer("blocks_per_sm", 0, 32));
  row.pad = Bytes(fields.integer("dynamic_shared_bytes", 0, kMostBytes));
  row.time = std::chrono::duration<double, std::milli>(fields.time("time_ms"));
  return row;
}

}  // namespace

Result<std::vector<MeasuredRow>> parse_measured_rows(std::string_view csv, std::string_view source) {
  // What some programs put before UTF-8 text.
  if (csv.starts_with("\xEF\xBB\xBF")) { csv.remove_prefix(3); }
  const std::vector<std::string_view> lines = split(csv, '\n');
  const std::vector<std::string_view> header = split(lines.front(), ',');
  std::map<std::string_view, std::size_t> columns;
  for (std::size_t at = 0; at < header.size(); ++at) { columns.emplace(header[at], at); }
  for (const Column& column : kColumns) {
    if (column.if_absent.empty() && !columns.contains(column.name)) {
      return invalid_input(fmt::format("{}:1: no column '{}', expected it in the header", source, column.name));
    }
  }
  std::vector<MeasuredRow> rows;
  for (std::size_t at = 1; at < lines.size(); ++at) {
    if (lines[at].empty()) { continue; }
    // Some fields are printed as they are.
    if (std::ranges::any_of(lines[at], [](unsigned char byte) { return (byte < 0x20 && byte != '\r') || byte == 0x7f; })) {
      return invalid_input(fmt::format("{}:{}: a control character, expected printable text", source, at + 1));
    }
    std::vector<std::string_view> values = split(lines[at], ',');
    if (values.size() != header.size()) {
      return invalid_input(
          fmt::format("{}:{}: {} fields, expected {} as in the header", source, at + 1, values.size(), header.size()));
    }
    Fields fields(columns, std::move(values), fmt::format("{}:{}", source, at + 1));
    MeasuredRow row = read_row(fields);
    if (fields.failure()) { return *fields.failure(); }
    row.line = static_cast<int>(at + 1);
    rows.push_back(std::move(row));
  }
  if (rows.empty()) { return invalid_input(fmt::format("{}: no rows below the header, expected at least one", source)); }
  return rows;
}

}  // namespace elbowroom::sim
