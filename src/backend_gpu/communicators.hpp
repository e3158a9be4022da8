#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "backend_gpu/comm_library.hpp"
#include "backend_gpu/ranks_here.hpp"
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

/// The ranks of one communicator that are here, one handle for each. Making one takes about a second.
class Communicators {
 public:
  /// `id` is that of no other communicator, the same for all of its ranks. A budget that asks for something needs a library that
  /// has_budgets(). `runtime` outlives the communicators. Where other processes take part, this waits for them: `failed` after
  /// `limit`, and a thread that nothing can end is left behind then.
  static Result<Communicators> make(const Runtime& runtime, std::shared_ptr<const CommLibrary> library, const Group& group,
                                    const CommBudget& budget, const UniqueId& id, std::chrono::milliseconds limit);
  Communicators(Communicators&& other) noexcept = default;
  Communicators& operator=(Communicators&&) = delete;
  ~Communicators();

  /// Makes memory[i] of the i-th rank here known to all ranks, as copy engines and kernels on symmetric memory need it. Both live
  /// until these communicators are gone. `unavailable` where the links do not allow it.
  Status register_symmetric(const std::vector<void*>& memory, Bytes size);

  /// Of the ranks here, by number in the group.
  [[nodiscard]] CommHandle here(std::size_t index) const { return comms_[index]; }

  /// The first error that the library met after its calls had returned.
  [[nodiscard]] Status asynchronous_error() const;

  /// Ends all running collectives and gives the communicators up; the only call that helps against a hang.
  void abort();

 private:
  explicit Communicators(std::shared_ptr<const CommLibrary> library) : library_(std::move(library)) {}
  static Result<Communicators> make_now(const Runtime& runtime, std::shared_ptr<const CommLibrary> library, const Group& group,
                                        const CommBudget& budget, const UniqueId& id);

  std::shared_ptr<const CommLibrary> library_;
  std::vector<CommHandle> comms_;
  std::vector<std::pair<CommHandle, WindowHandle>> windows_;
};

}  // namespace elbowroom::gpu
