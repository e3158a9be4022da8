#include "interposer/cuda/launch.hpp"

#include <array>
#include <cstring>
#include <optional>

#include "interposer/cuda/interposer.hpp"
#include "interposer/driver/launch.hpp"
#include "interposer/driver/passing.hpp"
#include "interposer/driver/unplaced.hpp"
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
  bool cooperative = false, sets_priority = false, sets_completion_event = false, records_event = false, programmatic = false;
};

bool records_event(const cu::LaunchAttribute& attribute) {
  return attribute.id == cu::kLaunchCompletionEvent || attribute.id == cu::kLaunchProgrammaticEvent;
}

AttributeFacts read_attributes(const cu::LaunchConfig& config) {
  AttributeFacts facts;
  for (unsigned i = 0; config.attributes != nullptr && i < config.attribute_count; ++i) {
    const cu::LaunchAttribute& attribute = config.attributes[i];
    facts.records_event = facts.records_event || records_event(attribute);
    switch (attribute.id) {
      case cu::kLaunchClusterDimension: {
        const auto& dim = attribute.value.cluster_dim;
        facts.cluster = dim.x * dim.y * dim.z;
        break;
      }
      case cu::kLaunchCooperative:
        facts.cooperative = attribute.value.cooperative != 0;
        break;
      case cu::kLaunchPriority:
        facts.sets_priority = true;
        break;
      case cu::kLaunchCompletionEvent:
        facts.sets_completion_event = true;
        break;
      case cu::kLaunchProgrammaticSerialization:
        facts.programmatic = attribute.value.programmatic_serialization != 0;
        break;
      case cu::kLaunchProgrammaticEvent:
        facts.programmatic = true;
        break;
      default:
        break;
    }
  }
  return facts;
}

/// The scope in which the driver is called by a launch. The events that the program's own attributes name are recorded then.
class OwnEvents {
 public:
  OwnEvents(Core& core, const cu::LaunchConfig& config) : core_(core), config_(config) {
    for_each([&](EventId event) { core_.before_unseen_record(event); });
  }
  ~OwnEvents() {
    for_each([&](EventId event) { core_.after_unseen_record(event); });
  }
  OwnEvents(const OwnEvents&) = delete;
  OwnEvents& operator=(const OwnEvents&) = delete;

 private:
  // Of both kinds of attribute the event stands in the same place.
  template <class Visit>
  void for_each(Visit visit) const {
    for (unsigned i = 0; config_.attributes != nullptr && i < config_.attribute_count; ++i) {
      const cu::LaunchAttribute& attribute = config_.attributes[i];
      if (!records_event(attribute)) { continue; }
      visit(id_of(attribute.value.launch_completion_event.event));
    }
  }

  Core& core_;
  const cu::LaunchConfig& config_;
};

