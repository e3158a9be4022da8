#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "backend_cuda/nccl_library.hpp"
#include "elbowroom/base/quantities.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::cuda {

/// What a communicator can be told about its kernels. Fixed when it is made.
struct CommBudget {
  std::optional<Blocks> comm_blocks;  ///< absent: NCCL's own choice
  std::optional<int> cluster;         ///< absent: NCCL's own choice
  bool copy_engine = false;           ///< moves data by copy engines; the other two must be absent
  bool symmetric = false;             ///< its kernels work on registered windows
  auto operator<=>(const CommBudget&) const = default;

  static CommBudget of_copy_engines() { return {std::nullopt, std::nullopt, true, false}; }
};

/// One NCCL communicator per device 0..ranks-1, all driven by this process. Making one takes about a second.
class Communicators {
 public:
  static Result<Communicators> make(const NcclLibrary& nccl, int ranks, const CommBudget& budget);
  Communicators(Communicators&& other) noexcept = default;
  Communicators& operator=(Communicators&&) = delete;
  ~Communicators();

  /// Makes memory[i] of rank i known to all ranks, as copy engines and kernels on symmetric memory need it; both live until these
  /// communicators are gone. `unavailable` where the links do not allow it.
  Status register_windows(const std::vector<void*>& memory, Bytes size);

  [[nodiscard]] NcclComm rank(int index) const { return comms_[static_cast<std::size_t>(index)]; }
  [[nodiscard]] int ranks() const { return static_cast<int>(comms_.size()); }

  [[nodiscard]] const CommBudget& budget() const { return budget_; }

  /// The first error that NCCL met after its calls had returned.
  [[nodiscard]] Status asynchronous_error() const;

  /// Ends all running collectives and gives the communicators up; the only call that helps against a hang.
  void abort();

 private:
  Communicators(const NcclLibrary& nccl, const CommBudget& budget) : nccl_(&nccl), budget_(budget) {}

  const NcclLibrary* nccl_;
  CommBudget budget_;
  std::vector<NcclComm> comms_;
  std::vector<std::pair<NcclComm, NcclWindow>> windows_;
};

}  // namespace elbowroom::cuda
