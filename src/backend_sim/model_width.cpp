#include "backend_sim/model_width.hpp"

#include <fmt/format.h>

namespace elbowroom::sim {
namespace {

// docs/simulator.md, "How far off". H200: rows of data/ on which no constant rests, nothing given. H100: suite `quick` and 51 cells
// of the paper and around it on two of them.
constexpr double kNineInTenOfH200 = 0.076;
constexpr double kNineInTenOfH100 = 0.163;

}  // namespace

ModelWidth model_width_of(const DeviceLimits& device) {
  if (device.name == "h200") {
    return {
        Basis::fitted, kNineInTenOfH200,
        "fitted on h200; of 225 times taken there that no constant rests on nine in ten lie within 7.6 %, the worst within 15.3 %"};
  }
  if (device.name == "h100") {
    return {Basis::compared, kNineInTenOfH100,
            "no constant is fitted on h100; of 270 times taken on two nine in ten lie within 16.3 %, the worst within 31.1 %"};
  }
  return {Basis::extrapolated, kNineInTenOfH100,
          fmt::format("nothing was measured on {}; expect an error of 16.3 % or more, as on h100, where nothing is fitted either",
                      device.name)};
}

}  // namespace elbowroom::sim
