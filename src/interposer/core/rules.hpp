#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace elbowroom::interposer {

enum class Policy : std::uint8_t { observe, priority, gate, shape, automatic };
/// The words of ELBOWROOM_RUN_POLICY: "observe", "priority", "gate", "shape", "auto". False: not one of them, `policy` is unchanged.
bool parse_policy(const char* word, Policy& policy);
const char* text(Policy policy);

/// `cap <substring of a kernel name or *> <blocks per SM>`; the first that matches a kernel counts.
struct CapRule {
  std::array<char, 128> name;  ///< zero-terminated; "*" matches every kernel
  std::uint32_t blocks_per_sm;
};

/// Bit per name of a device that rules are for: `device h200` begins the rules for devices in whose name that is a word. Rules before the
/// first such line are for every device.
using DeviceNames = std::uint32_t;
constexpr DeviceNames kEveryDevice = 1;
constexpr DeviceNames kAnyName = ~DeviceNames{0};

/// What a block of a launch takes of an SM, and `blocks_per_sm`: `footprint 256x32 0+0 1 cap 4` (threads x registers, static + dynamic
/// bytes of shared memory, blocks per cluster). What the same block takes is the same launch to an SM, whatever its name.
struct FootprintRule {
  std::uint32_t threads, registers, static_shared, dynamic_shared, cluster;
  std::uint32_t blocks_per_sm;
  DeviceNames on;
};

enum class ProductType : std::uint8_t { other, f32, bf16 };

/// A product of a GEMM library by the type of its factors and its size class.
struct Product {
  ProductType type = ProductType::other;
  std::uint8_t flop_class = 0;  ///< the binary logarithm of 2 m n k, rounded down; 0: unknown
};
/// `batches` products of m x k by k x n elements; of class 0 where one of the numbers is not positive.
Product product_of(ProductType type, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batches);

/// `product bf16 2^40 sm_target 108`.
struct ProductRule {
  Product product;
  std::uint32_t sms;
  DeviceNames on;
};

/// `budget 8`, or several that take turns: `budget 0 8 16 every 32`. Blocks of each collective at most; 0: the library's own number.
struct BudgetTurns {
  static constexpr std::size_t kMost = 8;
  std::array<std::uint8_t, kMost> blocks{};
  std::size_t count = 0;    ///< 0: no rule
  std::uint32_t every = 0;  ///< collectives from one turn to the next; 0: the first one stays
};

/// What ELBOWROOM_RUN_POLICY and the file of ELBOWROOM_RUN_RULES say.
struct Rules {
  static constexpr std::size_t kMaxCaps = 64;
  static constexpr std::size_t kMaxFootprints = 32;
  static constexpr std::size_t kMaxProducts = 32;
  static constexpr std::size_t kMaxDeviceNames = 8;

  Policy policy = Policy::automatic;
  bool gate = true;
  bool priority = true;
  bool timing = true;
  bool trial = true;                   ///< `ab off`: auto applies its controls without comparing them
  std::uint32_t sm_target = 0;         ///< of all products; 0: of those that a rule names
  std::uint32_t symmetric_blocks = 0;  ///< least blocks of a communicator's kernels on symmetric memory; 0: NCCL's choice
  bool symmetric_copies = false;       ///< `symmetric_copies on`: communicators whose symmetric gathers are made by copy engines
  BudgetTurns budgets;
  std::size_t cap_count = 0;
  std::size_t footprint_count = 0;
  std::size_t product_count = 0;
  std::size_t device_count = 0;
  std::array<std::array<char, 16>, kMaxDeviceNames> device_names{};  ///< zero-terminated
  std::array<FootprintRule, kMaxFootprints> footprints{};
  std::array<ProductRule, kMaxProducts> products{};
  std::array<CapRule, kMaxCaps> caps{};  // last: what every launch reads stays together

  [[nodiscard]] bool has_targets() const { return sm_target > 0 || product_count > 0; }
  [[nodiscard]] bool sets_communicators() const { return symmetric_blocks > 0 || symmetric_copies; }
  [[nodiscard]] bool has_caps() const { return cap_count > 0 || footprint_count > 0; }
  /// Which of the names a device has, by what its driver calls it ("NVIDIA H200"); `kEveryDevice` is one of them.
  [[nodiscard]] DeviceNames names_of(const char* device) const;
  /// On a device with one of these names. 0: the library is left as it is.
  [[nodiscard]] std::uint32_t target_of(const Product& product, DeviceNames names) const;
};

/// Adds the rules of a text (one a line; blank lines and lines that begin with # are skipped) to `rules`. Returns the number of the first
/// line that is not a rule, counted from 1, or 0; the lines before it count.
std::size_t parse_rules(const char* text, std::size_t size, Rules& rules);

}  // namespace elbowroom::interposer
