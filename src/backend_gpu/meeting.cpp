#include "backend_gpu/meeting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace elbowroom::gpu {

Result<Meeting> Meeting::make(const Platform& platform, const CommLibrary& library, const Communicators& comms,
                              const RanksHere& here) {
  Meeting made(platform, library, comms);
  for (const RankHere& rank : here) {
    if (Status added = made.add(rank.device); !added) { return added.error(); }
  }
  return made;
}

Status Meeting::add(int device) {
  if (Status used = runtime_->use_device(device); !used) { return used; }
  Result<Stream> stream = make_stream(*runtime_, kNormalPriority);
  if (!stream) { return stream.error(); }
  Result<Memory> word = allocate(*runtime_, Bytes(sizeof(float)));
  if (!word) { return word.error(); }
  const Status cleared = runtime_->call(runtime_->calls.memset_async, word->get(), 0, sizeof(float), stream->get());
  joined_.push_back({device, std::move(*stream), std::move(*word)});
  return cleared;
}

Status Meeting::enqueue(const std::vector<StreamHandle>& streams, const std::vector<EventHandle>& events) const {
  const RuntimeCalls& calls = runtime_->calls;
  const auto follow = [&](std::size_t at, StreamHandle first, StreamHandle then) -> Status {
    if (Status used = runtime_->use_device(joined_[at].device); !used) { return used; }
    if (Status marked = runtime_->call(calls.event_record, events[at], first); !marked) { return marked; }
    return runtime_->call(calls.stream_wait_event, then, events[at], 0);
  };
  for (std::size_t at = 0; at < joined_.size(); ++at) {
    if (Status ordered = follow(at, streams[at], joined_[at].stream.get()); !ordered) { return ordered; }
  }
  if (Status begun = library_->call(library_->calls.group_start); !begun) { return begun; }
  Status summed;
  for (std::size_t at = 0; at < joined_.size() && summed; ++at) {
    void* const word = joined_[at].word.get();
    summed = library_->call(library_->calls.all_reduce, word, word, 1, kCommFloat32, kCommSum, comms_->here(at),
                            joined_[at].stream.get());
  }
  const Status ended = library_->call(library_->calls.group_end);
  if (!summed || !ended) { return summed ? ended : summed; }
  for (std::size_t at = 0; at < joined_.size(); ++at) {
    if (Status ordered = follow(at, joined_[at].stream.get(), streams[at]); !ordered) { return ordered; }
  }
  return {};
}

Result<Timeline> from_meeting(Timeline recorded, const RanksHere& here) {
  Timeline made{recorded.provenance, {}};
  for (const RankHere& own : here) {
    std::vector<Span> spans;
    std::ranges::copy_if(recorded.spans, std::back_inserter(spans), [&](const Span& span) { return span.device == own.device; });
    const auto first = std::ranges::min_element(spans, {}, &Span::begin);
    if (first == spans.end() || first->kind != SpanKind::communication) {
      return failed(fmt::format("kernel records: GPU {} has none of how its run began", own.device));
    }
    const Nanoseconds met = first->end;
    spans.erase(first);
    for (Span& span : spans) {
      span.device = own.rank;
      span.begin -= met;
      span.end -= met;
      made.spans.push_back(std::move(span));
    }
  }
  return made;
}

}  // namespace elbowroom::gpu
