#include "backend_sim/sm_replay.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace elbowroom::sim {
namespace {

using Kind = SmAct::Kind;

// Times since a start differ by rounding alone where they differ by less: in microseconds, and as the history counts them.
constexpr double kAlike = 1e-6;
constexpr double kAlikeShare = 1e-9;
constexpr double kPicoseconds = 1e6;

SmAct advance_to(double time) {
  SmAct act;
  act.kind = Kind::advance;
  act.value = std::llround(time * kPicoseconds);
  act.time = time;
  return act;
}

SmAct act_on(Kind kind, int lane, std::int64_t value) {
  SmAct act;
  act.kind = kind;
  act.lane = lane;
  act.value = value;
  return act;
}

}  // namespace

SmReplay::SmReplay(const Machine& machine, const SmCapacity& capacity, const std::vector<SimKernel>& kernels, int lanes,
                   SmHistory& history)
    : history_(history), sms_(machine, capacity, kernels, lanes), node_(history.root({})), root_(node_) {}

double SmReplay::next() const {
  if (!late_.empty()) { return now_; }
  if (!started_) { return kNever; }
  if (alive_) { return *started_ + sms_.next_end(); }
  return *started_ + node_->next.value_or(node_->silent_until + kAlike);
}

const std::vector<EndedBlocks>& SmReplay::advance(double now) {
  now_ = now;
  touched_ = due_ = false;
  held_.reset();
  ended_ = std::exchange(late_, {});
  placed_.clear();
  if (!started_) { return ended_; }
  const double time = since_start(now);
  if (alive_) {
    due_ = sms_.next_end() <= time * (1 + kAlikeShare) + kAlike;
    if (!due_) { return ended_; }
    touched_ = true;
    held_ = live(advance_to(time));
    if (!held_->ended.empty()) {
      ended_.insert(ended_.end(), held_->ended.begin(), held_->ended.end());
      keep_advance();
    }
  } else if (node_->next && *node_->next <= time + kAlike) {
    touched_ = due_ = true;
    const SmHistory::Edge edge = step(advance_to(*node_->next));
    ended_.insert(ended_.end(), edge.ended.begin(), edge.ended.end());
  }
  return ended_;
}

void SmReplay::touch() {
  if (touched_) { return keep_advance(); }
  touched_ = true;
  if (!started_) { started_ = now_; }
  const SmHistory::Edge edge = step(advance_to(since_start(now_)));
  late_.insert(late_.end(), edge.ended.begin(), edge.ended.end());
  late_placed_.insert(late_placed_.end(), edge.placed.begin(), edge.placed.end());
}

void SmReplay::keep_advance() {
  if (!held_) { return; }
  if (node_ != nullptr && due_) { node_->next = held_->act.time; }
  keep(*std::exchange(held_, std::nullopt));
}

void SmReplay::begin(int lane, int kernel, std::optional<int> waiting, bool urgent) {
  touch();
  SmAct act = act_on(Kind::begin, lane, kernel);
  act.waiting = waiting;
  act.urgent = urgent;
  step(act);
}

void SmReplay::start(int lane, std::int64_t count) {
  touch();
  step(act_on(Kind::start, lane, count));
}

void SmReplay::leave(int lane, std::int64_t count) {
  touch();
  step(act_on(Kind::leave, lane, count));
}

void SmReplay::set_copying(bool copying) {
  touch();
  step(act_on(Kind::copying, 0, copying ? 1 : 0));
}

const std::vector<PlacedBlocks>& SmReplay::place() {
  placed_ = std::exchange(late_placed_, {});
  if (!touched_) { return placed_; }
  const SmAct act = act_on(Kind::place, 0, 0);
  SmHistory::Edge edge = held_ ? live(act) : step(act);
  placed_.insert(placed_.end(), edge.placed.begin(), edge.placed.end());
  if (held_ && !edge.placed.empty()) {
    keep_advance();
    keep(std::move(edge));
  }
  return placed_;
}

void SmReplay::settle() {
  if (!touched_) {
    // Nobody came by the time until which all is known.
    if (started_ && !alive_ && !node_->next && since_start(now_) >= node_->silent_until) { come_alive(); }
    return;
  }
  const SmAct act = act_on(Kind::settle, 0, 0);
  if (!alive_) {
    step(act);
    if (!alive_ && node_ != nullptr && node_->quiet != nullptr) { rest(); }
    if (!alive_) { return; }
  } else {
    SmHistory::Edge edge = live(act);
    const bool quiet = sms_.next_end() == kNever;
    // Nothing showed of this instant: it is as if it had not been.
    if (held_ && !quiet) { return; }
    keep_advance();
    keep(std::move(edge), quiet ? history_.root(sms_.quiet()) : nullptr);
  }
  if (sms_.next_end() == kNever) {
    if (node_ == nullptr || node_->quiet == nullptr) { node_ = history_.root(sms_.quiet()); }
    rest();
    fresh_ = true;
  }
}

void SmReplay::rest() {
  root_ = node_;
  acts_.clear();
  started_.reset();
  alive_ = fresh_ = false;
}

SmHistory::Edge SmReplay::step(const SmAct& act) {
  if (!alive_) {
    if (const SmHistory::Edge* known = node_->find(act)) {
      acts_.push_back(known->act);
      node_ = known->to;
      return *known;
    }
    come_alive();
  }
  std::vector<EndedBlocks> ended;
  std::vector<PlacedBlocks> placed;
  if (act.kind == Kind::advance) {
    sms_.run_to(act.time, ended, placed);
    if (node_ != nullptr) { node_->silent_until = std::max(node_->silent_until, act.time); }
  }
  SmHistory::Edge edge = live(act);
  edge.ended.insert(edge.ended.begin(), ended.begin(), ended.end());
  edge.placed.insert(edge.placed.begin(), placed.begin(), placed.end());
  keep(edge);
  return edge;
}

SmHistory::Edge SmReplay::live(const SmAct& act) {
  SmHistory::Edge edge{act, nullptr, {}, {}};
  switch (act.kind) {
    case Kind::advance:
      edge.ended = sms_.advance(act.time);
      break;
    case Kind::begin:
      sms_.begin(act.lane, static_cast<int>(act.value), act.waiting, act.urgent);
      break;
    case Kind::start:
      sms_.start(act.lane, act.value);
      break;
    case Kind::leave:
      sms_.leave(act.lane, act.value);
      break;
    case Kind::copying:
      sms_.set_copying(act.value == 1);
      break;
    case Kind::place:
      edge.placed = sms_.place();
      break;
    case Kind::settle:
      sms_.settle();
      break;
  }
  return edge;
}

void SmReplay::keep(SmHistory::Edge edge, Node* to) {
  if (node_ == nullptr) { return; }
  if (const SmHistory::Edge* known = node_->find(edge.act)) {
    node_ = known->to;
    return;
  }
  if (to == nullptr && history_.full()) {
    node_ = nullptr;
    return;
  }
  edge.to = to != nullptr ? to : history_.node();
  node_->edges.push_back(std::move(edge));
  node_ = node_->edges.back().to;
}

void SmReplay::come_alive() {
  if (!fresh_) { sms_.restore(*root_->quiet); }
  alive_ = true;
  fresh_ = false;
  std::vector<EndedBlocks> ended;  // told before
  std::vector<PlacedBlocks> placed;
  for (const SmAct& act : acts_) {
    if (act.kind == Kind::advance) { sms_.run_to(act.time, ended, placed); }
    static_cast<void>(live(act));
  }
  acts_.clear();
}

}  // namespace elbowroom::sim
