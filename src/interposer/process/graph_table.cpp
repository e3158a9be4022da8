#include "interposer/process/graph_table.hpp"

#include <algorithm>

namespace elbowroom::interposer::process {

void GraphTable::put(const void* exec, const GraphFacts& facts, const NodePriorities& priorities) {
  const std::lock_guard lock(mutex_);
  ExecutableGraph* known = graphs_.find(key_of(exec));
  if (known == nullptr && graphs_.size() < kGraphs) { known = graphs_.obtain(key_of(exec)); }
  if (known == nullptr) { return; }
  known->facts = facts;
  known->priorities = priorities;
}

void GraphTable::add(const void* exec, const GraphFacts& facts) {
  const std::lock_guard lock(mutex_);
  ExecutableGraph* known = graphs_.find(key_of(exec));
  if (known == nullptr) { return; }
  known->facts.collectives = std::max(known->facts.collectives, facts.collectives);
  known->facts.waits = known->facts.waits || facts.waits;
  known->facts.records = known->facts.records || facts.records;
}

ExecutableGraph GraphTable::begin_launch(const void* exec) {
  const std::lock_guard lock(mutex_);
  ExecutableGraph* known = graphs_.find(key_of(exec));
  const ExecutableGraph before = copy_of(known);
  if (known != nullptr) {
    ++known->launches;
    ++known->under_way;
  }
  return before;
}

bool GraphTable::end_launch(const void* exec, const ExecutableGraph& begun, std::uint32_t newest) {
  const std::lock_guard lock(mutex_);
  ExecutableGraph* known = graphs_.find(key_of(exec));
  if (known == nullptr || known->under_way == 0) { return false; }  // another one got its handle meanwhile
  --known->under_way;
  // Who ended first may tell last. Numbers begin anew after the greatest one; those of launches at once lie near each other.
  const std::uint32_t ahead = known->newest == 0 ? 0 : known->newest - newest;
  if (newest != 0 && (ahead == 0 || ahead > kMostMeanwhile)) { known->newest = newest; }
  return begun.under_way != 0 || known->launches != begun.launches + 1;
}

ExecutableGraph GraphTable::get(const void* exec) {
  const std::lock_guard lock(mutex_);
  return copy_of(graphs_.find(key_of(exec)));
}

ExecutableGraph GraphTable::copy_of(const ExecutableGraph* known) {
  if (known != nullptr) { return *known; }
  ExecutableGraph unknown;
  unknown.facts.waits = unknown.facts.records = true;
  return unknown;
}

void GraphTable::remove(const void* exec) {
  const std::lock_guard lock(mutex_);
  graphs_.erase(key_of(exec));
}

bool GraphTable::may_take_priorities() {
  const std::lock_guard lock(mutex_);
  return graphs_.size() < kGraphs && !priorities_left_;
}

}  // namespace elbowroom::interposer::process
