#include "elbowroom/base/environment.hpp"

#include <array>
#include <cstdlib>

namespace elbowroom {

std::span<const EnvironmentVariable> environment_variables() {
  static constexpr std::array all{
      kNcclLibrary, kCublasLibrary, kCuptiLibrary, kHipLibrary, kHiprtcLibrary, kRcclLibrary, kRocblasLibrary,
      kNvmlLibrary, kAmdSmiLibrary, kProfile,      kDevicePath, kSimNoise,      kPython,      kRank,
      kRanks,       kLocalRank,     kRankHost,     kRankPort,   kJob,           kToken,       kTokenFile};
  return all;
}

std::optional<std::string> read(const EnvironmentVariable& variable) {
  // A program that runs with more rights than its user's takes no library and no file from that user's environment.
  const char* value = secure_getenv(variable.name);
  if (value == nullptr || *value == '\0') { return std::nullopt; }
  return std::string(value);
}

}  // namespace elbowroom
