#include "backend_cuda/green_context.hpp"

#include <cuda.h>
#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "backend_cuda/driver_entry.hpp"
#include "plan/control_name.hpp"

namespace elbowroom::cuda {
namespace {

constexpr unsigned kGreenContexts = 12'050;  // the last of these functions came with it

std::string refusal(std::string_view why) { return elbowroom::detail::refusal_of<&OverlapPlan::comm_sms>(why); }

struct Driver {
  decltype(cuDeviceGetDevResource)* get_resource;
  decltype(cuDevSmResourceSplitByCount)* split;
  decltype(cuDevResourceGenerateDesc)* describe;
  decltype(cuGreenCtxCreate)* create;
  decltype(cuGreenCtxDestroy)* destroy;
  decltype(cuGreenCtxStreamCreate)* create_stream;

  static Result<Driver> find() {
    Driver driver{};
    for (const Status& found : {
             driver_entry("cuDeviceGetDevResource", driver.get_resource, kGreenContexts),
             driver_entry("cuDevSmResourceSplitByCount", driver.split, kGreenContexts),
             driver_entry("cuDevResourceGenerateDesc", driver.describe, kGreenContexts),
             driver_entry("cuGreenCtxCreate", driver.create, kGreenContexts),
             driver_entry("cuGreenCtxDestroy", driver.destroy, kGreenContexts),
             driver_entry("cuGreenCtxStreamCreate", driver.create_stream, kGreenContexts),
         }) {
      if (!found) { return unavailable(refusal("no green contexts: " + found.error().message)); }
    }
    return driver;
  }
};

Status check(CUresult code, const char* call) { return linked_runtime().check(static_cast<int>(code), call); }

/// What is left of the device's SMs once a group for the collective is split off.
Result<CUdevResource> rest_of(const Driver& driver, CUdevice device, Sms left_out) {
  CUdevResource whole{};
  if (Status asked = check(driver.get_resource(device, &whole, CU_DEV_RESOURCE_TYPE_SM), "cuDeviceGetDevResource"); !asked) {
    return asked.error();
  }
  if (left_out < Sms(1) || left_out >= Sms(whole.sm.smCount)) {
    return invalid_input(refusal(fmt::format("{}, expected 1 to {}", left_out.count(), whole.sm.smCount - 1)));
  }
  CUdevResource group{};
  CUdevResource rest{};
  unsigned int groups = 1;
  if (Status split = check(driver.split(&group, &groups, &whole, &rest, 0, static_cast<unsigned>(left_out.count())),
                           "cuDevSmResourceSplitByCount");
      !split) {
    return split.error();
  }
  if (groups == 0 || rest.sm.smCount == 0) {
    return invalid_input(refusal(fmt::format("{} of {} SMs cannot be split off", left_out.count(), whole.sm.smCount)));
  }
  return rest;
}

}  // namespace

Result<gpu::SmPartition> green_context(Sms left_out, int device) {
  const Result<Driver> driver = Driver::find();
  if (!driver) { return driver.error(); }
  Result<CUdevResource> rest = rest_of(*driver, device, left_out);
  if (!rest) { return rest.error(); }

  CUdevResourceDesc description = nullptr;
  if (Status described = check(driver->describe(&description, &*rest, 1), "cuDevResourceGenerateDesc"); !described) {
    return described.error();
  }
  CUgreenCtx made = nullptr;
  if (Status created = check(driver->create(&made, description, device, CU_GREEN_CTX_DEFAULT_STREAM), "cuGreenCtxCreate");
      !created) {
    return created.error();
  }
  const std::shared_ptr<void> context(
      made, [destroy = driver->destroy](void* green) { static_cast<void>(destroy(static_cast<CUgreenCtx>(green))); });
  CUstream stream = nullptr;
  if (Status created = check(driver->create_stream(&stream, made, CU_STREAM_NON_BLOCKING, 0), "cuGreenCtxStreamCreate"); !created) {
    return created.error();
  }
  gpu::Stream owned(reinterpret_cast<gpu::StreamHandle>(stream), {linked_runtime().calls.stream_destroy.function});
  return gpu::SmPartition{context, std::move(owned)};
}

}  // namespace elbowroom::cuda
