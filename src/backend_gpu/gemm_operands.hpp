#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "backend_gpu/handles.hpp"
#include "backend_gpu/platform.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/scenario.hpp"

namespace elbowroom::gpu {

struct GemmExtents {
  std::int64_t m = 0, n = 0, k = 0;
  DataType dtype_ab = DataType::f32;
  DataType dtype_c = DataType::f32;
  bool b_by_columns = false;

  [[nodiscard]] Bytes a() const { return m * k * size_of(dtype_ab); }
  [[nodiscard]] Bytes b() const { return k * n * size_of(dtype_ab); }
  [[nodiscard]] Bytes c() const { return m * n * size_of(dtype_c); }
};

/// A, B and C of one product on each device; A and B hold the same random values everywhere.
class GemmOperands {
 public:
  /// `platform` outlives the operands.
  static Result<GemmOperands> make(Platform& platform, const GemmExtents& extents, const std::vector<int>& devices,
                                   std::uint64_t seed);

  struct OnDevice {
    Memory a, b, c;
  };
  [[nodiscard]] const OnDevice& on(int device) const { return devices_.at(device); }
  [[nodiscard]] const GemmExtents& extents() const { return extents_; }

  [[nodiscard]] Status poison() const;
  /// Freivalds' check of every element of C on every device.
  [[nodiscard]] Status verify() const;

 private:
  GemmOperands(Platform& platform, const GemmExtents& extents, std::uint64_t seed)
      : platform_(&platform), extents_(extents), seed_(seed) {}
  Status add_device(int device);

  Platform* platform_;
  GemmExtents extents_;
  std::uint64_t seed_;
  std::map<int, OnDevice> devices_;  ///< by number
};

}  // namespace elbowroom::gpu
