#include "elbowroom/backend/backend.hpp"

#include <fmt/format.h>

#include "elbowroom/backend/launcher.hpp"
#include "elbowroom/model/scenario.hpp"
#include "elbowroom/model/step.hpp"

namespace elbowroom {

Result<std::unique_ptr<Workload>> Backend::prepare(const Scenario& scenario) {
  if (Status valid = validate(scenario); !valid) { return valid.error(); }
  return prepare(step_of(scenario));
}

Result<std::unique_ptr<Launcher>> Backend::launcher(int) {
  return unavailable(fmt::format("backend {}: runs scenarios, it launches no kernels of an application", name()));
}

}  // namespace elbowroom
