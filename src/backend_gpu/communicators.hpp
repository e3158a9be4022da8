#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "backend_gpu/comm_library.hpp"
#include "backend_gpu/runtime.hpp"
#include "elbowroom/base/quantities.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::gpu {

/// What a communicator can be told about its kernels. Fixed when it is made.
struct CommBudget {
  std::optional<Blocks> comm_blocks;  ///< absent: the library's own choice
  std::optional<int> cluster;         ///< absent: the library's own choice
  bool copy_engine = false;           ///< moves data by copy engines; the other two must be absent
  bool symmetric = false;             ///< its kernels work on symmetric memory
  auto operator<=>(const CommBudget&) const = default;

  static CommBudget of_copy_engines() { return {std::nullopt, std::nullopt, true, false}; }
};

/// The communicator of some devices, one handle for each, all driven by this process. Making one takes about a second.
class Communicators {
 public:
  /// A budget that asks for something needs a library that has_budgets(). Both libraries outlive the communicators. `devices`: by
  /// rank.
  static Result<Communicators> make(const Runtime& runtime, const CommLibrary& library, const std::vector<int>& devices,
                                    const CommBudget& budget);
  Communicators(Communicators&& other) noexcept = default;
  Communicators& operator=(Communicators&&) = delete;
  ~Communicators();

  /// Makes memory[i] of rank i known to all ranks, as copy engines and kernels on symmetric memory need it; both live until these
  /// communicators are gone. `unavailable` where the links do not allow it.
  Status register_symmetric(const std::vector<void*>& memory, Bytes size);

  [[nodiscard]] CommHandle rank(int index) const { return comms_[static_cast<std::size_t>(index)]; }

  /// The first error that the library met after its calls had returned.
  [[nodiscard]] Status asynchronous_error() const;

  /// Ends all running collectives and gives the communicators up; the only call that helps against a hang.
  void abort();

 private:
  explicit Communicators(const CommLibrary& library) : library_(&library) {}

  const CommLibrary* library_;
  std::vector<CommHandle> comms_;
  std::vector<std::pair<CommHandle, WindowHandle>> windows_;
};

}  // namespace elbowroom::gpu
