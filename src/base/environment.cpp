#include "elbowroom/base/environment.hpp"

#include <array>
#include <cstdlib>

namespace elbowroom {

std::span<const EnvironmentVariable> environment_variables() {
  static constexpr std::array all{kNcclLibrary, kCublasLibrary,  kCuptiLibrary, kHipLibrary,    kHiprtcLibrary,
                                  kRcclLibrary, kRocblasLibrary, kNvmlLibrary,  kAmdSmiLibrary, kProfile,
                                  kDevicePath,  kCuobjdump,      kSimNoise,     kRank,          kRanks,
                                  kLocalRank,   kRankHost,       kRankPort,     kToken,         kTokenFile};
  return all;
}

std::optional<std::string> read(const EnvironmentVariable& variable) {
  const char* value = std::getenv(variable.name);
  if (value == nullptr || *value == '\0') { return std::nullopt; }
  return std::string(value);
}

}  // namespace elbowroom
