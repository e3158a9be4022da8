#include "steps/two_batch.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace elbowroom::steps {
namespace {

/// Operations by index that a side runs before the other one does.
using Turn = std::vector<int>;

const Operation& operation_of(const Step& step, int at) { return step.operations[static_cast<std::size_t>(at)]; }

/// Communications that the first `count` operations wait for on the stream of the model. Exchanges of gradients are none: kernels
/// of a compression have a stream of their own, and the optimizer comes behind these operations.
std::vector<bool> awaited(const Step& step, int count) {
  std::vector<bool> waited_for(step.operations.size());
  for (int at = 0; at < count; ++at) {
    const Operation& operation = operation_of(step, at);
    if (!computes(operation) || operation.lane) { continue; }
    for (const Dependency& before : operation.after) {
      if (!computes(operation_of(step, before.operation))) { waited_for[static_cast<std::size_t>(before.operation)] = true; }
    }
  }
  return waited_for;
}

/// Of the micro-batches `first`, `first` + 2 and so on. A turn goes on from one into the next, so that no pair waits for the end of
/// the pair before.
std::vector<Turn> turns_of_side(const std::vector<bool>& waited_for, const std::vector<int>& ends, std::size_t first) {
  std::vector<Turn> turns(1);
  for (std::size_t batch = first; batch < ends.size(); batch += 2) {
    for (int at = batch == 0 ? 0 : ends[batch - 1]; at < ends[batch]; ++at) {
      turns.back().push_back(at);
      if (waited_for[static_cast<std::size_t>(at)]) { turns.emplace_back(); }
    }
  }
  return turns;
}

Step reordered(const Step& step, const std::vector<int>& order) {
  std::vector<int> place_after(order.size());
  for (std::size_t at = 0; at < order.size(); ++at) { place_after[static_cast<std::size_t>(order[at])] = static_cast<int>(at); }
  Step made = step;
  for (std::size_t at = 0; at < order.size(); ++at) {
    made.operations[at] = operation_of(step, order[at]);
    for (Dependency& before : made.operations[at].after) {
      before.operation = place_after[static_cast<std::size_t>(before.operation)];
    }
  }
  return made;
}

}  // namespace

Step side_by_side(const Step& step, const std::vector<int>& ends) {
  const std::vector<bool> waited_for = awaited(step, ends.back());
  const std::vector<Turn> even = turns_of_side(waited_for, ends, 0);
  const std::vector<Turn> odd = turns_of_side(waited_for, ends, 1);
  std::vector<int> order;
  // As many of each: a communication that only the last micro-batch has is an exchange of gradients.
  for (std::size_t turn = 0; turn < even.size(); ++turn) {
    for (const Turn* next : {&even[turn], &odd[turn]}) { order.insert(order.end(), next->begin(), next->end()); }
  }
  order.resize(step.operations.size());
  std::iota(order.begin() + ends.back(), order.end(), ends.back());
  return reordered(step, order);
}

}  // namespace elbowroom::steps
