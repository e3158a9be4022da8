#include "interposer/core/lanes.hpp"

namespace elbowroom::interposer {

namespace {
constexpr std::uint32_t kEarly = 64;
}  // namespace

Stream& Lanes::add_stream(StreamId id, const StreamInfo& info) {
  Stream* stream = streams_.obtain(id);
  if (stream == nullptr) {
    streams_.clear();
    stream = streams_.obtain(id);
  }
  *stream = Stream{};
  stream->id = id;
  stream->info = info;
  if (info.device < 0 || info.device >= kMaxDevices) { stream->info.device = 0; }
  return *stream;
}

void Lanes::remove_stream(StreamId id) {
  for (Lane& lane : lanes_) {
    if (lane.stream == id) { lane.stream = 0; }
  }
  streams_.erase(id);
}

// A call that began at another time, before or during this one, leaves the event unknown: the driver took either last.
RecordMark Lanes::before_record(EventId id, const Stream* stream) {
  Event* event = events_.obtain(id);
  if (event == nullptr) { return {}; }
  event->clock = {};
  ++event->pending;
  if (++record_calls_ == 0) { ++record_calls_; }
  event->calls = record_calls_;
  return {event->calls, stream == nullptr ? VectorClock{} : pending_of(stream->clock)};
}

void Lanes::after_record(EventId id, const RecordMark& mark, bool recorded) {
  Event* event = mark.calls == 0 ? nullptr : events_.find(id);
  if (event == nullptr || event->pending == 0) { return; }
  --event->pending;
  if (recorded && event->pending == 0 && event->calls == mark.calls) { event->clock = mark.clock; }
}

WaitMark Lanes::before_wait(EventId id) {
  const Event* event = events_.find(id);
  return event == nullptr || event->pending != 0 ? WaitMark{} : WaitMark{event->calls, pending_of(event->clock)};
}

void Lanes::after_wait(Stream& stream, EventId id, const WaitMark& mark) {
  const Event* event = mark.calls == 0 ? nullptr : events_.find(id);
  if (event != nullptr && event->calls == mark.calls) { stream.clock.join(mark.clock); }
}

// A lane whose collectives have ended may become another stream's: what clocks hold of it is older than all that comes. Those of
// streams that are no more go first.
std::uint8_t Lanes::free_lane() const {
  std::uint8_t found = kNoLane;
  for (unsigned index = 0; index < kLanes; ++index) {
    const Lane& lane = lanes_[index];
    if (lane.last != lane.finished || lane.under_way != 0) { continue; }
    if (lane.stream == 0) { return static_cast<std::uint8_t>(index); }
    if (found == kNoLane) { found = static_cast<std::uint8_t>(index); }
  }
  return found;
}

bool Lanes::has_room(const Stream& stream) const { return has_lane(stream) || free_lane() != kNoLane; }

std::uint8_t Lanes::lane_for(Stream& stream) {
  if (has_lane(stream)) { return stream.lane; }
  const std::uint8_t index = free_lane();
  if (index == kNoLane) { return kNoLane; }
  Lane& lane = lanes_[index];
  lane.stream = stream.id;
  lane.device = stream.info.device;
  lane.most_blocks = lane.begun = 0;
  return stream.lane = index;
}

Collective* Lanes::begin(Stream& stream, const CollectiveFacts& facts) {
  const std::uint8_t index = exhausted_ ? kNoLane : lane_for(stream);
  if (index == kNoLane || serial_ == ~Serial{0}) {
    exhausted_ = true;
    return nullptr;
  }
  Lane& lane = lanes_[index];
  Collective& collective = kept_[++serial_ % kKept];
  collective = Collective{};
  static_cast<CollectiveFacts&>(collective) = facts;
  collective.serial = serial_;
  collective.previous = lane.last;
  collective.context = stream.info.context;
  collective.lane = index;
  lane.last = serial_;
  lane.most_blocks = std::max(lane.most_blocks, facts.blocks);
  ++lane.under_way;
  lane.begun += lane.begun < kEarly ? 1 : 0;
  newest_[static_cast<std::size_t>(stream.info.device)] = serial_;
  return &collective;
}

// Two threads may launch on one stream, and the driver takes either first: only when no call is under way are all before the
// newest.
Serial Lanes::tell(Serial serial, bool taken) {
  Collective* collective = find(serial);
  if (collective == nullptr) { return 0; }
  Lane& lane = lanes_[collective->lane];
  collective->launched = taken;
  collective->failed = !taken;
  if (lane.under_way > 0) { --lane.under_way; }
  if (lane.under_way != 0) { return 0; }
  // What the driver did not take is not there.
  for (const Collective* last = find(lane.last); last != nullptr && last->failed; last = find(lane.last)) {
    lane.last = last->previous;
  }
  Stream* stream = lane.stream == 0 ? nullptr : find_stream(lane.stream);
  if (stream != nullptr) { stream->clock.newest[collective->lane] = lane.last; }
  return lane.last;
}

void Lanes::note_end(Serial serial, Serial ends) {
  Collective* collective = find(serial);
  if (collective == nullptr) { return; }
  collective->ends = ends;
  lanes_[collective->lane].last_end = std::max(lanes_[collective->lane].last_end, serial);
}

void Lanes::finish(Serial serial) {
  const Collective* collective = find(serial);
  if (collective == nullptr) { return; }
  Lane& lane = lanes_[collective->lane];
  lane.finished = std::max(lane.finished, collective->ends);
  if (lane.finished == lane.last) { lane.most_blocks = 0; }
}

Collective* Lanes::find(Serial serial) {
  Collective& found = kept_[serial % kKept];
  return serial != 0 && found.serial == serial ? &found : nullptr;
}

bool Lanes::any_pending() const {
  return std::any_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return lane.last != lane.finished; });
}

