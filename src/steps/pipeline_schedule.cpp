#include "steps/pipeline_schedule.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace elbowroom::steps {
namespace {

constexpr int kForward = 1;
constexpr int kBackward = 2;

/// The k-th item of one direction on a stage.
PipelineItem item_at(const Parallelism& parallel, int stage, int k, bool backward) {
  const int chunks = chunks_of(parallel);
  if (chunks == 1) { return {stage, 0, k, backward}; }
  const int chunk = k / parallel.pp % chunks;
  return {stage, backward ? chunks - 1 - chunk : chunk, k / (parallel.pp * chunks) * parallel.pp + k % parallel.pp, backward};
}

int warm_up(const Parallelism& parallel, int stage) {
  const int chunks = chunks_of(parallel);
  const int behind = parallel.pp - stage - 1;
  return chunks == 1 ? behind : 2 * behind + (chunks - 1) * parallel.pp;
}

/// Runs stages side by side, item by item.
class SideBySide {
 public:
  explicit SideBySide(const Parallelism& parallel)
      : parallel_(parallel), free_(static_cast<std::size_t>(parallel.pp)), next_(free_.size()) {
    const std::size_t passes = slot(last_chunk(parallel) + 1, 0);
    forward_.resize(passes);
    backward_.resize(passes);
    for (int stage = 0; stage < parallel.pp; ++stage) { items_.push_back(items_of_stage(parallel, stage)); }
  }

  std::vector<PipelineItem> order() {
    std::vector<PipelineItem> order;
    while (true) {
      std::optional<std::size_t> first;
      int least = std::numeric_limits<int>::max();
      for (std::size_t stage = 0; stage < items_.size(); ++stage) {
        const std::optional<int> begin = begin_of(stage);
        if (!begin || *begin >= least) { continue; }
        least = *begin;
        first = stage;
      }
      if (!first) { return order; }
      const PipelineItem& item = items_[*first][next_[*first]++];
      free_[*first] = least + (item.backward ? kBackward : kForward);
      (item.backward ? backward_ : forward_)[slot(chunk_in_model(parallel_, item), item.micro)] = free_[*first];
      order.push_back(item);
    }
  }

 private:
  [[nodiscard]] std::size_t slot(int chunk, int micro) const {
    return static_cast<std::size_t>(chunk) * static_cast<std::size_t>(parallel_.micro) + static_cast<std::size_t>(micro);
  }

  /// When the stage's next item can; absent: what it waits for has not begun.
  [[nodiscard]] std::optional<int> begin_of(std::size_t stage) const {
    if (next_[stage] == items_[stage].size()) { return std::nullopt; }
    const PipelineItem& item = items_[stage][next_[stage]];
    const int here = chunk_in_model(parallel_, item);
    std::optional<int> arrived = 0;
    if (!item.backward && here > 0) { arrived = forward_[slot(here - 1, item.micro)]; }
    if (item.backward) {
      arrived = here == last_chunk(parallel_) ? forward_[slot(here, item.micro)] : backward_[slot(here + 1, item.micro)];
    }
    if (!arrived) { return std::nullopt; }
    return std::max(free_[stage], *arrived);
  }

  const Parallelism& parallel_;
  std::vector<std::vector<PipelineItem>> items_;
  std::vector<int> free_;                    ///< by stage, when its last item ends
  std::vector<std::size_t> next_;            ///< by stage
  std::vector<std::optional<int>> forward_;  ///< ends, by chunk of the model and micro-batch
  std::vector<std::optional<int>> backward_;
};

}  // namespace

std::vector<PipelineItem> items_of_stage(const Parallelism& parallel, int stage) {
  const int count = parallel.micro * chunks_of(parallel);
  const int ahead = std::min(warm_up(parallel, stage), count);
  std::vector<PipelineItem> items;
  items.reserve(2 * static_cast<std::size_t>(count));
  for (int k = 0; k < ahead; ++k) { items.push_back(item_at(parallel, stage, k, false)); }
  for (int k = 0; k < count; ++k) {
    if (ahead + k < count) { items.push_back(item_at(parallel, stage, ahead + k, false)); }
    items.push_back(item_at(parallel, stage, k, true));
  }
  return items;
}

std::vector<PipelineItem> pipeline_order(const Parallelism& parallel) { return SideBySide(parallel).order(); }

}  // namespace elbowroom::steps
