#include "interposer/cuda/launch.hpp"

#include <array>
#include <cstring>

#include "interposer/core/policy.hpp"
#include "interposer/cuda/interposer.hpp"
#include "interposer/driver/launch.hpp"
#include "interposer/nccl/notes.hpp"

namespace elbowroom::interposer::cuda {
using driver::explicit_stream;
using driver::launch_plainly;
using driver::Launched;
namespace {

constexpr std::size_t kOwnAttributes = 3;
constexpr std::size_t kMaxAttributes = 32;  // the driver knows 16 kinds; a longer array is left as it is

struct AttributeFacts {
  std::uint32_t cluster = 1;
  bool cooperative = false, sets_priority = false, sets_completion_event = false, records_event = false;
};

AttributeFacts read_attributes(const cu::LaunchConfig& config) {
  AttributeFacts facts;
  for (unsigned i = 0; config.attributes != nullptr && i < config.attribute_count; ++i) {
    const auto& [id, value] = config.attributes[i];
    if (id == cu::kLaunchClusterDimension) { facts.cluster = value.cluster_dim.x * value.cluster_dim.y * value.cluster_dim.z; }
    if (id == cu::kLaunchCooperative) { facts.cooperative = value.cooperative != 0; }
    facts.sets_priority |= id == cu::kLaunchPriority;
    facts.sets_completion_event |= id == cu::kLaunchCompletionEvent;
    facts.records_event |= id == cu::kLaunchCompletionEvent || id == cu::kLaunchProgrammaticEvent;
  }
  return facts;
}

LaunchFacts read_facts(const LaunchRequest& request, const AttributeFacts& attributes, StreamId stream, std::uint64_t now) {
  const cu::LaunchConfig& config = request.config;
  LaunchFacts facts;
  facts.stream = stream;
  facts.function = id_of(request.function);
  facts.grid = {config.grid_x, config.grid_y, config.grid_z};
  facts.block = {config.block_x, config.block_y, config.block_z};
  facts.dynamic_shared = config.shared_bytes;
  facts.cluster = attributes.cluster;
  facts.cooperative = request.cooperative || attributes.cooperative;
  facts.sets_priority = attributes.sets_priority;
  facts.sets_completion_event = attributes.sets_completion_event;
  facts.note = nccl::note_of(config.stream);
  facts.host_time_ns = now;
  return facts;
}

// The program's launch with the controls of a decision added: a copy, because the program may hand in constant arrays.
struct ControlledLaunch {
  cu::LaunchConfig config;
  std::array<cu::LaunchAttribute, kMaxAttributes + kOwnAttributes> attributes;

