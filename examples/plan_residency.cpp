// Which pads hold a kernel at which residency on an H200, and whether an NCCL block fits beside it. Needs no GPU.
#include <cstdio>
#include <elbowroom/model/comm_catalog.hpp>
#include <elbowroom/model/device_catalog.hpp>
#include <elbowroom/plan/residency_plan.hpp>

int main() {
  using namespace elbowroom;
  const Result<DeviceLimits> h200 = find_device("h200");
  const KernelFootprint gemm{Threads(256), Registers(56), Bytes(4096), Bytes(0)};
  const Result<CommKernel> nccl = h200 ? find_comm_kernel("nccl-2.28:544", *h200) : h200.error();
  const Result<ResidencyPlan> plan = nccl ? plan_residencies(*h200, gemm, nccl->footprint) : nccl.error();
  if (!plan) {
    std::fprintf(stderr, "%s\n", plan.error().message.c_str());
    return 1;
  }
  for (const auto& row : plan->rows) {
    std::printf("%lld blocks/SM: pad %lld to %lld B\n", static_cast<long long>(row.range.blocks_per_sm.count()),
                static_cast<long long>(row.range.pad_min.count()), static_cast<long long>(row.range.pad_max.count()));
  }
  return 0;
}
