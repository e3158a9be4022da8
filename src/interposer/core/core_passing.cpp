#include <algorithm>

#include "interposer/core/core_state.hpp"

// Launches that nothing is decided about: what is left to be done for them, at rest and by the short way.

namespace elbowroom::interposer {

void CoreState::begin_kind(LaunchKind& kind, std::uint64_t key) {
  const std::uint32_t learned = known.models_differ ? 0 : known.durations.of(key);
  if (learned != 0) { kind.samples.begin_with(learned); }
}

void CoreState::pass_at_rest(const LaunchFacts& facts, std::uint16_t kernel_index, std::uint64_t key) {
  if (!known.kernels[kernel_index].communication) {
    rest.remember(facts.function);
    return;
  }
  LaunchKind* kind = known.kinds.obtain(key);
  if (kind == nullptr) { return; }
  if (kind->launches == 0) { begin_kind(*kind, key); }
  kind->kernel = kernel_index;
  kind->size_class = facts.note.size_class();
  ++kind->launches;
}

Decision CoreState::decide_wait(const LaunchFacts& facts, Hold& hold) {
  if (Stream* waiting = disturb(facts.stream, hold)) { wait_for_host(*waiting); }
  Decision decision;
  decision.dynamic_shared = facts.dynamic_shared;
  decision.waits_for_host = true;
  return decision;
}

// What NCCL launches for a call of the program is of a kind of its own.
void CoreState::let_pass(const LaunchFacts& facts, std::uint16_t kernel_index, const LaunchKind* kind, const PassTerms& terms) {
  const bool of_call = facts.note.bytes != 0 || facts.note.communicator != 0;
  if (facts.thread == nullptr || platform.host_time == nullptr || kernel_index == 0 || of_call) { return; }
  passing.begin(platform.host_time);
  const std::uint64_t round = passing.round();
  const LaunchShape shape{facts.function, facts.grid, facts.block, facts.dynamic_shared, facts.cluster};
  const bool anywhere = may_pass_anywhere(known.kernels[kernel_index]);
  const PassedKind passed{kind == nullptr ? 0 : known.kinds.position(kind), kind != nullptr, anywhere, kernel_index,
                          PassedKind::blocks_of(facts.grid)};
  passing.shapes().remember(shape.print(PassingShapes::era(round)), passed.pack(), kind == nullptr ? 0 : kind->samples.expected(),
                            [&](const PassedKind& what, std::uint64_t launches) { count_passed(what, launches); });
  facts.thread->tell(round, facts.stream, terms);
}

void CoreState::count_passed(const PassedKind& what, std::uint64_t launches) {
  known.kernels[what.kernel].launches += launches;
  if (what.has_kind) { known.kinds.at(what.kind).launches += launches; }
}

bool Knowledge::count_beside(KernelRecord& kernel, Beside& beside) {
  if (!beside.any()) {
    totals.in_order_only += beside.any_unordered() ? 1 : 0;
    return false;
  }
  ++totals.in_window;
  ++kernel.in_window;
  for (int i = 0; i < kMostQuestions; ++i) {
    const Collective* collective = order.collectives().find(beside.next());
    if (collective == nullptr) { break; }
    kinds.at(collective->shape).has_company = true;
  }
  return true;
}

void CoreState::count_all_passed() {
  passing.shapes().tell_counts([&](const PassedKind& what, std::uint64_t launches) { count_passed(what, launches); });
}

// As decide does for a launch about which nothing is decided. Launches that follow each other on a stream are one operation of it,
// as nothing comes between them.
class CoreState::Followed {
 public:
  explicit Followed(CoreState& state) : state_(state) {}
  ~Followed() { leave(); }
  Followed(const Followed&) = delete;
  Followed& operator=(const Followed&) = delete;

  void add(const PassedLaunch& passed, std::uint64_t host_time_ns) {
    Knowledge& all = state_.known;
    const PassedKind what = PassedKind::unpack(passed.word);
    ++all.totals.launches;
    all.timing_allowance.earn();
    const std::uint64_t* const counted = state_.passing.shapes().count(passed.print);
    if (counted == nullptr) { state_.count_passed(what, 1); }
    if (!what.has_kind) { return; }
    if (passed.stream != id_) { enter(passed.stream); }
    if (order_ == nullptr) { return; }
    const std::uint64_t duration = counted != nullptr ? *counted : all.kinds.at(what.kind).samples.expected();
    const Interval expected = order_->clock.enqueue(host_time_ns, duration);
    std::uint64_t& until = all.compute_until[static_cast<std::size_t>(stream_->info.device)];
    until = std::max(until, expected.end);
    if (unordered_) { meet_collectives(what, expected); }
  }

 private:
  // Another thread may have destroyed or captured the stream, or begun a rest, at the same time.
  void enter(StreamId id) {
    leave();
    id_ = id;
    stream_ = state_.rest.on() ? nullptr : state_.known.order.find_stream(id);
    if (stream_ == nullptr || state_.known.order.active_capture(*stream_) != 0) { return; }
    order_ = &state_.known.order.open_passed(*stream_);
    unordered_ = state_.known.order.beside(*stream_, *order_, {}).any_unordered();
    ungated_ = unordered_ && state_.known.active.gate && state_.known.order.ungated(*stream_, *order_, {}).any();
  }
  void meet_collectives(const PassedKind& what, const Interval& expected) {
    Knowledge& all = state_.known;
    const bool known_end = all.kinds.at(what.kind).samples.known();
    const Span span = known_end ? Span{expected.start, expected.end} : Span{expected.start};
    Beside beside = all.order.beside(*stream_, *order_, span);
    KernelRecord& kernel = all.kernels[what.kernel];
    all.count_beside(kernel, beside);
    if (ungated_) { count_small(what, kernel, all.order.ungated(*stream_, *order_, span)); }
  }
  // Nothing else lets it pass there, but that its thread was late: a collective came after it was told.
  void count_small(const PassedKind& what, KernelRecord& kernel, Beside ungated) {
    Knowledge& all = state_.known;
    const Collective* collective = all.order.collectives().find(ungated.next());
    if (collective == nullptr) { return; }
    if (std::uint64_t{what.blocks} + collective->blocks <= all.sms_of(*stream_)) {
      all.count_refusal(kernel, Refusal::small_compute);
    }
  }
  void leave() {
    if (order_ != nullptr) { state_.known.order.close_passed(*stream_, *order_); }
    order_ = nullptr;
  }

  CoreState& state_;
  StreamId id_ = 0;
  Stream* stream_ = nullptr;
  Order* order_ = nullptr;
  bool unordered_ = false;
  bool ungated_ = false;  ///< the stream does not wait for each of these
};

void CoreState::read_passed() {
  Followed followed(*this);
  passing.read(platform.host_time(), [&](const PassedLaunch& passed, std::uint64_t time) { followed.add(passed, time); });
}

}  // namespace elbowroom::interposer