  void add(cu::LaunchAttributeId id, const cu::LaunchAttributeValue& value) {
    cu::LaunchAttribute& added = attributes[config.attribute_count++];
    added.id = id;
    added.value = value;
  }
};

cu::LaunchAttributeValue zero_value() {
  cu::LaunchAttributeValue value;
  std::memset(&value, 0, sizeof value);
  return value;
}

// The function must allow as much dynamic shared memory as we launch it with; what the program itself allowed is never lowered.
bool allow_dynamic_shared(const DriverCalls& driver, cu::Function function, std::uint32_t bytes) {
  if (driver.func_get_attribute == nullptr || driver.func_set_attribute == nullptr) { return false; }
  const cu::Function plain = plain_function(driver, function);
  int allowed = 0;
  if (driver.func_get_attribute(&allowed, cu::kFuncMaxDynamicSharedSizeBytes, plain) != cu::kSuccess) { return false; }
  const int wanted = static_cast<int>(bytes);
  return allowed >= wanted || driver.func_set_attribute(plain, cu::kFuncMaxDynamicSharedSizeBytes, wanted) == cu::kSuccess;
}

// False: some control cannot be carried out here, so that the launch should go as the program asked.
bool build(Interposer& state, const LaunchRequest& request, const Decision& decision, cu::Context context,
           ControlledLaunch& controlled) {
  const unsigned theirs = request.config.attributes == nullptr ? 0 : request.config.attribute_count;
  if (theirs > kMaxAttributes) { return false; }
  controlled.config = request.config;
  controlled.config.stream = explicit_stream<Driver>(request.config.stream, request.default_stream);
  controlled.config.attributes = controlled.attributes.data();
  controlled.config.attribute_count = theirs;
  if (theirs > 0) { std::memcpy(controlled.attributes.data(), request.config.attributes, theirs * sizeof(cu::LaunchAttribute)); }
  cu::LaunchAttributeValue value = zero_value();
  if (request.cooperative) {
    value.cooperative = 1;
    controlled.add(cu::kLaunchCooperative, value);
  }
  if (decision.priority) {
    value = zero_value();
    const std::optional<int> greatest = state.driver.contexts.facts_of(context).greatest;
    if (!greatest) { return false; }
    value.priority = *greatest;
    controlled.add(cu::kLaunchPriority, value);
  }
  if (decision.completion_event != kNoEvent) {
    value = zero_value();
    value.launch_completion_event.event = state.driver.contexts.completion_event(context, decision.completion_event);
    if (value.launch_completion_event.event == nullptr) { return false; }
    controlled.add(cu::kLaunchCompletionEvent, value);
  }
  if (decision.dynamic_shared != request.config.shared_bytes) {
    if (!allow_dynamic_shared(state.driver.calls, request.function, decision.dynamic_shared)) { return false; }
    controlled.config.shared_bytes = decision.dynamic_shared;
  }
  return true;
}

bool changes_launch(const LaunchRequest& request, const Decision& decision) {
  return decision.priority || decision.completion_event != kNoEvent || decision.dynamic_shared != request.config.shared_bytes;
}

// A gate that cannot be set up is left out: the launch then only runs as it would have run without us.
bool wait_for_collective(Interposer& state, const Decision& decision, cu::Context context, cu::Stream stream) {
  if (decision.wait_on == kNoEvent) { return true; }
  const cu::Event event = state.driver.contexts.completion_event(context, decision.wait_on);
  return event != nullptr && state.driver.calls.stream_wait_event != nullptr &&
         state.driver.calls.stream_wait_event(stream, event, 0) == cu::kSuccess;
}

Launched launch_controlled(Interposer& state, const LaunchRequest& request, OriginalLaunch original, const Decision& decision,
                           cu::Context context, DriverClock& clock) {
  if (!changes_launch(request, decision)) { return launch_plainly(request, original, LaunchOutcome::ok, clock); }
  ControlledLaunch controlled;
  if (!build(state, request, decision, context, controlled)) {
    return launch_plainly(request, original, LaunchOutcome::plain_ok, clock);
  }
  const int result = clock.time(
      [&] { return state.driver.calls.launch_kernel_ex(&controlled.config, request.function, request.parameters, request.extra); });
  if (result == cu::kSuccess) { return {cu::kSuccess, LaunchOutcome::ok}; }
  return launch_plainly(request, original, LaunchOutcome::relaunched, clock);
}

int carry_out(Interposer& state, const LaunchRequest& request, OriginalLaunch original, const Decision& decision,
              DriverClock& clock) {
  const cu::Stream stream = explicit_stream<Driver>(request.config.stream, request.default_stream);
  const cu::Context context = Driver::place_of(decision.context);
  const bool changed = !decision.untouched(request.config.shared_bytes);
  // A capture may have begun by an entry point that is not hooked. Nothing of ours may come into it.
  if (changed && state.driver.is_captured(stream)) {
    const Launched launched = launch_plainly(request, original, LaunchOutcome::failed, clock);
    state.core->on_launched(decision.ticket, LaunchOutcome::failed);
    return launched.result;
  }
  const bool gated = wait_for_collective(state, decision, context, stream);
  if (decision.step != 0) { state.timer.begin_step(context, stream, decision.step); }
  Launched launched = launch_controlled(state, request, original, decision, context, clock);
  if (!gated && launched.outcome == LaunchOutcome::ok) { launched.outcome = LaunchOutcome::plain_ok; }
  driver::end_launch(state, decision.ticket, decision.context, stream, launched.outcome, changed);
  return launched.result;
}

}  // namespace

int launch(const LaunchRequest& request, OriginalLaunch original) {
  const cu::LaunchConfig& config = request.config;
  const AttributeFacts attributes = read_attributes(config);
  const bool plain =
      !request.cooperative && !attributes.cooperative && !attributes.records_event && attributes.cluster <= kMostCluster;
  const std::uint64_t blocks = std::uint64_t{config.grid_x} * config.grid_y * config.grid_z;
  if (plain && driver::fast_path.take(id_of(request.function), blocks)) { return original(request); }
  Interposer* state = interposer();
  if (state == nullptr) { return original(request); }
  const StreamId id = state->stream_id(config.stream, request.default_stream);
  if (plain && driver::fast_path.take_settled(id_of(request.function), id)) { return original(request); }
  const cu::Stream stream = explicit_stream<Driver>(config.stream, request.default_stream);
  if (state->core->capturing() && state->driver.is_captured(stream)) { return original(request); }
  driver::LaunchAccount account(state->overhead);
  const std::uint64_t begin = account.begin();
  if (attributes.records_event) { state->core->forget_events(); }
  const Decision decision = state->core->on_launch(read_facts(request, attributes, id, begin));
  state->overhead.count(decision.in_window);
  const int result = decision.ticket == 0 && decision.untouched(config.shared_bytes)
                         ? launch_plainly(request, original, LaunchOutcome::ok, account.clock).result
                         : carry_out(*state, request, original, decision, account.clock);
  if (attributes.records_event) { state->core->forget_events(); }
  state->timer.poll(begin);
  account.end(decision.in_window);
  return result;
}

}  // namespace elbowroom::interposer::cuda