VectorClock Lanes::pending_of(const VectorClock& clock) const {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (clock.newest[lane] > lanes_[lane].finished) { return clock; }
  }
  return {};
}

bool Lanes::several() const {
  return std::count_if(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return lane.last != lane.finished; }) > 1;
}

bool Lanes::any_beside(std::int32_t device, const VectorClock& clock) const {
  for (unsigned index = 0; index < kLanes; ++index) {
    const Lane& lane = lanes_[index];
    if (lane.device == device && lane.last > std::max(lane.finished, clock.newest[index])) { return true; }
  }
  return false;
}

unsigned Lanes::missing(const Collective& collective, const VectorClock& clock, unsigned from, Serial& serial) const {
  for (unsigned index = from; index < kLanes; ++index) {
    const Lane& lane = lanes_[index];
    serial = index == collective.lane ? collective.previous : lane.last;
    if (serial > std::max(lane.finished, clock.newest[index])) { return index; }
  }
  return kNoLane;
}

std::uint64_t Lanes::blocks_at_once(std::int32_t device, const Stream& beside) const {
  std::uint64_t blocks = 0;
  for (unsigned index = 0; index < kLanes; ++index) {
    const Lane& lane = lanes_[index];
    const bool runs =
        lane.device == device && index != beside.lane && lane.last > std::max(lane.finished, beside.clock.newest[index]);
    blocks += runs ? lane.most_blocks : 0;
  }
  return blocks;
}

Serial Lanes::newest_end(unsigned index) {
  const Lane& lane = lanes_[index];
  const Collective* collective = lane.last_end == 0 ? nullptr : find(lane.last_end);
  return collective != nullptr && collective->ends > lane.finished ? collective->serial : 0;
}

Serial Lanes::forgotten_end() {
  const Collective* collective = find(serial_ + 1 - kKept);
  return collective != nullptr && newest_end(collective->lane) == collective->serial ? collective->serial : 0;
}

bool Lanes::is_early(Serial serial) {
  const Collective* collective = find(serial);
  return collective != nullptr && lanes_[collective->lane].begun < kEarly;
}

Serial Lanes::unasked_end(StreamId stream) {
  for (const Lane& lane : lanes_) {
    if (lane.stream != stream || lane.last == lane.finished || lane.under_way != 0) { continue; }
    const Collective* collective = find(lane.last);
    return collective != nullptr && collective->ends == 0 ? collective->serial : 0;
  }
  return 0;
}

}  // namespace elbowroom::interposer
