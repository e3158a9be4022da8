#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "elbowroom/base/export.hpp"

namespace elbowroom {

/// One environment variable that Elbowroom reads. The list of them is their documentation: `elbowroom list` prints it.
struct EnvironmentVariable {
  const char* name;
  std::string_view meaning;
};

inline constexpr EnvironmentVariable kNcclLibrary{"ELBOWROOM_NCCL_LIBRARY",
                                                  "path of the NCCL library to load instead of libnccl.so.2"};
inline constexpr EnvironmentVariable kCublasLibrary{"ELBOWROOM_CUBLAS_LIBRARY",
                                                    "path of the cuBLAS library to load instead of libcublas.so"};
inline constexpr EnvironmentVariable kCuptiLibrary{"ELBOWROOM_CUPTI_LIBRARY",
                                                   "path of the CUPTI library to load instead of libcupti.so"};
inline constexpr EnvironmentVariable kHipLibrary{"ELBOWROOM_HIP_LIBRARY",
                                                 "path of the HIP runtime to load instead of libamdhip64.so"};
inline constexpr EnvironmentVariable kHiprtcLibrary{"ELBOWROOM_HIPRTC_LIBRARY",
                                                    "path of HIP's run time compiler to load instead of libhiprtc.so"};
inline constexpr EnvironmentVariable kRcclLibrary{"ELBOWROOM_RCCL_LIBRARY",
                                                  "path of the RCCL library to load instead of librccl.so.1"};
inline constexpr EnvironmentVariable kRocblasLibrary{"ELBOWROOM_ROCBLAS_LIBRARY",
                                                     "path of the rocBLAS library to load instead of librocblas.so"};
inline constexpr EnvironmentVariable kNvmlLibrary{"ELBOWROOM_NVML_LIBRARY",
                                                  "path of the NVML library to load instead of libnvidia-ml.so.1"};
inline constexpr EnvironmentVariable kAmdSmiLibrary{"ELBOWROOM_AMD_SMI_LIBRARY",
                                                    "path of the AMD SMI library to load instead of libamd_smi.so"};

inline constexpr EnvironmentVariable kProfile{"ELBOWROOM_PROFILE", "profile file that tune, bench and run use when none is named"};
inline constexpr EnvironmentVariable kDevicePath{"ELBOWROOM_DEVICE_PATH",
                                                 "folders of device files, with : between them, whose names --device takes"};
inline constexpr EnvironmentVariable kSimNoise{"ELBOWROOM_SIM_NOISE",
                                               "scatter of simulated run times, percent from 0 (default) to 20"};

inline constexpr EnvironmentVariable kPython{"ELBOWROOM_PYTHON",
                                             "Python that doctor asks about PyTorch and JAX instead of python3"};

inline constexpr EnvironmentVariable kRank{"ELBOWROOM_RANK", "which of several processes this one is, from 0"};
inline constexpr EnvironmentVariable kRanks{"ELBOWROOM_RANKS", "how many processes there are, one for each GPU"};
inline constexpr EnvironmentVariable kLocalRank{"ELBOWROOM_LOCAL_RANK", "which of this host's processes this one is, from 0"};
inline constexpr EnvironmentVariable kRankHost{"ELBOWROOM_HOST", "host of rank 0, where the others meet it"};
inline constexpr EnvironmentVariable kRankPort{"ELBOWROOM_PORT", "port of rank 0, where the others meet it"};
inline constexpr EnvironmentVariable kJob{"ELBOWROOM_JOB", "a word that ranks of one job have in common and no other job has"};
inline constexpr EnvironmentVariable kToken{"ELBOWROOM_TOKEN", "secret by which ranks of several hosts know each other"};
inline constexpr EnvironmentVariable kTokenFile{"ELBOWROOM_TOKEN_FILE", "file with that secret, which only its user can read"};

ELBOWROOM_API std::span<const EnvironmentVariable> environment_variables();

/// The variable's value; absent when it is unset or empty.
ELBOWROOM_API std::optional<std::string> read(const EnvironmentVariable& variable);

}  // namespace elbowroom
