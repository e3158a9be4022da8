#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>

#include "elbowroom/model/device_catalog.hpp"
#include "elbowroom/model/kernel_footprint.hpp"
#include "elbowroom/plan/co_residence.hpp"
#include "elbowroom/plan/occupancy.hpp"
#include "explain/clocks.hpp"
#include "explain/delays.hpp"
#include "explain/exposures.hpp"
#include "explain/words.hpp"

namespace elbowroom::explain {
namespace {

/// What a launch takes of an SM; absent where the trace does not say all of it.
std::optional<KernelFootprint> footprint_of(const Trace& trace, std::size_t row) {
  const std::uint32_t index = trace.rows.shape[row];
  if (index == kNone) { return std::nullopt; }
  const Shape& shape = trace.shapes[index];
  if (!shape.registers || !shape.shared) { return std::nullopt; }
  const auto [x, y, z] = shape.block;
  if (x < 1 || y < 1 || z < 1 || x > 1024 || y > 1024 || z > 1024) { return std::nullopt; }
  return KernelFootprint{Threads(x * y * z), Registers(*shape.registers), Bytes(*shape.shared), Bytes(0), 1};
}

/// "registers, shared memory": what the computation leaves too little of for one block of the collective.
std::optional<std::string> lacking(const RankView& view, std::size_t runner, std::size_t collective_row) {
  const std::optional<DeviceLimits> device = catalog_device(view.trace);
  const std::optional<KernelFootprint> compute = footprint_of(view.trace, runner);
  const std::optional<KernelFootprint> comm = footprint_of(view.trace, collective_row);
  if (!device || !compute || !comm || !occupancy(*device, *comm)) { return std::nullopt; }
  const Result<Occupancy> resident = occupancy(*device, *compute);
  if (!resident) { return std::nullopt; }
  const ResourceSet blockers = CoResidence(*device, *compute, *comm).blockers(resident->residency, Bytes(0));
  return blockers.empty() ? std::nullopt : std::optional(in_words(blockers));
}

std::string of_late_peer(const RankView& view, const Exposure& exposure) {
  const Time waited = view.waiting[exposure.collective].value_or(0);
  const Time whole = view.collectives[exposure.collective].time.length();
  return fmt::format("lasted {} here and {} on the rank that came last", duration(whole), duration(whole - waited));
}

std::string of_late_host(const RankView& view, const Exposure& exposure) {
  const std::optional<Time> launched = view.trace.launched(*exposure.next);
  return fmt::format("the host launched {} {} after this began to be exposed", kernel_words(view.trace, *exposure.next),
                     duration(launched.value_or(0) - exposure.time.begin));
}

std::string of_lost_race(const RankView& view, const Exposure& exposure) {
  const Delay delay = delay_of(view, exposure.collective);
  const std::size_t runner = *delay.runner;
  const auto resources = lacking(view, runner, view.collectives[exposure.collective].row);
  return fmt::format(
      "began {} late, while {} ran, which was launched later{}", duration(delay.by_compute), kernel_words(view.trace, runner),
      resources ? fmt::format("; its blocks leave no room in {}", *resources) : "; what it takes of an SM is not known");
}

std::string of_shared_stream(const RankView& view, const Exposure& exposure) {
  const Delay delay = delay_of(view, exposure.collective);
  if (!delay.queue || 2 * delay.by_collective < exposure.time.length()) {
    const std::size_t last = last_queued_behind(view, exposure.collective);
    return fmt::format("{}, which {} waits for, stood {} behind it on its stream", view.collectives[last].op,
                       kernel_words(view.trace, *exposure.next), duration(delay_of(view, last).by_collective));
  }
  const Collective& other = view.collectives[*delay.queue];
  return fmt::format("waited {} behind {} of {} on its stream", duration(delay.by_collective), other.op,
                     duration(other.time.length()));
}

std::string of_program_order(const RankView& view, const Exposure& exposure) {
  const std::size_t next = *exposure.next;
  const Collective& collective = view.collectives[exposure.collective];
  const bool same_stream = view.trace.rows.stream[next] == collective.stream;
  return fmt::format("{} was launched and waited {} for it{}", kernel_words(view.trace, next), duration(exposure.blocking),
                     same_stream
                         ? " on the same stream"
                         : fmt::format(": stream {} waits for stream {}", stream_words(view.trace, view.trace.rows.stream[next]),
                                       stream_words(view.trace, collective.stream)));
}

std::string of_kernel_gaps(const RankView& view, const Exposure& exposure) {
  return fmt::format("{} began {} after what ran before it, and the collective went on", kernel_words(view.trace, *exposure.next),
                     duration(exposure.time.length()));
}

std::string of_copies(const RankView& view, const Exposure& exposure) {
  return fmt::format("copies and memory sets run in {} of its {}", duration(length_within(view.copies, exposure.time)),
                     duration(exposure.time.length()));
}

std::string of_power(const RankView& view, const Exposure& exposure) {
  const Interval time = view.collectives[exposure.collective].time;
  return fmt::format("the power limit kept the SM clock {:.0f} % below its most while it ran, {} beside computation",
                     100 * below_most_clock(view.trace, time), duration(length_within(view.compute, time)));
}

constexpr std::string_view kAlone = "no other rank's trace has it, so a late peer is not ruled out";

std::string of_link(const RankView& view, const Exposure& exposure, const Split& split) {
  const bool alone = view.trace.world_size.value_or(2) > 1 && !view.waiting[exposure.collective];
  return fmt::format("the step has {} of communication and {} of computation to hide it{}", duration(split.communication),
                     duration(split.compute), alone ? fmt::format("; {}", kAlone) : "");
}

std::string of_unknown(const RankView& view, const Exposure& exposure) {
  if (exposure.time.end < view.collectives[exposure.collective].time.end) {
    return "it went on beside what ran next, so that this is a gap between two kernels";
  }
  const bool alone = !view.waiting[exposure.collective];
  const std::string_view peers = alone ? kAlone : "no cause accounts for half of it";
  if (!exposure.next) { return fmt::format("nothing runs behind it; {}", peers); }
  if (!view.trace.launched(*exposure.next)) { return fmt::format("the launch of what runs next is not in the trace; {}", peers); }
  return std::string(peers);
}

}  // namespace

std::string evidence_of(const RankView& view, const Exposure& exposure, const Split& split) {
  switch (exposure.cause) {
    case Cause::late_peer:
      return of_late_peer(view, exposure);
    case Cause::late_host:
      return of_late_host(view, exposure);
    case Cause::lost_race:
      return of_lost_race(view, exposure);
    case Cause::shared_stream:
      return of_shared_stream(view, exposure);
    case Cause::program_order:
      return of_program_order(view, exposure);
    case Cause::link:
      return of_link(view, exposure, split);
    case Cause::kernel_gaps:
      return of_kernel_gaps(view, exposure);
    case Cause::copies:
      return of_copies(view, exposure);
    case Cause::power:
      return of_power(view, exposure);
    case Cause::unknown:
      break;
  }
  return of_unknown(view, exposure);
}

}  // namespace elbowroom::explain
