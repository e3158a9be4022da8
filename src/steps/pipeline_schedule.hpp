#pragma once

#include <vector>

#include "elbowroom/steps/transformer.hpp"

namespace elbowroom::steps {

/// One micro-batch through one chunk of layers on one stage.
struct PipelineItem {
  int stage = 0;
  int chunk = 0;  ///< layers of chunk c on stage s come behind those of stage s - 1, and of chunk c - 1 on the last stage
  int micro = 0;
  bool backward = false;

  bool operator==(const PipelineItem&) const = default;
};

/// In which order a stage does its items. 1F1B: forward until the last stage has one to go back, then one of each in turn.
/// Interleaved, after Megatron-LM: the same with chunks in turn, by as many micro-batches as there are stages.
std::vector<PipelineItem> items_of_stage(const Parallelism& parallel, int stage);

/// All stages, each item behind what it waits for, by the time at which it begins. A forward item takes one unit and a backward
/// item two. One stage without chunks: each micro-batch forward and backward in turn.
std::vector<PipelineItem> pipeline_order(const Parallelism& parallel);

/// Chunks of layers on each stage.
inline int chunks_of(const Parallelism& parallel) {
  return parallel.schedule == PipelineSchedule::interleaved ? parallel.chunks : 1;
}

/// Chunks of the model are numbered in the order in which a token meets them.
inline int chunk_in_model(const Parallelism& parallel, const PipelineItem& item) { return item.chunk * parallel.pp + item.stage; }
inline int last_chunk(const Parallelism& parallel) { return parallel.pp * chunks_of(parallel) - 1; }

}  // namespace elbowroom::steps
