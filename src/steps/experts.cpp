#include "steps/experts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace elbowroom::steps {
namespace {

std::int64_t whole_rows(double rows) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(rows / kProductSide - 1e-9))) * kProductSide;
}

std::int64_t router_columns(const Decoder& decoder) { return whole_rows(decoder.experts); }

}  // namespace

Experts::Experts(StepWriter& writer, const LocalShape& shape, const TransformerStep& request)
    : writer_(writer),
      shape_(shape),
      request_(request),
      local_(request.decoder.experts / request.parallel.ep),
      slots_(whole_rows(request.capacity * static_cast<double>(shape.tokens * request.decoder.experts_per_token))) {}

// From `imbalance` down to what is left for the last rank, by equal steps: the mean is 1.
double Experts::share_of(int rank) const {
  if (!uneven()) { return 1; }
  const double along = static_cast<double>(rank) / (request_.parallel.ep - 1);
  return 1 + (request_.imbalance - 1) * (1 - 2 * along);
}

std::int64_t Experts::rows_of(int rank) const { return whole_rows(share_of(rank) * static_cast<double>(slots_) / local_); }

std::string Experts::name_of(const std::string& layer, int rank, int expert) const {
  return uneven() ? fmt::format("{}rank{}.expert{}.", layer, rank, expert) : fmt::format("{}expert{}.", layer, expert);
}

template <class Visit>
void Experts::each_expert(const std::string& layer, Visit visit) {
  for (int rank = 0; rank < kinds_of_ranks(); ++rank) {
    if (uneven()) { writer_.at_experts(rank); }
    for (int expert = 0; expert < local_; ++expert) { visit(Expert{name_of(layer, rank, expert), rows_of(rank), rank, expert}); }
  }
  writer_.at_experts({});
}

Ends Experts::exchange(const std::string& name, const Ends& flow) {
  if (request_.parallel.ep == 1) { return flow; }
  const Bytes rows(bf16_bytes(slots_ * shape_.hidden));
  return {writer_.collective(name, CollectiveOp::all_to_all, rows, DataType::bf16, {"ep"}, flow)};
}

Ends Experts::forward(const std::string& name, Ends flow) {
  const std::int64_t columns = router_columns(request_.decoder);
  flow = {writer_.compute(name + "router", product(shape_.tokens, columns, shape_.hidden), flow)};
  flow = {writer_.compute(name + "route", pass(bf16_bytes(shape_.tokens * columns)), flow)};
  flow = {writer_.compute(name + "permute", pass(bf16_bytes(slots_ * shape_.hidden)), flow)};
  const Ends arrived = exchange(name + "dispatch", flow);
  Ends made;
  each_expert(name, [&](const Expert& expert) {
    Ends through{writer_.compute(expert.name + "up", product(expert.rows, shape_.up, shape_.hidden), arrived)};
    through = {
        writer_.compute(expert.name + "activation", pass(activation_bytes(shape_, expert.rows), ElementwiseOp::gelu), through)};
    made.push_back(writer_.compute(expert.name + "down", product(expert.rows, shape_.hidden, shape_.ffn), through));
  });
  const Ends back = exchange(name + "combine", made);
  return {writer_.compute(name + "unpermute", pass(bf16_bytes(slots_ * shape_.hidden)), back)};
}

Ends Experts::backward(const std::string& name, Ends flow, TensorParallel& tensor, std::vector<Gradient>& gradients) {
  flow = {writer_.compute(name + "unpermute.dx", pass(bf16_bytes(slots_ * shape_.hidden)), flow)};
  const Ends arrived = exchange(name + "combine.dx", flow);
  // What others wait for first: the gradients of parameters are made beside the exchange.
  Ends made;
  std::vector<Ends> activated;
  each_expert(name, [&](const Expert& expert) {
    Ends through{writer_.compute(expert.name + "down.dx", product(expert.rows, shape_.ffn, shape_.hidden), arrived)};
    through = {writer_.compute(expert.name + "activation.dx",
                               pass(activation_gradient_bytes(shape_, expert.rows), ElementwiseOp::gelu), through)};
    activated.push_back(through);
    made.push_back(writer_.compute(expert.name + "up.dx", product(expert.rows, shape_.hidden, shape_.up), through));
  });
  const Ends back = exchange(name + "dispatch.dx", made);
  std::vector<Gradient> own_gradients(static_cast<std::size_t>(2 * local_));
  each_expert(name, [&](const Expert& expert) {
    const auto at = static_cast<std::size_t>(expert.number);
    const Ends& through = activated[static_cast<std::size_t>(expert.rank) * static_cast<std::size_t>(local_) + at];
    Gradient& down = own_gradients[2 * at];
    Gradient& up = own_gradients[2 * at + 1];
    down = {name + fmt::format("expert{}.down", expert.number), shape_.ffn, shape_.hidden, std::move(down.made_by), true};
    up = {name + fmt::format("expert{}.up", expert.number), shape_.hidden, shape_.up, std::move(up.made_by), true};
    down.made_by.push_back(writer_.compute(expert.name + "down.dw", product(shape_.ffn, shape_.hidden, expert.rows), arrived));
    up.made_by.push_back(writer_.compute(expert.name + "up.dw", product(shape_.hidden, shape_.up, expert.rows), through));
  });
  for (Gradient& gradient : own_gradients) { gradients.push_back(std::move(gradient)); }
  const std::int64_t columns = router_columns(request_.decoder);
  flow = {writer_.compute(name + "permute.dx", pass(bf16_bytes(slots_ * shape_.hidden)), back)};
  const Ends routed = flow;
  flow = {writer_.compute(name + "router.dx", product(shape_.tokens, shape_.hidden, columns), flow)};
  flow = tensor.enter_backward(name + "up", flow);
  const int router = writer_.compute(name + "router.dw", product(shape_.hidden, columns, shape_.tokens), routed);
  gradients.push_back({name + "router", shape_.hidden, request_.decoder.experts, {router}});
  return flow;
}

}  // namespace elbowroom::steps
