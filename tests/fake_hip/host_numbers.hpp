#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

/// Elements of device memory as the fakes of AMD's libraries read and write them.
namespace fake_hip {

inline float read_bf16(const void* at) {
  std::uint16_t half = 0;
  std::memcpy(&half, at, sizeof half);
  const std::uint32_t bits = static_cast<std::uint32_t>(half) << 16;
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// Rounds to nearest, ties to even; NaN stays NaN.
inline void write_bf16(void* at, float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  const bool nan = (bits & 0x7FFFFFFFU) > 0x7F800000U;
  const auto half = static_cast<std::uint16_t>(nan ? bits >> 16 | 1U : (bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16);
  std::memcpy(at, &half, sizeof half);
}

enum class Format { f32, bf16, f16 };

/// An array of one format.
struct Numbers {
  void* data = nullptr;
  Format format = Format::f32;

  [[nodiscard]] std::size_t bytes() const { return format == Format::f32 ? 4 : 2; }
  [[nodiscard]] char* at(std::size_t index) const { return static_cast<char*>(data) + index * bytes(); }
  [[nodiscard]] float read(std::size_t index) const {
    if (format == Format::bf16) { return read_bf16(at(index)); }
    if (format == Format::f16) {
      _Float16 half = 0;
      std::memcpy(&half, at(index), sizeof half);
      return static_cast<float>(half);
    }
    float value = 0;
    std::memcpy(&value, at(index), sizeof value);
    return value;
  }
  void write(std::size_t index, float value) const {
    if (format == Format::bf16) {
      write_bf16(at(index), value);
    } else if (format == Format::f16) {
      const auto half = static_cast<_Float16>(value);
      std::memcpy(at(index), &half, sizeof half);
    } else {
      std::memcpy(at(index), &value, sizeof value);
    }
  }
};

}  // namespace fake_hip
