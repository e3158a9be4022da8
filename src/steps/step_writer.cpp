#include "steps/step_writer.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace elbowroom::steps {

Ends joined(Ends some, const Ends& others) {
  for (const int one : others) {
    if (std::ranges::find(some, one) == some.end()) { some.push_back(one); }
  }
  return some;
}

Compute product(std::int64_t m, std::int64_t n, std::int64_t k) { return LibraryGemm{m, n, k, DataType::bf16}; }

Compute pass(std::int64_t bytes, ElementwiseOp op) {
  return Elementwise{op, DataType::bf16, round_up(Bytes(std::max<std::int64_t>(bytes, 1)), Bytes(16))};
}

StepWriter::StepWriter(std::string name, const Parallelism& parallel, int repeats) {
  step_.name = std::move(name);
  step_.repeats = repeats;
  const std::array sizes{std::pair{"pp", parallel.pp}, std::pair{"dp", parallel.dp}, std::pair{"fsdp", parallel.fsdp},
                         std::pair{"ep", parallel.ep}, std::pair{"tp", parallel.tp}};
  step_.ranks = 1;
  for (const auto& [axis, size] : sizes) {
    if (size > 1) { step_.mesh.push_back({axis, size}); }
    step_.ranks *= size;
  }
}

void StepWriter::at(int stage, std::string prefix) {
  stage_ = stage;
  prefix_ = std::move(prefix);
}

std::vector<int> StepWriter::numbers_of(const Axes& axes) const {
  std::vector<int> numbers;
  for (std::size_t at = 0; at < step_.mesh.size(); ++at) {
    if (std::ranges::find(axes, step_.mesh[at].name) != axes.end()) { numbers.push_back(static_cast<int>(at)); }
  }
  return numbers;
}

int StepWriter::ranks_along(const Axes& axes) const {
  int ranks = 1;
  for (const int axis : numbers_of(axes)) { ranks *= step_.mesh[static_cast<std::size_t>(axis)].size; }
  return ranks;
}

int StepWriter::add(std::string_view name, Work what, const Ends& after) {
  Operation operation;
  operation.name = prefix_ + std::string(name);
  operation.what = std::move(what);
  operation.host_gap = host_gap_;
  for (const int before : after) { operation.after.push_back({before, false}); }
  step_.operations.push_back(std::move(operation));
  return static_cast<int>(step_.operations.size()) - 1;
}

int StepWriter::compute(std::string_view name, Compute kernel, const Ends& after, std::optional<std::string> lane) {
  const int at = add(name, kernel, after);
  operation_at(at).lane = std::move(lane);
  for (const int axis : numbers_of({"pp"})) { operation_at(at).at.push_back({axis, stage_}); }
  if (experts_) {
    for (const int axis : numbers_of({"ep"})) { operation_at(at).at.push_back({axis, *experts_}); }
  }
  return at;
}

int StepWriter::collective(const std::string& name, CollectiveOp op, Bytes bytes, DataType dtype, const Axes& axes,
                           const Ends& after) {
  Collective what;
  what.op = op;
  what.bytes = round_up(bytes, size_of(dtype) * ranks_along(axes));
  what.dtype = dtype;
  const int at = add(name, what, after);
  Operation& operation = operation_at(at);
  operation.along = numbers_of(axes);
  std::string lane;
  for (const int axis : operation.along) { lane += (lane.empty() ? "" : "+") + step_.mesh[static_cast<std::size_t>(axis)].name; }
  if (!lane.empty()) { operation.lane = std::move(lane); }
  for (const int axis : numbers_of({"pp"})) { operation.at.push_back({axis, stage_}); }
  return at;
}

int StepWriter::transfer(const std::string& name, Bytes bytes, int from, int to, const std::string& lane, const Ends& after) {
  const int at = add(name, SendRecv{bytes, DataType::bf16, from, to}, after);
  operation_at(at).along = numbers_of({"pp"});
  operation_at(at).lane = lane;
  return at;
}

Step StepWriter::finished() {
  std::set<std::optional<std::string>> lanes;
  for (const Operation& operation : step_.operations) {
    if (!computes(operation)) { lanes.insert(operation.lane); }
  }
  for (Operation& operation : step_.operations) {
    if (!computes(operation) && lanes.size() == 1) { operation.lane.reset(); }
  }
  return std::move(step_);
}

}  // namespace elbowroom::steps
