#include "steps/tensor_parallel.hpp"

namespace elbowroom::steps {

Ends TensorParallel::collective(const std::string& name, CollectiveOp op, const Ends& flow) {
  if (parallel_.tp == 1) { return flow; }
  const Bytes activations(bf16_bytes(shape_.tokens * shape_.hidden));
  return {writer_.collective(name + "." + std::string(to_string(op)), op, activations, DataType::bf16, {"tp"}, flow)};
}

Ends TensorParallel::enter(const std::string& name, const Ends& flow) {
  return parallel_.sequence_parallel ? collective(name, CollectiveOp::all_gather, flow) : flow;
}

Ends TensorParallel::leave(const std::string& name, const Ends& flow) {
  return collective(name, parallel_.sequence_parallel ? CollectiveOp::reduce_scatter : CollectiveOp::all_reduce, flow);
}

Ends TensorParallel::enter_backward(const std::string& name, const Ends& flow) { return leave(name + ".dx", flow); }

Ends TensorParallel::leave_backward(const std::string& name, const Ends& flow) { return enter(name + ".dx", flow); }

}  // namespace elbowroom::steps
