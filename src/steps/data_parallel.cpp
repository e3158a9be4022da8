#include "steps/data_parallel.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

#include "steps/compression.hpp"

namespace elbowroom::steps {

void DataParallel::add(const std::vector<Gradient>& gradients) {
  for (const Gradient& gradient : gradients) {
    Bucket& bucket = gradient.of_experts ? experts_ : dense_;
    bucket.gradients.push_back(gradient);
    if (size_of(request_.gradients) * elements_of(bucket.gradients) >= request_.bucket) { close(bucket); }
  }
}

void DataParallel::close(Bucket& bucket) {
  if (bucket.gradients.empty()) { return; }
  const std::string stage = request_.parallel.pp > 1 ? fmt::format("stage{}.", stage_) : "";
  Updated updated{fmt::format("{}{}", bucket.kind, bucket.count++), stage_, elements_of(bucket.gradients), {}, {}};
  writer_.at(stage_, stage);
  if (writer_.ranks_along(bucket.axes) > 1) {
    if (request_.parallel.zero == 0) {
      updated.after = add_gradients(writer_, request_, updated.name, bucket.gradients, bucket.axes);
    } else {
      const std::int64_t ranks = writer_.ranks_along(bucket.axes);
      updated.after = scatter_gradients(writer_, request_, updated.name, bucket.gradients, bucket.axes);
      updated.parameters = (updated.parameters + ranks - 1) / ranks;
      updated.shared_along = bucket.axes;
    }
  } else {
    for (const Gradient& gradient : bucket.gradients) { updated.after = joined(std::move(updated.after), gradient.made_by); }
  }
  updated_.push_back(std::move(updated));
  bucket.gradients.clear();
}

std::vector<Updated> DataParallel::finished() {
  close(dense_);
  close(experts_);
  return std::move(updated_);
}

}  // namespace elbowroom::steps
