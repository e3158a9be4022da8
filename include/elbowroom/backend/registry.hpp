#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "elbowroom/backend/backend.hpp"
#include "elbowroom/backend/variability.hpp"
#include "elbowroom/base/export.hpp"
#include "elbowroom/base/notice.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/network/machine.hpp"

namespace elbowroom {

/// Which of several processes, one for each GPU, this one is.
struct OwnRank {
  int rank = 0;
  int size = 1;   ///< of the run
  int local = 0;  ///< among the ranks of this host: the number of its GPU, unless the process sees one alone
};

struct BackendOptions {
  std::string device = "auto";                    ///< catalog name that the devices must be (cuda, hip) or are taken to be (sim)
  std::optional<DeviceLimits> described{};        ///< sim: what the devices are taken to be, whatever `device` says
  std::uint64_t seed = 1;                         ///< of the data that kernels work on and of any noise model
  bool predicts = false;                          ///< sim: without the noise of ELBOWROOM_SIM_NOISE, as a prediction is
  Variability variability{};                      ///< sim: how GPUs differ; `seed` draws it
  std::chrono::milliseconds time_limit{120'000};  ///< a run that takes longer is aborted and reported
  std::optional<MachineSpec> machine =
      std::nullopt;  ///< sim: what its ranks are on; absent: the first of the catalog with such devices
  std::optional<OwnRank> own_rank = std::nullopt;  ///< cuda, hip: absent where this process drives every rank of a step
  NoticeSink notice{};
};

struct BackendEntry {
  std::string_view name;
  std::string_view purpose;
  /// Never null: either a backend with at least one device or the reason why this one is unusable here.
  Result<std::unique_ptr<Backend>> (*open)(const BackendOptions& options);
};

/// Every backend of this build, best first; one that the build lacks is listed too and says so when opened.
ELBOWROOM_API std::span<const BackendEntry> backends();

/// Opens the named backend; "auto" opens the first usable one and says in one notice which, and what it passed over. Unknown names
/// are `invalid_input`; when none is usable the `unavailable` message carries every backend's reason.
ELBOWROOM_API Result<std::unique_ptr<Backend>> open_backend(std::string_view name, const BackendOptions& options);

}  // namespace elbowroom
