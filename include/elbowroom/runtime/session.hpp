#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "elbowroom/backend/backend.hpp"
#include "elbowroom/backend/launcher.hpp"
#include "elbowroom/base/export.hpp"
#include "elbowroom/base/notice.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/plan/overlap_plan.hpp"

namespace elbowroom {

struct SessionOptions {
  std::string backend = "auto";
  int gpus = 1;  ///< the first so many devices
  NoticeSink notice;
};

/// What an application that writes its own launches needs: two streams per device in the right order of priority, and launches
/// padded as a plan says. Collectives are the application's own calls on comm_stream(). One thread at a time.
class ELBOWROOM_API Session {
 public:
  /// `unavailable` where no backend can launch kernels; `invalid_input` when there are fewer devices than asked for.
  static Result<Session> open(const SessionOptions& options);

  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  [[nodiscard]] const DeviceInfo& device(int index) const;
  [[nodiscard]] Stream compute_stream(int device) const;
  [[nodiscard]] Stream comm_stream(int device) const;

  /// The plan that holds `kernel` at `residency` blocks per SM with the least pad, from the live kernel and device.
  /// `invalid_input` says why that residency cannot be enforced.
  Result<OverlapPlan> shape(Kernel kernel, Extent block, BlocksPerSm residency, Bytes dynamic_shared = Bytes(0));

  /// As Launcher::launch; read there what must not be padded.
  Status launch(Kernel kernel, Extent grid, Extent block, std::span<void*> arguments, Stream stream, const OverlapPlan& plan,
                Bytes dynamic_shared = Bytes(0));

  Status synchronize();

 private:
  Session(std::unique_ptr<Backend> backend, std::unique_ptr<Launcher> launcher);

  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Launcher> launcher_;
};

}  // namespace elbowroom
