#include "interposer/process/graph_table.hpp"

#include <algorithm>

namespace elbowroom::interposer::process {

void GraphTable::put(const void* exec, const ExecutableGraph& graph) {
  const std::lock_guard lock(mutex_);
  ExecutableGraph* known = graphs_.find(key_of(exec));
  if (known == nullptr && graphs_.size() < kGraphs) { known = graphs_.obtain(key_of(exec)); }
  if (known != nullptr) { *known = graph; }
}

void GraphTable::add(const void* exec, const GraphFacts& facts) {
  const std::lock_guard lock(mutex_);
  ExecutableGraph* known = graphs_.find(key_of(exec));
  if (known == nullptr) { return; }
  known->facts.collectives = std::max(known->facts.collectives, facts.collectives);
  known->facts.waits = known->facts.waits || facts.waits;
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

bool GraphTable::full() {
  const std::lock_guard lock(mutex_);
  return graphs_.size() >= kGraphs;
}

}  // namespace elbowroom::interposer::process
