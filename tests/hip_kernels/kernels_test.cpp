// The kernels' text, run on the host with waves of 64 threads and an emulated matrix core, against plain loops.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "fake_hip.hpp"

namespace {

std::map<std::string, FakeKernel>& registered() {
  static std::map<std::string, FakeKernel> kernels;
  return kernels;
}

}  // namespace

void fake_hip_register_kernel(const FakeKernel* kernel) { registered()[kernel->name] = *kernel; }

namespace {

struct Grid {
  unsigned x = 1, y = 1;
};

template <class... Arguments>
void launch(const std::string& name, Grid grid, Arguments... arguments) {
  ASSERT_TRUE(registered().contains(name)) << name;
  const FakeKernel& kernel = registered()[name];
  ASSERT_EQ(kernel.argument_count, sizeof...(arguments)) << name;
  const std::array<std::size_t, sizeof...(arguments)> sizes{sizeof(arguments)...};
  for (std::size_t i = 0; i < sizes.size(); ++i) { ASSERT_EQ(kernel.argument_sizes[i], sizes[i]) << name << ", argument " << i; }
  std::array<void*, sizeof...(arguments)> pointers{&arguments...};
  FakeLaunch launch{};
  launch.kernel = kernel.name;
  launch.grid[0] = grid.x;
  launch.grid[1] = grid.y;
  launch.grid[2] = 1;
  launch.block[0] = 256;
  launch.block[1] = launch.block[2] = 1;
  launch.arguments = pointers.data();
  kernel.run(launch);
}

struct Mismatches {
  unsigned long long count = 0;
  unsigned long long first = ~0ull;
};

// The element types: how a value is stored and the name that kernels have for it.
struct F32 {
  using Stored = float;
  static constexpr const char* kName = "f32";
  static double value(float stored) { return static_cast<double>(stored); }
  static float stored(double value) { return static_cast<float>(value); }
};
struct Bf16 {
  using Stored = std::uint16_t;
  static constexpr const char* kName = "bf16";
  static double value(std::uint16_t stored) { return static_cast<double>(std::bit_cast<float>(std::uint32_t{stored} << 16)); }
  /// Of a number that bf16 holds exactly.
  static std::uint16_t stored(double value) {
    return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16);
  }
};

struct F16 {
  using Stored = std::uint16_t;
  static constexpr const char* kName = "f16";
  static double value(std::uint16_t stored) { return static_cast<double>(std::bit_cast<_Float16>(stored)); }
  static std::uint16_t stored(double value) { return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value)); }
};

template <class Type>
std::vector<typename Type::Stored> uniform(std::int64_t count, std::uint64_t seed) {
  std::vector<typename Type::Stored> data(static_cast<std::size_t>(count));
  launch(std::string("fill_uniform_") + Type::kName, {3}, data.data(), count, seed);
  return data;
}

template <class Type>
class HipKernels : public testing::Test {
 protected:
  static std::string name(const std::string& stem) { return stem + "_" + Type::kName; }
};
using Types = testing::Types<F32, Bf16, F16>;
TYPED_TEST_SUITE(HipKernels, Types);

// Those that tiled products and collectives have.
template <class Type>
class HipTilesAndCollectives : public HipKernels<Type> {};
using FewerTypes = testing::Types<F32, Bf16>;
TYPED_TEST_SUITE(HipTilesAndCollectives, FewerTypes);

