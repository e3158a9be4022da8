#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/quantities.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/base/time.hpp"
#include "elbowroom/model/kernel_footprint.hpp"

namespace elbowroom {

enum class DataType { f32, bf16, f16, e4m3 };  ///< e4m3: 8 bits, as OCP and NVIDIA define it
enum class ElementwiseOp { gelu, relu, copy };
enum class CollectiveOp { all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, all_to_all_v, send_recv };

/// `pipeline`: collective i waits for compute i and may run beside compute i+1.
/// `pair`: compute is launched first, the collective right after it; neither waits for the other.
enum class Pattern { pipeline, pair };

/// Blocks in x (along n) and y (along m); each block loops over tiles with these strides.
struct GridShape {
  std::int64_t x = 0;
  std::int64_t y = 0;
  bool operator==(const GridShape&) const = default;
};

/// C[m,n] = A[m,k] * B[k,n], row major, one tile_m x tile_n tile at a time in steps of tile_k. C is f32.
struct TiledGemm {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t tile_m = 0, tile_n = 0, tile_k = 0;
  std::optional<GridShape> grid;   ///< absent ("full"): one block per tile
  DataType dtype = DataType::f32;  ///< of A and B
  bool operator==(const TiledGemm&) const = default;
};

/// The same product through cuBLAS or rocBLAS.
struct LibraryGemm {
  std::int64_t m = 0, n = 0, k = 0;
  DataType dtype = DataType::bf16;  ///< of A and B
  /// Of C: that of A and B, bf16 of products in e4m3.
  [[nodiscard]] DataType result() const { return dtype == DataType::e4m3 ? DataType::bf16 : dtype; }
  bool operator==(const LibraryGemm&) const = default;
};

/// out[i] = op(in[i]): memory bound. `bytes` are read and as many are written.
struct Elementwise {
  ElementwiseOp op = ElementwiseOp::gelu;
  DataType dtype = DataType::f32;
  Bytes bytes;
  bool operator==(const Elementwise&) const = default;
};

/// Along x, y and z.
struct Extents {
  std::int64_t x = 1;
  std::int64_t y = 1;
  std::int64_t z = 1;
  [[nodiscard]] std::int64_t product() const { return x * y * z; }
  bool operator==(const Extents&) const = default;
};

/// Device memory whose address a module's kernel gets.
struct ModuleBuffer {
  enum class Fill { zero, uniform };  ///< uniform: random values of `dtype` in [-1, 1)
  Bytes bytes;
  Fill fill = Fill::zero;
  DataType dtype = DataType::f32;
  bool compared = true;  ///< whether its bits after a run must be those that the kernel leaves with nothing beside it
  bool operator==(const ModuleBuffer&) const = default;
};

using ModuleArgument = std::variant<ModuleBuffer, std::int32_t, std::int64_t, float, double>;

/// A kernel of the user's own, from a cubin, fatbin, PTX or AMD code object. GPUs run it; nothing is known of its work.
struct ModuleKernel {
  std::string file;      ///< from the current folder on
  std::string function;  ///< as the module names it
  Extents grid;          ///< blocks
  Extents block;         ///< threads, at most 1,024
  Bytes dynamic_shared;
  int cluster = 1;  ///< blocks along x that start together; 1: as the kernel was compiled
  std::vector<ModuleArgument> arguments;
  bool operator==(const ModuleKernel&) const = default;
};

/// A kernel known by what its blocks take and how long each runs. It can be planned and simulated, not run.
struct FootprintKernel {
  KernelFootprint footprint;
  Blocks blocks;
  Microseconds block_time;  ///< of a block, while memory answers at its unloaded latency
  Bytes traffic;            ///< to and from device memory, of a block
  bool operator==(const FootprintKernel&) const = default;
};

using Compute = std::variant<TiledGemm, LibraryGemm, Elementwise, ModuleKernel, FootprintKernel>;

struct Collective {
  CollectiveOp op = CollectiveOp::all_reduce;
  /// Per-rank buffer as nccl-tests counts size: what each rank that sends has, and the gathered result for all_gather (each rank
  /// contributes bytes / gpus).
  Bytes bytes;
  DataType dtype = DataType::bf16;
  std::optional<Blocks> comm_blocks;  ///< block budget; absent: the library's own choice
  std::optional<int> cluster;         ///< cluster size of the communication kernel; absent: the library's own choice
  std::optional<int> root = {};       ///< rank of the communicator whose data all get; absent: the first
  std::vector<double> shares = {};    ///< of what each rank sends, by the rank that gets it; only their ratios count
  bool operator==(const Collective&) const = default;
};

/// What is to be run. Says nothing about how (that is an OverlapPlan) or on what (a Backend).
struct Scenario {
  std::string name;
  int gpus = 2;        ///< 2..4096
  int iterations = 1;  ///< 1..10000
  Pattern pattern = Pattern::pipeline;
  Compute compute;
  Collective collective;
  bool operator==(const Scenario&) const = default;
};

/// Reads an `elbowroom.scenario/1` document. Unknown fields, wrong types and impossible values are errors that name the field,
/// the value and what was expected; `source` (a file name) begins every message. Never throws, whatever the text is.
ELBOWROOM_API Result<Scenario> parse_scenario(std::string_view json, std::string_view source);

/// The rules that hold on every device: ranges, divisibility of sizes by tiles and of buffers by ranks.
ELBOWROOM_API Status validate(const Scenario& scenario);

/// The same document back, indented by `indent` blanks a level; parse_scenario reads what this writes.
ELBOWROOM_API std::string to_json(const Scenario& scenario, int indent = 2);

ELBOWROOM_API std::string_view to_string(DataType dtype);
ELBOWROOM_API std::string_view to_string(ElementwiseOp op);
ELBOWROOM_API std::string_view to_string(CollectiveOp op);
ELBOWROOM_API std::string_view to_string(Pattern pattern);

/// `tiled_gemm`, `library_gemm`, `elementwise`, `module` or `footprint`.
ELBOWROOM_API std::string_view kernel_name(const Compute& compute);

constexpr Bytes size_of(DataType dtype) {
  if (dtype == DataType::f32) { return Bytes(4); }
  return dtype == DataType::e4m3 ? Bytes(1) : Bytes(2);
}

/// Blocks that the compute kernel launches, where the scenario decides it. Absent where the library or the backend chooses.
ELBOWROOM_API std::optional<Blocks> compute_blocks(const Compute& compute);

/// Floating-point operations of a product, two for each multiplication with its addition; 0 for other kernels.
ELBOWROOM_API double flop_of(const Compute& compute);

/// What each rank sends and receives.
struct BufferSizes {
  Bytes send;
  Bytes recv;
  bool operator==(const BufferSizes&) const = default;
};

/// The greatest of any of `gpus` ranks among which the collective is valid; of one rank, CollectiveFacts::data says.
ELBOWROOM_API BufferSizes buffer_sizes(const Collective& collective, int gpus);

/// Device memory of a kernel's operands and result.
ELBOWROOM_API Bytes memory_of(const Compute& compute);

/// Least that a kernel reads and writes: operands and result once each; nothing of a module, whose work is not known.
ELBOWROOM_API Bytes least_traffic_of(const Compute& compute);

}  // namespace elbowroom
