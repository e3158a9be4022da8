#include "steps/pipeline.hpp"

#include <fmt/format.h>

namespace elbowroom::steps {

Ends Pipeline::arrived(const PipelineItem& item) const {
  const auto found = arrived_.find({item.backward, {chunk_in_model(parallel_, item), item.micro}});
  return found == arrived_.end() ? Ends() : found->second;
}

void Pipeline::send_on(const PipelineItem& item, const Ends& flow) {
  const int here = chunk_in_model(parallel_, item);
  const bool turns = !item.backward && here == last_chunk(parallel_);
  if (item.backward && here == 0) { return; }
  const int there = turns ? here : item.backward ? here - 1 : here + 1;
  Ends& arrives = arrived_[{item.backward || turns, {there, item.micro}}];
  if (parallel_.pp == 1 || turns) {
    arrives = flow;
    return;
  }
  const int to = there % parallel_.pp;
  // Neighbours along the ring have different streams, so that a stage need not receive before it sends.
  const int edge = item.backward ? to : item.stage;
  const std::string lane = fmt::format("pp {} {}", item.backward ? "backward" : "forward", edge % 2);
  const Bytes activations(bf16_bytes(shape_.norm_tokens * shape_.hidden));
  writer_.launched_by_host(host_send_);
  arrives = {writer_.transfer(item.backward ? "send_back" : "send_on", activations, item.stage, to, lane, flow)};
  writer_.launched_by_host(Microseconds(0));
}

}  // namespace elbowroom::steps
