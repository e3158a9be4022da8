#include "interposer/process/graph_table.hpp"

namespace elbowroom::interposer::process {

void GraphTable::put(const void* exec, const ExecutableGraph& graph) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < used_; ++i) {
    if (entries_[i].exec == exec) {
      entries_[i].graph = graph;
      return;
    }
  }
  if (used_ < kGraphs) { entries_[used_++] = {exec, graph}; }
}

ExecutableGraph GraphTable::get(const void* exec) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < used_; ++i) {
    if (entries_[i].exec == exec) { return entries_[i].graph; }
  }
  ExecutableGraph unknown;
  unknown.facts.waits = true;
  return unknown;
}

void GraphTable::remove(const void* exec) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < used_; ++i) {
    if (entries_[i].exec == exec) {
      entries_[i] = entries_[--used_];
      return;
    }
  }
}

bool GraphTable::full() {
  const std::lock_guard lock(mutex_);
  return used_ == kGraphs;
}

}  // namespace elbowroom::interposer::process
