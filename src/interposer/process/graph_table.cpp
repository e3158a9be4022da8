#include "interposer/process/graph_table.hpp"

#include <algorithm>

namespace elbowroom::interposer::process {

void GraphTable::put(const void* exec, const GraphFacts& facts, bool node_priorities) {
  const std::lock_guard lock(mutex_);
  ExecutableGraph* known = graphs_.find(key_of(exec));
  if (known == nullptr && graphs_.size() < kGraphs) { known = graphs_.obtain(key_of(exec)); }
  if (known == nullptr) { return; }
  known->facts = facts;
  known->node_priorities = node_priorities;
}

void GraphTable::add(const void* exec, const GraphFacts& facts) {
  const std::lock_guard lock(mutex_);
  ExecutableGraph* known = graphs_.find(key_of(exec));
  if (known == nullptr) { return; }
  known->facts.collectives = std::max(known->facts.collectives, facts.collectives);
  known->facts.waits = known->facts.waits || facts.waits;
  known->facts.records = known->facts.records || facts.records;
}

void GraphTable::launched(const void* exec, std::uint32_t newest) {
  const std::lock_guard lock(mutex_);
  ExecutableGraph* known = graphs_.find(key_of(exec));
  if (known == nullptr || newest == 0) { return; }
  // Who asked first may tell last. Numbers begin anew after the greatest one; those of launches at once lie near each other.
  const std::uint32_t ahead = known->newest == 0 ? 0 : known->newest - newest;
  if (ahead == 0 || ahead > kMostMeanwhile) { known->newest = newest; }
}

ExecutableGraph GraphTable::get(const void* exec) {
  const std::lock_guard lock(mutex_);
  if (const ExecutableGraph* known = graphs_.find(key_of(exec))) { return *known; }
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
