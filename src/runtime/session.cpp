#include "elbowroom/runtime/session.hpp"

#include <fmt/format.h>

#include <utility>

#include "elbowroom/backend/registry.hpp"
#include "elbowroom/plan/shape.hpp"

namespace elbowroom {

Session::Session(std::unique_ptr<Backend> backend, std::unique_ptr<Launcher> launcher)
    : backend_(std::move(backend)), launcher_(std::move(launcher)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Result<Session> Session::open(const SessionOptions& options) {
  BackendOptions backend_options;
  backend_options.notice = options.notice;
  Result<std::unique_ptr<Backend>> backend = open_backend(options.backend, backend_options);
  if (!backend) return backend.error();
  const int present = static_cast<int>((*backend)->devices().size());
  if (options.gpus < 1 || options.gpus > present) {
    return invalid_input(
        fmt::format("gpus: {}, expected 1 to {} (devices of backend {})", options.gpus, present, (*backend)->name()));
  }
  Result<std::unique_ptr<Launcher>> launcher = (*backend)->launcher(options.gpus);
  if (!launcher) return launcher.error();
  return Session(std::move(*backend), std::move(*launcher));
}

const DeviceInfo& Session::device(int index) const { return backend_->devices()[static_cast<std::size_t>(index)]; }
Stream Session::compute_stream(int device) const { return launcher_->compute_stream(device); }
Stream Session::comm_stream(int device) const { return launcher_->comm_stream(device); }

Result<OverlapPlan> Session::shape(Kernel kernel, Extent block, BlocksPerSm residency, Bytes dynamic_shared) {
  const Result<KernelFootprint> footprint = launcher_->footprint(kernel, block, dynamic_shared);
  if (!footprint) return footprint.error();
  return shape_to(device(0).limits, *footprint, residency);
}

Status Session::launch(Kernel kernel, Extent grid, Extent block, std::span<void*> arguments, Stream stream, const OverlapPlan& plan,
                       Bytes dynamic_shared) {
  return launcher_->launch(kernel, grid, block, arguments, dynamic_shared, stream, plan);
}

Status Session::synchronize() { return launcher_->synchronize(); }

}  // namespace elbowroom
