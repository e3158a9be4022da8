#include <algorithm>

#include "interposer/core/launch_rules.hpp"

namespace elbowroom::interposer {
namespace {

bool may_have_company(const Launch& launch) {
  return launch.captured || launch.kind.has_company || launch.kind.launches < kFirstCompanions;
}

// That the kernel which is left an SM may run on: a part of the device may be smaller than the collective's.
std::uint32_t least_sms(const Launch& launch) {
  const Platform& platform = launch.state.platform;
  const std::uint32_t least = platform.least_sms == nullptr ? 0 : platform.least_sms(platform.self, launch.stream.info.device);
  const std::uint32_t own = launch.state.known.sms_of(launch.stream);
  return least == 0 ? own : std::min(least, own);
}

// Blocks with priority are given SMs before those of a kernel whose result other ranks may need before they come. Where the number
// of SMs is not known, nothing goes first. A programmatic launch may run beside what it stands behind.
bool leaves_needed_sms(const Launch& launch) {
  static constexpr Before kNothing{};
  const Knowledge& known = launch.state.known;
  const Before& before = launch.facts.programmatic ? kNothing : launch.order.collectives;
  const std::uint64_t others = known.order.first_blocks_beside(launch.stream, before);
  const std::uint32_t sms = least_sms(launch);
  return launch.facts.grid.count() + others + known.needed_sms.beside_first(sms) <= sms;
}

// A captured launch gets it when its graph is instantiated, where no other kernel has one. The program may compare the priorities
// of what it captures, and so does the driver on an update.
void decide_priority(Launch& launch) {
  if (!launch.state.known.active.priority || launch.captured) { return; }
  if (launch.facts.sets_priority) {
    launch.state.refuse(launch.kernel, launch.decision, Refusal::own_priority);
    return;
  }
  if (!may_have_company(launch)) { return; }
  if (!leaves_needed_sms(launch)) {
    launch.state.refuse(launch.kernel, launch.decision, Refusal::fills_device);
  } else {
    launch.decision.priority = launch.ticket.priority = true;
  }
}

}  // namespace

void place_collective(Launch& launch) {
  Knowledge& known = launch.state.known;
  CollectiveFacts facts;
  facts.expected = launch.expected;
  facts.blocks = static_cast<std::uint32_t>(std::min<std::uint64_t>(launch.facts.grid.count(), 0xffffffffU));
  const bool first = launch.decision.priority || launch.facts.sets_priority || launch.stream.info.first;
  facts.first_blocks = first ? facts.blocks : 0;
  if (launch.facts.programmatic) { known.order.hold_first(launch.order, facts.first_blocks); }
  facts.cluster = launch.kernel.cluster_of(launch.facts);
  facts.sms = known.sms_of(launch.stream);
  facts.shape = static_cast<std::uint32_t>(known.kinds.position(&launch.kind));
  facts.duration_known = launch.kind.samples.known();
  launch.ticket.serial =
      launch.state.add_collective(launch.stream, launch.order, facts, launch.facts.host_time_ns, launch.ticket.join);
  launch.ticket.era = known.order.era();
  launch.ticket.collective = true;
  launch.decision.is_collective = true;
}

void decide_collective(Launch& launch) {
  Knowledge& known = launch.state.known;
  const auto device = static_cast<std::size_t>(launch.stream.info.device);
  // Compute that was launched before the collective, and runs when it arrives, keeps it company as well.
  if (!launch.captured && known.compute_until[device] > launch.expected.start) { launch.kind.has_company = true; }
  if (!launch.kernel.left_alone && !launch.kernel.passed_through) { decide_priority(launch); }
  place_collective(launch);
  if (launch.kernel.left_alone) { return; }
  if (launch.kernel.passed_through) {
    launch.state.refuse(launch.kernel, launch.decision, Refusal::passed_through);
    return;
  }
  const bool surely_eager_or_captured = launch.captured || known.order.captures_active() == 0;
  const bool worth_it = !compares(launch.state.rules) || may_have_company(launch);
  const bool event_free = known.waiting[slot_of(launch.ticket.serial)] == 0;
  const bool takes_event = worth_it && event_free && !launch.facts.sets_completion_event && !launch.kernel.event_refused;
  if (known.active.gate && takes_event && surely_eager_or_captured) {
    launch.decision.completion_event = slot_of(launch.ticket.serial);
    launch.ticket.gate = true;
  }
}

}  // namespace elbowroom::interposer
