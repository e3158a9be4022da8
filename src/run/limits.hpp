#pragma once

#include <cstddef>
#include <cstdint>

/// The protocol between `elbowroom run` and the library that it preloads: one set of files writes and reads each format. The
/// preloaded library is built without exceptions and takes nothing else of Elbowroom, so these files use the standard library
/// alone, and reading allocates nothing.
namespace elbowroom::run {

/// No device holds more blocks on an SM.
inline constexpr std::uint32_t kGreatestResidency = 32;
/// No device has more SMs.
inline constexpr std::uint32_t kGreatestSms = 1024;
/// No NCCL has more for a collective.
inline constexpr std::uint32_t kGreatestCommBlocks = 64;

// What the preloaded library has places for.
inline constexpr std::size_t kMostCaps = 64;
inline constexpr std::size_t kMostCommunication = 32;  ///< names of kernels that communicate
inline constexpr std::size_t kMostFootprints = 32;
inline constexpr std::size_t kMostProducts = 32;
inline constexpr std::size_t kMostDevices = 8;          ///< that rules are for
inline constexpr std::size_t kMostChoices = 256;        ///< of earlier runs
inline constexpr std::size_t kLongestArm = 127;         ///< bytes, of the names of the controls that were chosen
inline constexpr std::size_t kLongestKernelName = 127;  ///< bytes, of a cap or of one that communicates
inline constexpr std::size_t kLongestDeviceWord = 15;   ///< bytes, of a device that rules are for: "h200"
inline constexpr std::size_t kLongestDeviceName = 95;   ///< bytes, as a driver names its device: "NVIDIA H200"

}  // namespace elbowroom::run
