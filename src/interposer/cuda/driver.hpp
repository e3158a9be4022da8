#pragma once

#include <optional>

#include "interposer/core/core.hpp"
#include "interposer/cuda/contexts.hpp"
#include "interposer/cuda/cublas_lt_descriptors.hpp"
#include "interposer/cuda/driver_calls.hpp"
#include "interposer/cuda/launch_gate.hpp"
#include "interposer/driver/driver.hpp"
#include "interposer/nccl/report.hpp"
#include "interposer/nccl/shared_wish.hpp"

namespace elbowroom::interposer::cuda {

/// CUDA's driver (driver::Driver). A place is a context.
struct Driver {
  using Stream = cu::Stream;
  using Event = cu::Event;
  using Graph = cu::Graph;
  using GraphNode = cu::GraphNode;
  using GraphExec = cu::GraphExec;
  using KernelNodeParams = cu::KernelNodeParamsV2;
  using LaunchAttributeValue = cu::LaunchAttributeValue;
  using GraphInstantiateParams = cu::GraphInstantiateParams;
  using Calls = DriverCalls;
  using RelaxedCapture = cuda::RelaxedCapture;
  using Place = cu::Context;
  /// The driver keeps no last error.
  struct OwnCalls {
    explicit OwnCalls(const Calls& /*calls*/) {}
  };

  static constexpr int kSuccess = cu::kSuccess;
  static constexpr int kErrorNotReady = cu::kErrorNotReady;
  static constexpr std::uintptr_t kStreamLegacy = cu::kStreamLegacy;
  static constexpr std::uintptr_t kStreamPerThread = cu::kStreamPerThread;
  static constexpr unsigned kStreamNonBlocking = cu::kStreamNonBlocking;
  static constexpr unsigned kEventExternal = cu::kEventExternal;
  static constexpr int kGraphNodeKernel = cu::kGraphNodeKernel;
  static constexpr int kGraphNodeChild = cu::kGraphNodeChild;
  static constexpr int kGraphNodeLastWithoutKernels = cu::kGraphNodeBatchMemOp;
  static constexpr int kLaunchPriority = cu::kLaunchPriority;
  static constexpr std::uint64_t kInstantiateUseNodePriority = cu::kInstantiateUseNodePriority;
  static constexpr Place kNowhere = nullptr;
  static constexpr const char* kFinder = "cuGetProcAddress:";
  static constexpr void (*kWriteMore)(ReportWriter&) = &nccl::write_report;
  static constexpr RankAgreement (*kRanks)() = &nccl::rank_agreement;
  static constexpr RestGate* kRest = &launch_gate.rest;
  static constexpr std::atomic<bool>* kForeignEvents = &launch_gate.foreign_events;
  static constexpr PassGate* kPass = &launch_gate.pass;

  explicit Driver(const Calls& found) : calls(found), contexts(calls) { launch_gate.current_context = calls.ctx_get_current; }
  static std::optional<Calls> find();
  static void leave_possible(Rules& /*rules*/) {}

  static ContextId context_id(Place context) { return reinterpret_cast<std::uintptr_t>(context); }
  static Place place_of(ContextId id) { return reinterpret_cast<Place>(static_cast<std::uintptr_t>(id)); }
  [[nodiscard]] Place current_place() const { return contexts.current(); }
  [[nodiscard]] Place place_of(Stream stream) const { return contexts.of(stream); }
  [[nodiscard]] bool is_non_blocking(Stream stream) const;
  /// Also where the driver can be asked and does not say.
  [[nodiscard]] bool is_captured(Stream stream) const;
  /// Which capture the stream is in, as the driver numbers them; 0: in none, or the driver does not say.
  [[nodiscard]] std::uint64_t capture_of(Stream stream) const;
  int device(Place context) { return contexts.device(context); }
  std::uint32_t sms(Place context) { return contexts.sms(context); }
  [[nodiscard]] std::uint32_t least_sms(int device) const { return contexts.least_sms(device); }
  [[nodiscard]] int devices_seen() const { return contexts.devices_seen(); }
  /// Whether both lie in devices' memory, and not in that of one. Also where the driver does not say.
  [[nodiscard]] bool are_of_two_devices(cu::DevicePointer one, cu::DevicePointer other) const;
  [[nodiscard]] bool are_of_two_devices(Place one, Place other);
  bool greatest_priority(Place context, int& priority) { return contexts.greatest_priority(context, priority); }
  void forget(Place context) { contexts.forget(context); }

  [[nodiscard]] bool can_time() const {
    return calls.event_create != nullptr && calls.event_record != nullptr && calls.event_query != nullptr &&
           calls.event_elapsed_time != nullptr;
  }
  bool make_event(Place context, Event& event) const { return cuda::make_event(calls, context, event, 0); }
  void destroy_event(Place context, Event event) const { cuda::destroy_event(calls, context, event); }
  int elapsed(float& milliseconds, Event begin, Event end) const {
    const int state = calls.event_query(end);
    return state == cu::kSuccess ? calls.event_elapsed_time(&milliseconds, begin, end) : state;
  }

  void load_function(FunctionId id) const;
  [[nodiscard]] FunctionInfo describe_function(FunctionId id) const;
  [[nodiscard]] DeviceInfo describe_device(int device) const;
  [[nodiscard]] std::uint32_t blocks_per_sm(FunctionId id, std::uint32_t threads, std::uint32_t dynamic_shared) const;
  /// The environment makes priorities of nodes count in all graphs.
  [[nodiscard]] static bool uses_node_priorities();
  [[nodiscard]] static bool reads_graphs() { return true; }
  [[nodiscard]] const char* name_of(const KernelNodeParams& parameters) const;
  [[nodiscard]] static std::uint64_t blocks_of(const KernelNodeParams& parameters) {
    return std::uint64_t{parameters.v1.grid_x} * parameters.v1.grid_y * parameters.v1.grid_z;
  }
  static bool ends_by_itself(int graph_node_type);
  static bool may_record(int graph_node_type);

  Calls calls;
  Contexts contexts;
  DescriptorTable descriptors;
};

static_assert(driver::Driver<Driver>);

}  // namespace elbowroom::interposer::cuda
