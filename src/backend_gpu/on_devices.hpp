#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backend/schedule.hpp"
#include "backend_gpu/collective.hpp"
#include "backend_gpu/communicator_keys.hpp"
#include "backend_gpu/compute_kernel.hpp"
#include "backend_gpu/meeting.hpp"
#include "backend_gpu/peer_copies.hpp"
#include "backend_gpu/platform.hpp"
#include "backend_gpu/ranks_here.hpp"
#include "backend_gpu/schedule_calls.hpp"
#include "elbowroom/backend/registry.hpp"
#include "elbowroom/model/step.hpp"
#include "elbowroom/plan/capabilities.hpp"
#include "elbowroom/plan/program.hpp"

namespace elbowroom::gpu {

/// What the workloads of one backend share and keep alive.
struct Machine {
  std::shared_ptr<Platform> platform;
  std::shared_ptr<const CommLibrary> comm;
};

/// Everything that a step has on the devices of the ranks here. What only some programs need is made when the first of them is run.
class OnDevices {
 public:
  /// `invalid_input` for what no GPU backend runs: a recorded kernel, a gap of the host. Rank i of the step is device i, unless the
  /// options say that this process has one rank alone.
  static Result<std::unique_ptr<OnDevices>> make(const Step& step, const Machine& machine, const BackendOptions& options);

  [[nodiscard]] const Platform& platform() const { return *machine_.platform; }
  [[nodiscard]] const RanksHere& ranks() const { return here_; }
  /// Whether no other process takes part.
  [[nodiscard]] bool alone() const { return static_cast<int>(here_.size()) == step_.ranks; }
  /// By operation, with numbers in ranks() as devices.
  [[nodiscard]] const std::vector<elbowroom::detail::OperationDevices>& operation_devices() const { return operation_devices_; }
  /// Of a computation; operations that share memory share it.
  [[nodiscard]] ComputeKernel& compute(int operation) const { return *work_of(operation).compute; }
  /// Fills what the operation writes with NaN, and compares it with a reference; both wait.
  [[nodiscard]] Status poison(int operation) const;
  [[nodiscard]] Status verify(int operation) const;
  [[nodiscard]] StartLine& start() const { return *start_; }

  [[nodiscard]] const Capabilities& capabilities() const { return can_; }

  /// Whether the launch's settings can act here; the reason otherwise.
  [[nodiscard]] Status accepts(const Launch& launch, const Lane& lane) const;

  /// The program with a lane for each stream. SMs may be left out for a launch and not for the one before it on its lane. The lane
  /// then goes on on another stream behind it.
  [[nodiscard]] Result<Program> on_streams(const Program& program) const;

  /// What such a program, which accepts() let pass, is enqueued with. The first one with a budget takes a second.
  Result<ScheduleCalls> calls_for(const Program& program);

  /// What such a program goes over that was never given an id, beginning with what the processes meet by; nothing where alone().
  [[nodiscard]] std::vector<CommKey> without_id(const Program& program) const;
  /// As many new ids, one behind the other.
  [[nodiscard]] Result<std::string> new_ids(std::size_t count) const;
  Status give_id(const CommKey& key, const UniqueId& id);

  /// Ends all running collectives; nothing can be run any more.
  void abort();

 private:
  /// What one communicator of an operation works on.
  struct Exchange {
    std::unique_ptr<CollectiveBuffers> buffers;
    std::unique_ptr<PeerCopies> detour;  ///< null until a program asks for it
  };
  /// A kernel, or what communicates.
  struct Work {
    std::unique_ptr<ComputeKernel> compute;
    std::vector<Exchange> exchanges;
  };
  OnDevices(const Step& step, const Machine& machine, const BackendOptions& options);

  Status build(std::uint64_t seed);
  Status add_work(const Operation& operation, std::uint64_t seed);
  Status add_exchange(const Collective& collective, const Group& group, std::uint64_t seed, Work& work);
  [[nodiscard]] const Runtime& runtime() const { return machine_.platform->runtime(); }
  [[nodiscard]] const Operation& operation_of(const Launch& launch) const {
    return step_.operations[static_cast<std::size_t>(launch.operation)];
  }
  [[nodiscard]] const Work& work_of(int operation) const { return work_[work_index_[static_cast<std::size_t>(operation)]]; }
  Status meet_by_communicator();
  Result<UniqueId> id_of(const CommKey& key);
  Result<Communicators*> communicators_for(const CommKey& key);
  /// The same with the buffers made known to them, where their budget needs that.
  Result<const Communicators*> communicators_knowing(const CollectiveBuffers& buffers, const CommKey& key);
  Status add_detour(Exchange& exchange, CommRoute& route);
  Result<CommRoute> route_for(Exchange& exchange, CollectiveOp op, int comm_lane, const CommSettings& settings);
  Result<std::vector<GroupUse>> groups_for(int operation, int comm_lane, const CommSettings& settings);
  /// Of each rank here.
  Result<std::vector<StreamHandle>> streams_for(const Lane& lane);

  Step step_;
  Machine machine_;  // before the others, which are made with it
  RanksHere here_;
  std::chrono::milliseconds limit_;
  Capabilities can_;
  std::vector<Work> work_;
  std::vector<std::size_t> work_index_;  ///< by operation
  std::vector<elbowroom::detail::OperationDevices> operation_devices_;
  std::unique_ptr<StartLine> start_;
  std::vector<DeviceEvents> events_;  ///< by rank here, as all that follows
  std::map<Lane, std::vector<Stream>> streams_;
  std::map<Lane, std::vector<SmPartition>> partitions_;
  std::map<CommKey, std::optional<UniqueId>> ids_;  ///< that were given; absent once taken
  std::map<CommKey, Communicators> communicators_;
  std::optional<Meeting> meeting_;
  std::set<std::pair<CommKey, const CollectiveBuffers*>> registered_;  ///< which buffers which communicators know
  /// Why no memory can be registered between these devices, once that was tried: to hear it again takes no further communicator.
  Status symmetric_refused_;
};

}  // namespace elbowroom::gpu
