#include "steps/fully_sharded.hpp"

#include <algorithm>
#include <iterator>

#include "steps/compression.hpp"
#include "steps/local_shape.hpp"

namespace elbowroom::steps {
namespace {

const Axes& of_dense() {
  static const Axes axes{"fsdp", "ep"};
  return axes;
}

const Axes& of_experts() {
  static const Axes axes{"fsdp"};
  return axes;
}

}  // namespace

/// The second version copies each rank's share into a buffer first: 2 bytes read and 2 written for each of its parameters.
int FullySharded::gather(const std::string& name, std::int64_t parameters, const Axes& axes, Ends after) {
  if (request_.shard_copies == ShardCopies::fsdp2) {
    const std::int64_t ranks = writer_.ranks_along(axes);
    after = {writer_.compute(name + ".copy_in", pass(bf16_bytes((parameters + ranks - 1) / ranks)), after)};
  }
  return writer_.collective(name, CollectiveOp::all_gather, size_of(DataType::bf16) * parameters, DataType::bf16, axes, after);
}

Ends FullySharded::gather(const ShardedUnit& unit, const std::string& prefix, int stage, const Ends& after) {
  Ends& dense = dense_gathers_[unit.name];
  Ends& experts = expert_gathers_[unit.name];
  if (request_.parallel.pp > 1 && !dense.empty()) { return joined(dense, experts); }
  writer_.at(stage, prefix);
  Ends gathered{gather(unit.name + ".parameters.all_gather", unit.parameters, of_dense(), after)};
  dense = joined(std::move(dense), gathered);
  if (unit.of_experts == 0) { return gathered; }
  const int more = gather(unit.name + ".experts.parameters.all_gather", unit.of_experts, of_experts(), after);
  experts.push_back(more);
  return joined(gathered, {more});
}

Ends FullySharded::copied_out(const ShardedUnit& unit, const std::string& pass_name, const Ends& gathered) {
  if (request_.shard_copies != ShardCopies::fsdp2) { return gathered; }
  return {writer_.compute(pass_name + unit.name + ".copy_out", pass(bf16_bytes(unit.parameters + unit.of_experts)), gathered)};
}

/// Two bytes read for each gradient, and as many written as the buffer has. The first version joins them in bf16, casts that to f32
/// where ranks add f32, and divides in place (findings/torch_fsdp1_joins_casts_divides.sh).
std::vector<Gradient> FullySharded::copied_in(const std::string& name, const std::vector<Gradient>& gradients) {
  if (request_.shard_copies == ShardCopies::none || gradients.empty()) { return gradients; }
  Ends made;
  for (const Gradient& gradient : gradients) { made = joined(std::move(made), gradient.made_by); }
  const std::int64_t element = size_of(request_.gradients).count();
  const bool joined_first = request_.shard_copies == ShardCopies::fsdp1;
  const std::int64_t joining = joined_first && element > 2 ? 2 + 2 : 0;
  const std::int64_t moved = joining + 2 + element + (joined_first ? 2 * element : 0);
  const std::int64_t elements = elements_of(gradients);
  return {{name, 1, elements, {writer_.compute(name + ".copy_in", pass(elements * moved / 2), made)}}};
}

void FullySharded::scatter(const ShardedUnit& unit, int stage, const std::vector<Gradient>& gradients) {
  std::vector<Gradient> dense;
  std::vector<Gradient> experts;
  for (const Gradient& gradient : gradients) { (gradient.of_experts ? experts : dense).push_back(gradient); }
  writer_.at(stage, "");
  scatter(unit.name, stage, dense, of_dense(), dense_gathers_[unit.name]);
  scatter(unit.name + ".experts", stage, experts, of_experts(), expert_gathers_[unit.name]);
}

void FullySharded::scatter(const std::string& name, int stage, const std::vector<Gradient>& gradients, const Axes& axes,
                           const Ends& gathers) {
  if (gradients.empty()) { return; }
  const std::int64_t ranks = writer_.ranks_along(axes);
  const std::int64_t share = (elements_of(gradients) + ranks - 1) / ranks;
  Ends added = scatter_gradients(writer_, request_, name + ".gradients", copied_in(name + ".gradients", gradients), axes);
  if (request_.parallel.dp > 1) {
    const bool cast = request_.compression.kind == GradientCompression::Kind::bf16;
    const DataType dtype = cast ? DataType::bf16 : request_.gradients;
    added = {
        writer_.collective(name + ".gradients.all_reduce", CollectiveOp::all_reduce, size_of(dtype) * share, dtype, {"dp"}, added)};
  }
  updated_.push_back({name, stage, share, std::move(added), gathers});
}

}  // namespace elbowroom::steps
