#pragma once

#include <array>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "backend_gpu/platform.hpp"
#include "elbowroom/backend/backend.hpp"
#include "elbowroom/backend/launcher.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/plan/compute_facts.hpp"

namespace elbowroom {

struct ComputeSettings;

}  // namespace elbowroom

namespace elbowroom::gpu {

/// What one block of a function takes, beside the dynamic shared memory of a launch. `kernels` are the calls for its kind of
/// module.
Result<KernelFootprint> read_footprint(const Runtime& runtime, const KernelCalls& kernels, Function function, Threads threads);

/// Lets launches of the function ask for `shared` bytes of dynamic shared memory, where that must be allowed. What was allowed
/// before stays; that alone changes no launch.
Status allow_dynamic_shared(const Runtime& runtime, const KernelCalls& kernels, Function function, Bytes shared);

/// What a launch takes as a kernel's arguments, which must be of exactly its parameters' types.
template <class... Arguments>
std::array<void*, sizeof...(Arguments)> pointers_to(Arguments&... arguments) {
  // What takes them reads them alone.
  return {const_cast<void*>(static_cast<const void*>(&arguments))...};  // NOLINT(cppcoreguidelines-pro-type-const-cast)
}

/// Enqueues one launch on the current device. `arguments` as pointers_to() gives them; `what` begins an error's message.
Status launch(const Runtime& runtime, const OwnFunction& own, Extent grid, Bytes dynamic_shared, StreamHandle stream,
              std::span<void* const> arguments, const char* what);

/// A kernel of this library, launched with padding: footprint from the runtime, a pad of what a launch may still ask for.
class OwnKernel {
 public:
  /// `platform` outlives it. `grid` may ask for fewer blocks than there is work: these kernels loop.
  static Result<OwnKernel> make(Platform& platform, const std::string& name, Extent grid, const std::vector<int>& devices);

  [[nodiscard]] const ComputeFacts& facts() const { return facts_; }
  /// `arguments` as pointers_to() gives them; `device` must be current.
  Status launch(int device, StreamHandle stream, const ComputeSettings& settings, std::span<void* const> arguments) const;

 private:
  OwnKernel(const Runtime& runtime, Extent grid) : runtime_(&runtime), grid_(grid) {}

  const Runtime* runtime_;
  Extent grid_;
  std::map<int, OwnFunction> functions_;  ///< by device
  ComputeFacts facts_;
};

}  // namespace elbowroom::gpu
