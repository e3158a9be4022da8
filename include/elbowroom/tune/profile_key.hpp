#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/provenance.hpp"
#include "elbowroom/model/kernel_footprint.hpp"
#include "elbowroom/model/scenario.hpp"
#include "elbowroom/model/step.hpp"

namespace elbowroom {

/// A communication library and what its environment makes of it.
struct CommLibrary {
  std::string name;                                                ///< "nccl"
  std::optional<std::string> version;                              ///< "2.28.3"
  std::vector<std::pair<std::string, std::string>> settings = {};  ///< of its environment: a variable's name and its value

  bool operator==(const CommLibrary&) const = default;
};

/// Where a choice was made: on other hardware or software another one may be right.
struct Surroundings {
  Provenance provenance = Provenance::measured;  ///< a simulated choice is never taken for a measured one
  std::string device;                            ///< catalog name
  std::optional<std::string> driver;             ///< version, of the simulator where that took the place of one
  std::optional<CommLibrary> comm_library;

  bool operator==(const Surroundings&) const = default;
};

enum class KernelKind { tiled_gemm, library_gemm, elementwise };
ELBOWROOM_API std::string_view to_string(KernelKind kind);

/// A kernel of which no block is known beforehand.
struct NamedKernel {
  KernelKind kind = KernelKind::library_gemm;
  std::optional<DataType> dtype;  ///< of a library's product

  bool operator==(const NamedKernel&) const = default;
};

/// What a block takes, where that is known.
using KernelKey = std::variant<KernelFootprint, NamedKernel>;

/// How much a kernel computes, from 2^exponent to twice that.
struct ComputeClass {
  enum class Unit { flop, bytes };
  Unit unit = Unit::flop;
  int exponent = 0;
  std::optional<int> blocks;  ///< exponent of its grid, where the scenario decides that

  bool operator==(const ComputeClass&) const = default;
};

/// A collective, with what the user fixed of it.
struct CollectiveKey {
  CollectiveOp op = CollectiveOp::all_reduce;
  DataType dtype = DataType::bf16;
  std::optional<Blocks> comm_blocks;
  std::optional<int> cluster;
  std::optional<int> root = {};  ///< whose data all get; absent: rank 0
  std::vector<int> shares = {};  ///< thousandths of what each rank sends, by the rank that gets it; none where all are equal

  bool operator==(const CollectiveKey&) const = default;
};

/// From 2^exponent bytes to twice that.
struct ByteClass {
  int exponent = 0;

  bool operator==(const ByteClass&) const = default;
};

/// A kernel beside a collective. Sizes are classes, from one power of two to the next; for which cases of a class a choice is good,
/// alike() says.
struct PairKey {
  Pattern pattern = Pattern::pipeline;
  KernelKey compute;
  ComputeClass compute_class;
  CollectiveKey collective;
  ByteClass collective_class;

  bool operator==(const PairKey&) const = default;
};

/// A step, exactly.
struct StepKey {
  std::uint64_t print = 0;  ///< equal for steps that differ in name alone; another step has it once in 2^64

  bool operator==(const StepKey&) const = default;
};

/// What a stored choice is for.
struct ProfileKey {
  Surroundings surroundings;
  int ranks = 2;
  std::variant<PairKey, StepKey> what;

  bool operator==(const ProfileKey&) const = default;
};

/// Equal for equal keys. Allocates nothing.
struct ProfileKeyHash {
  ELBOWROOM_API std::size_t operator()(const ProfileKey& key) const;
};

/// What a case is in exact numbers, of which a key has classes.
struct CaseSize {
  int iterations = 1;
  double compute = 0;  ///< flop of a GEMM, bytes that an elementwise kernel reads
  Bytes collective;    ///< per-rank send buffer

  bool operator==(const CaseSize&) const = default;
};
ELBOWROOM_API CaseSize case_size(const Scenario& scenario);
/// Whether a plan that is good for one is for the other. Within one class a side may be twice as large as another. The balance of
/// both decides what makes room, so it must be the same within a quarter. A single iteration has nothing to run beside.
ELBOWROOM_API bool alike(const CaseSize& one, const CaseSize& other);

/// Of `environment` what makes the communication library move data another way, by name; settings of logs and networks do not. Each
/// value is one word.
ELBOWROOM_API std::vector<std::pair<std::string, std::string>> comm_settings(
    std::span<const std::pair<std::string, std::string>> environment);

/// `versions` as a backend lists them: libraries, driver, simulator, and the environment that shapes what they do.
ELBOWROOM_API Surroundings surroundings(Provenance provenance, std::string device,
                                        std::span<const std::pair<std::string, std::string>> versions);

/// `compute` as the backend reports it; absent for a library's kernel.
ELBOWROOM_API ProfileKey profile_key(const Scenario& scenario, const std::optional<KernelFootprint>& compute,
                                     const Surroundings& surroundings);

ELBOWROOM_API ProfileKey profile_key(const Step& step, const Surroundings& surroundings);

/// The block that the key's compute is. Absent for a library's kernel and for a step.
ELBOWROOM_API std::optional<KernelFootprint> footprint_of(const ProfileKey& key);

/// Products that a library makes by one kernel, as far as a key tells them apart.
struct ProductClass {
  DataType dtype = DataType::bf16;
  int flop_exponent = 0;  ///< 2 m n k lies from 2^flop_exponent to twice that

  bool operator==(const ProductClass&) const = default;
};
/// Absent for keys of other kernels and of steps.
ELBOWROOM_API std::optional<ProductClass> product_of(const ProfileKey& key);

/// One line for each member in which the keys differ: "driver 580.65, stored 570.1". Empty for equal keys.
ELBOWROOM_API std::vector<std::string> differences(const ProfileKey& wanted, const ProfileKey& stored);

/// All members in one line; equal for equal keys alone.
ELBOWROOM_API std::string to_string(const ProfileKey& key);

// Members in the words of documents: "nccl 2.28.3 NCCL_P2P_DISABLE=1"; "256x32 0+0 1" (threads x registers, static + dynamic bytes,
// cluster) or "library_gemm bf16"; "2^40 flop", "2^38 flop 2^12 blocks", "2^32 B"; "all_reduce bf16 8 blocks cluster 1", "broadcast
// bf16 root 1", "all_to_all_v bf16 shares 125:250:375:250"; "2^29 B"; of a step sixteen hexadecimal digits.
ELBOWROOM_API std::string in_words(const CommLibrary& library);
ELBOWROOM_API std::string in_words(const KernelKey& kernel);
ELBOWROOM_API std::string in_words(const ComputeClass& size);
ELBOWROOM_API std::string in_words(const CollectiveKey& collective);
ELBOWROOM_API std::string in_words(const ByteClass& size);
ELBOWROOM_API std::string in_words(const StepKey& step);

/// What in_words() writes. Every text is a library's: a document may have been made by another version.
ELBOWROOM_API CommLibrary parse_comm_library(std::string_view words);

// What in_words() writes; absent for other texts.
ELBOWROOM_API std::optional<KernelKey> parse_kernel(std::string_view words);
ELBOWROOM_API std::optional<ComputeClass> parse_compute_class(std::string_view words);
ELBOWROOM_API std::optional<CollectiveKey> parse_collective(std::string_view words);
ELBOWROOM_API std::optional<ByteClass> parse_byte_class(std::string_view words);
ELBOWROOM_API std::optional<StepKey> parse_step_key(std::string_view words);

}  // namespace elbowroom
