#pragma once

#include <optional>
#include <vector>

#include "backend_sim/engine.hpp"
#include "elbowroom/backend/backend.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/scenario.hpp"

namespace elbowroom::sim {

/// One schedule on one device among equals, everything decided.
struct SimCase {
  Machine machine;
  ComputeProfile compute;  ///< footprint padded
  CommProfile comm;
  Pattern pattern = Pattern::pipeline;
  int iterations = 1;
  Order order = Order::concurrent;
  bool priority = false;
  bool launch_gate = false;
  std::optional<Percent> carveout;
  double copied = 0;         ///< bytes that copy engines send for each collective, after its kernel
  bool symmetric = false;    ///< collectives' kernels work on symmetric memory
  bool copies_only = false;  ///< collectives have no kernel
  int first_compute = 0;     ///< iterations before this one have no compute kernel
  int idle_comms = 0;        ///< so many iterations at the end have no collective
};

/// The launches that a backend enqueues, in its order and on its streams.
std::vector<Launch> make_program(const SimCase& what);

/// `invalid_input` when a kernel does not fit the device, `failed` when it was overdue.
Result<EngineRun> simulate(const SimCase& what, const DeviceLimits& device, const Overdue& overdue = {});

}  // namespace elbowroom::sim