TYPED_TEST(HipKernels, FillWithValuesOfMeanZeroAndVarianceOneThird) {
  const auto data = uniform<TypeParam>(20'000, 7);
  double sum = 0, squares = 0;
  for (const auto stored : data) {
    const double value = TypeParam::value(stored);
    ASSERT_GE(value, -1);
    ASSERT_LT(value, 1);
    ASSERT_EQ(value * 128, std::floor(value * 128));
    sum += value;
    squares += value * value;
  }
  // Six deviations of the mean of 20,000: 6 * sqrt(1/3 / 20,000) = 0.025; of the mean square: 6 * sqrt(4/45 / 20,000) = 0.013.
  EXPECT_NEAR(sum / 20'000, 0, 0.025);
  EXPECT_NEAR(squares / 20'000, 1.0 / 3, 0.02);
  EXPECT_EQ(data, uniform<TypeParam>(20'000, 7));
  EXPECT_NE(data, uniform<TypeParam>(20'000, 8));
}

TYPED_TEST(HipTilesAndCollectives, MultiplyMatricesInEveryTileConfiguration) {
  struct Tile {
    int m, n, k;
  };
  const bool is_f32 = std::string(TypeParam::kName) == "f32";
  const std::vector<Tile> tiles = is_f32 ? std::vector<Tile>{{64, 64, 8},   {64, 64, 16},   {64, 64, 32},  {64, 64, 64},
                                                             {128, 128, 8}, {128, 128, 16}, {128, 128, 32}}
                                         : std::vector<Tile>{{64, 64, 32}, {64, 64, 64}, {128, 128, 32}, {128, 128, 64}};
  for (const Tile& tile : tiles) {
    // Three by two tiles on a grid of one by two: some blocks loop. Values are multiples of 2^-7, so that sums in f32 are exact.
    const int m = 3 * tile.m, n = 2 * tile.n, k = 128;
    const auto a = uniform<TypeParam>(m * k, 1);
    const auto b = uniform<TypeParam>(k * n, 2);
    std::vector<float> c(static_cast<std::size_t>(m * n), std::numeric_limits<float>::quiet_NaN());
    const std::string kernel = "tiled_gemm_" + std::string(TypeParam::kName) + "_" + std::to_string(tile.m) + "x" +
                               std::to_string(tile.n) + "x" + std::to_string(tile.k);
    launch(kernel, {1, 2}, a.data(), b.data(), c.data(), m, n, k);
    std::vector<double> row(static_cast<std::size_t>(n));
    int wrong = 0;
    for (int i = 0; i < m; ++i) {
      std::fill(row.begin(), row.end(), 0.0);
      for (int l = 0; l < k; ++l) {
        const double left = TypeParam::value(a[static_cast<std::size_t>(i * k + l)]);
        for (int j = 0; j < n; ++j) {
          row[static_cast<std::size_t>(j)] += left * TypeParam::value(b[static_cast<std::size_t>(l * n + j)]);
        }
      }
      for (int j = 0; j < n; ++j) {
        wrong += static_cast<double>(c[static_cast<std::size_t>(i * n + j)]) == row[static_cast<std::size_t>(j)] ? 0 : 1;
      }
    }
    EXPECT_EQ(wrong, 0) << kernel;
  }
}

TYPED_TEST(HipTilesAndCollectives, ChecksumsFindOneWrongElementOfAProduct) {
  const std::int64_t m = 64, n = 64, k = 64;
  const auto a = uniform<TypeParam>(m * k, 1);
  const auto b = uniform<TypeParam>(k * n, 2);
  std::vector<float> c(static_cast<std::size_t>(m * n));
  const std::string kernel = "tiled_gemm_" + std::string(TypeParam::kName) + "_64x64x32";
  launch(kernel, {1, 1}, a.data(), b.data(), c.data(), static_cast<int>(m), static_cast<int>(n), static_cast<int>(k));
  const double* const made = nullptr;
  std::vector<double> bx(static_cast<std::size_t>(k)), abx(static_cast<std::size_t>(m));
  const auto found = [&] {
    Mismatches mismatches;
    launch(this->name("matrix_times_vector"), {5}, b.data(), k, std::int64_t{0}, n, n, std::int64_t{1}, made, std::uint64_t{9},
           bx.data());
    launch(this->name("matrix_times_vector"), {5}, a.data(), m, std::int64_t{0}, k, k, std::int64_t{1},
           static_cast<const double*>(bx.data()), std::uint64_t{9}, abx.data());
    launch("compare_rows_f32", {5}, static_cast<const float*>(c.data()), m, std::int64_t{0}, n, n,
           static_cast<const double*>(abx.data()), 1e-3, std::uint64_t{9}, std::int64_t{1'000}, &mismatches);
    return mismatches;
  };
  EXPECT_EQ(found().count, 0u);
  c[11 * 64 + 5] += 0.25f;
  EXPECT_EQ(found().count, 1u);
  EXPECT_EQ(found().first, 1'011u);
  c[11 * 64 + 5] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(found().count, 1u);
}

// Of 3 x 2 elements by their columns: element (i, j) stands at 3 j + i. The sums of a row's elements, each times 1.
TYPED_TEST(HipKernels, MultiplyAMatrixThatStandsByItsColumns) {
  std::vector<typename TypeParam::Stored> matrix;
  for (const double value : {1, 2, 3, 10, 20, 30}) { matrix.push_back(TypeParam::stored(value)); }
  const std::array<double, 2> ones{1, 1};
  std::array<double, 3> sums{};
  launch(this->name("matrix_times_vector"), {2}, matrix.data(), std::int64_t{3}, std::int64_t{0}, std::int64_t{2}, std::int64_t{1},
         std::int64_t{3}, ones.data(), std::uint64_t{0}, sums.data());
  EXPECT_EQ(sums, (std::array<double, 3>{11, 22, 33}));
}

TYPED_TEST(HipKernels, ComputeEveryElementwiseOperation) {
  // Not a whole number of blocks: 1,003 vectors of 16 bytes.
  const std::int64_t vectors = 1'003;
  const std::int64_t count = vectors * 16 / static_cast<std::int64_t>(sizeof(typename TypeParam::Stored));
  const auto in = uniform<TypeParam>(count, 3);
  for (const int code : {0, 1, 2}) {
    const std::string op = code == 0 ? "gelu" : code == 1 ? "relu" : "copy";
    std::vector<typename TypeParam::Stored> out(static_cast<std::size_t>(count), TypeParam::stored(64));
    launch(this->name("elementwise_" + op), {4}, static_cast<const void*>(in.data()), static_cast<void*>(out.data()), vectors);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const double x = TypeParam::value(in[i]);
      const double expected = code == 0 ? 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))) : code == 1 ? std::max(x, 0.0) : x;
      // Half a unit in the last place, 2^-8 of bf16 and 2^-11 of f16 at most; for f32 what erff may be off.
      const double relative = std::string(TypeParam::kName) == "f16" ? 1.0 / 2'048 : 1.0 / 256;
      ASSERT_NEAR(TypeParam::value(out[i]), expected, std::abs(expected) * relative + 1e-6) << op << " of " << x;
    }
    const auto found = [&] {
      Mismatches mismatches;
      launch(this->name("check_elementwise"), {2}, in.data(), out.data(), count, code, &mismatches);
      return mismatches;
    };
    EXPECT_EQ(found().count, 0u) << op;
    out[777] = TypeParam::stored(2);
    out[778] = TypeParam::stored(2);
    EXPECT_EQ(found().count, 2u) << op;
    EXPECT_EQ(found().first, 777u) << op;
  }
}

TYPED_TEST(HipTilesAndCollectives, KnowWhatEveryCollectiveLeavesBehind) {
  using Stored = typename TypeParam::Stored;
  const int ranks = 3;
  const std::int64_t chunk = 100;
  const std::int64_t sent = ranks * chunk;
  std::vector<std::vector<Stored>> send(3, std::vector<Stored>(static_cast<std::size_t>(sent)));
  for (int rank = 0; rank < ranks; ++rank) {
    launch(this->name("fill_collective"), {1}, send[static_cast<std::size_t>(rank)].data(), sent, rank, std::uint64_t{4});
  }
  const auto at = [&](int rank, std::int64_t index) {
    return TypeParam::value(send[static_cast<std::size_t>(rank)][static_cast<std::size_t>(index)]);
  };
  const auto sum = [&](std::int64_t index) { return at(0, index) + at(1, index) + at(2, index); };
  // What is expected: a sum or pieces of `senders` ranks from `first` on, `offset` into their buffers.
  const auto found = [&](int sums, int first, int senders, std::int64_t offset, std::int64_t count, auto value) {
    std::vector<Stored> received;
    for (std::int64_t i = 0; i < count; ++i) { received.push_back(TypeParam::stored(value(i))); }
    std::array<Mismatches, 2> mismatches;
    const auto check = [&](Mismatches* out) {
      launch(this->name("check_collective"), {1}, received.data(), sums, first, senders, offset, count, std::uint64_t{4}, out);
    };
    check(&mismatches[0]);
    received[40] = TypeParam::stored(99);
    check(&mismatches[1]);
    EXPECT_EQ(mismatches[1].count, 1u);
    EXPECT_EQ(mismatches[1].first, 40u);
    return mismatches[0].count;
  };
  EXPECT_EQ(found(1, 0, ranks, 0, sent, sum), 0u) << "all_reduce";
  // Of an all-gather each rank contributes the first chunk of what fill_collective made.
  EXPECT_EQ(found(0, 0, ranks, 0, sent, [&](std::int64_t i) { return at(static_cast<int>(i / chunk), i % chunk); }), 0u);
  EXPECT_EQ(found(0, 2, 1, 0, sent, [&](std::int64_t i) { return at(2, i); }), 0u) << "broadcast";
  for (int rank = 0; rank < ranks; ++rank) {
    const std::int64_t own = rank * chunk;
    EXPECT_EQ(found(1, 0, ranks, own, chunk, [&](std::int64_t i) { return sum(own + i); }), 0u) << "reduce_scatter";
    EXPECT_EQ(found(0, 0, ranks, own, sent, [&](std::int64_t i) { return at(static_cast<int>(i / chunk), own + i % chunk); }), 0u)
        << "all_to_all";
  }
}

TEST(HipKernelNames, AreAllThere) {
  // Seven f32 and four bf16 tiles, two kernels of collectives for both types, three operations and four data kernels for three.
  EXPECT_EQ(registered().size(), 7u + 4u + 2 * 2u + 3 * (3u + 4u));
}

}  // namespace
