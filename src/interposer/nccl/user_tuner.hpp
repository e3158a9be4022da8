#pragma once

#include "interposer/nccl/tuner_abi.hpp"

namespace elbowroom::interposer::nccl {

/// What NCCL says of a communicator when it is made.
struct TunedCommunicator {
  std::uint64_t id = 0;  ///< equal on all ranks; 0: before version 5 of the interface
  std::size_t ranks = 0, nodes = 0;
  Logger log = nullptr;
  void* domains = nullptr;
  void* constants = nullptr;
};

/// One question of NCCL's. Of version 2 of the interface the last four, of later ones `costs` and what follows it.
struct TunerQuestion {
  int function = 0;
  std::size_t bytes = 0;
  int pipelined = 0;
  float** costs = nullptr;
  int algorithms = 0, protocols = 0;
  int registered = 0;
  int* channels = nullptr;
  int collnet = 0, nvls = 0;
  int* algorithm = nullptr;
  int* protocol = nullptr;
};

/// The plugin that NCCL would use if this library were not its plugin; version 0: none.
struct UserTuner {
  int version = 0;
  const void* symbol = nullptr;  ///< the TunerV2 ... TunerV6 of that version

  /// Looks where NCCL looks: ELBOWROOM_RUN_TUNER_PLUGIN stands for what NCCL_TUNER_PLUGIN was; then nccl.conf, then the default
  /// name, then the network plugin that NCCL has loaded. `newest`: of the versions that this NCCL knows. The library stays loaded.
  static UserTuner find(int newest, Logger log);

  [[nodiscard]] const char* name() const;
  Result init(const TunedCommunicator& communicator, void** context) const;
  Result ask(void* context, const TunerQuestion& question) const;
  Result end(void* context) const;
};

}  // namespace elbowroom::interposer::nccl
