#include "backend_sim/model_width.hpp"

#include <fmt/format.h>

#include "elbowroom/model/device_catalog.hpp"
#include "elbowroom/model/device_facts.hpp"

namespace elbowroom::sim {
namespace {

// docs/simulator.md, "How far off". H200: rows of data/ on which no constant rests, nothing given. H100: suite `quick` and 70 cells
// of the paper and around it on two of them.
constexpr double kNineInTenOfH200 = 0.076;
constexpr double kNineInTenOfH100 = 0.2;

/// Whether the constants are the catalog's: a file may give the name to others.
bool is_of_catalog(const DeviceLimits& device, std::string_view name) {
  return device.name == name && facts_of(device) == find_device(name)->facts.get();
}

}  // namespace

ModelWidth model_width_of(const DeviceLimits& device) {
  if (const DeviceFacts* facts = facts_of(device); facts->model) { return *facts->model; }
  if (is_of_catalog(device, "h200")) {
    return {
        Basis::fitted, kNineInTenOfH200,
        fmt::format("fitted on h200; of 225 times taken there that no constant rests on nine in ten lie within {:.1f} %, the worst "
                    "within 15.3 %",
                    100 * kNineInTenOfH200)};
  }
  if (is_of_catalog(device, "h100")) {
    return {Basis::compared, kNineInTenOfH100,
            fmt::format(
                "no constant is fitted on h100; of 365 times taken on two nine in ten lie within {:.1f} %, the worst within 31.1 %",
                100 * kNineInTenOfH100)};
  }
  return {Basis::extrapolated, kNineInTenOfH100,
          fmt::format("nothing was measured on {}; expect an error of {:.1f} % or more, as on h100, where nothing is fitted either",
                      device.name, 100 * kNineInTenOfH100)};
}

}  // namespace elbowroom::sim