LaunchFacts read_facts(const Interposer& state, const LaunchRequest& request, std::uint64_t now) {
  const cu::LaunchConfig& config = request.config;
  const AttributeFacts attributes = read_attributes(config);
  LaunchFacts facts;
  facts.stream = request.stream != 0 ? request.stream : state.stream_id(config.stream, request.default_stream);
  facts.function = id_of(request.function);
  facts.grid = {config.grid_x, config.grid_y, config.grid_z};
  facts.block = {config.block_x, config.block_y, config.block_z};
  facts.dynamic_shared = config.shared_bytes;
  facts.cluster = attributes.cluster;
  facts.cooperative = request.cooperative || attributes.cooperative;
  // An entry without attributes is like one whose attributes the program has set: nothing is added to them.
  facts.sets_priority = attributes.sets_priority;
  facts.sets_completion_event = attributes.sets_completion_event;
  facts.records_event = attributes.records_event;
  facts.programmatic = attributes.programmatic;
  facts.note = nccl::note_of(config.stream);
  facts.host_time_ns = now;
  facts.thread = driver::own_thread<Driver>(*state.core);
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
    if (!state.driver.contexts.greatest_priority(context, value.priority)) { return false; }
    controlled.add(cu::kLaunchPriority, value);
  }
  if (decision.completion_event != kNoEvent) {
    value = zero_value();
    value.launch_completion_event.event =
        state.driver.contexts.completion_event(context, decision.completion_event, decision.captured);
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
  const cu::Event event = state.driver.contexts.completion_event(context, decision.wait_on, decision.captured);
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

// A capture may begin or end by an entry point that is not hooked. An event of ours that it takes in would carry the next stream
// that waits for it in as well, and a pad that is being tried would stay in the graph. A stream that is taken for captured would be
// gated by what its capture holds alone. After a capture that ended so, two streams may be in one each, and a wait would bind them.
// So the driver is asked before anything is changed. Where it does not say, the stream counts as captured, and by another capture.
bool captured_otherwise(const Driver& driver, const Decision& decision, cu::Stream stream) {
  if (!decision.captured) { return driver.is_captured(stream); }
  return decision.capture == 0 || driver.capture_of(stream) != decision.capture;
}

/// As the program asks; to the core it is none where it goes into a capture that is not followed.
int launch_as_asked(Interposer& state, const LaunchRequest& request, OriginalLaunch original, const Decision& decision,
                    DriverClock& clock) {
  const cu::Stream stream = explicit_stream<Driver>(request.config.stream, request.default_stream);
  const bool elsewhere = decision.joins && captured_otherwise(state.driver, decision, stream);
  const LaunchOutcome outcome = elsewhere ? LaunchOutcome::failed : LaunchOutcome::ok;
  return driver::launch_untouched(*state.core, request, original, decision, outcome, clock);
}

int carry_out(Interposer& state, const LaunchRequest& request, OriginalLaunch original, const Decision& decision,
              DriverClock& clock) {
  const cu::Stream stream = explicit_stream<Driver>(request.config.stream, request.default_stream);
  // As far as the core knows without any of our events.
  if (captured_otherwise(state.driver, decision, stream)) {
    const LaunchOutcome outcome = decision.joins ? LaunchOutcome::failed : LaunchOutcome::plain_ok;
    return driver::launch_untouched(*state.core, request, original, decision, outcome, clock);
  }
  const cu::Context context = Driver::place_of(decision.context);
  const bool gated = wait_for_collective(state, decision, context, stream);
  driver::LaunchEvents<Driver> events(state, decision, context, stream);
  Launched launched = launch_controlled(state, request, original, decision, context, clock);
  if (!gated && launched.outcome == LaunchOutcome::ok) { launched.outcome = LaunchOutcome::plain_ok; }
  events.launched(launched.outcome, launched.outcome == LaunchOutcome::ok);
  return launched.result;
}

}  // namespace

std::uint32_t cluster_in_order(const cu::LaunchConfig& config) {
  const AttributeFacts facts = read_attributes(config);
  return facts.records_event || facts.programmatic || facts.cooperative ? 0 : facts.cluster;
}

int launch(const LaunchRequest& request, OriginalLaunch original) {
  Interposer* state = interposer();
  if (state == nullptr) { return original.call(request); }
  if (state->core->leaves_alone(id_of(request.function))) { return original.call(request); }
  driver::LaunchAccount account(state->overhead);
  const std::uint64_t begin = account.begin();
  const OwnEvents events(*state->core, request.config);
  const LaunchFacts facts = read_facts(*state, request, begin);
  const Decision decision = state->core->on_launch(facts);
  state->overhead.count(decision.in_window);
  std::optional<driver::Unplaced> waiting;  // until it is told once more
  if (decision.waits_for_host) { waiting.emplace(*state->core); }
  const int result = decision.untouched(request.config.shared_bytes)
                         ? launch_as_asked(*state, request, original, decision, account.clock)
                         : carry_out(*state, request, original, decision, account.clock);
  if (result == cu::kSuccess && decision.waits_for_host) { state->core->on_host_dependency(facts.stream); }
  state->timer.poll(begin);
  account.end(decision.in_window);
  return result;
}

}  // namespace elbowroom::interposer::cuda
