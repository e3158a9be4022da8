#include "steps/compression.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "steps/local_shape.hpp"

namespace elbowroom::steps {
namespace {

using CompressionKind = GradientCompression::Kind;

constexpr const char* kLane = "compression";

/// One exchange of some gradients.
class Exchange {
 public:
  Exchange(StepWriter& writer, const TransformerStep& request, std::string name, const std::vector<Gradient>& gradients,
           const Axes& axes)
      : writer_(writer),
        request_(request),
        name_(std::move(name)),
        gradients_(gradients),
        axes_(axes),
        ranks_(writer.ranks_along(axes)),
        elements_(elements_of(gradients)) {
    for (const Gradient& gradient : gradients) { made_ = joined(std::move(made_), gradient.made_by); }
  }

  Ends plain(CollectiveOp op) { return {collective(op, size_of(request_.gradients) * elements_, request_.gradients, made_)}; }

  /// f32 read, bf16 written.
  Ends cast() { return {kernel("cast", 3 * elements_, made_)}; }
  Ends as_bf16(CollectiveOp op, const Ends& after) {
    return {collective(op, size_of(DataType::bf16) * elements_, DataType::bf16, after)};
  }
  Ends cast_back(const Ends& after) { return {kernel("cast_back", 3 * elements_, after)}; }

  /// A sum of numbers of 8 bits overflows. So each rank gets a share from all, and adds it in f32. No copy minds that the format
  /// has no type of 8 bits: two elements count as one of bf16.
  Ends add_fp8() {
    const Ends greatest{kernel("greatest", elements_ * size_of(request_.gradients).count() / 2, made_)};
    const Ends scale{
        writer_.collective(name_ + ".scale", CollectiveOp::all_reduce, size_of(DataType::f32), DataType::f32, axes_, greatest)};
    const Ends small{kernel("quantise", elements_ * (size_of(request_.gradients).count() + 1) / 2, scale)};
    const Ends shares{collective(CollectiveOp::all_to_all, Bytes(elements_), DataType::bf16, small)};
    return {kernel("sum", elements_ * (ranks_ + 1) / (2 * ranks_), shares)};
  }
  Ends gather_fp8(const Ends& summed) {
    const Ends whole{collective(CollectiveOp::all_gather, Bytes(elements_), DataType::bf16, summed)};
    return {kernel("dequantise", elements_ * (1 + size_of(request_.gradients).count()) / 2, whole)};
  }

  /// Vogels, Karimireddy, Jaggi, arXiv 1905.13727: M = P Q, one step of a power iteration with what it left out the time before.
  Ends powersgd() {
    const std::int64_t rank = request_.compression.rank;
    const Ends corrected{kernel("feedback", 3 * elements_, made_)};
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t whole = 0;
    Ends left;
    each_matrix([&](const Gradient& matrix) {
      rows += matrix.rows;
      columns += matrix.columns;
      left.push_back(writer_.compute(matrix.name + ".left", product(matrix.rows, rank, matrix.columns), corrected, kLane));
    });
    for (const Gradient& gradient : gradients_) { whole += is_matrix(gradient) ? 0 : gradient.elements(); }
    if (left.empty()) { return plain(CollectiveOp::all_reduce); }
    // Norms go along as they are.
    const Ends left_sum{factor("left", rank * rows + whole, left)};
    const Ends orthogonal{kernel("orthogonalise", bf16_bytes(rank * rows), left_sum)};
    Ends right;
    each_matrix([&](const Gradient& matrix) {
      right.push_back(writer_.compute(matrix.name + ".right", product(matrix.columns, rank, matrix.rows), orthogonal, kLane));
    });
    const Ends right_sum{factor("right", rank * columns, right)};
    Ends made;
    each_matrix([&](const Gradient& matrix) {
      made.push_back(writer_.compute(matrix.name + ".product", product(matrix.rows, matrix.columns, rank), right_sum, kLane));
    });
    return {kernel("rest", 3 * elements_, made)};
  }

  /// Values of two bytes with positions of four, of every rank on every rank.
  Ends topk() {
    const auto kept = static_cast<std::int64_t>(std::ceil(request_.compression.share * static_cast<double>(elements_)));
    const std::int64_t gathered = 6 * kept * ranks_;
    const Ends corrected{kernel("feedback", 3 * elements_, made_)};
    const Ends chosen{kernel("select", bf16_bytes(elements_), corrected)};
    const Ends whole{collective(CollectiveOp::all_gather, Bytes(gathered), DataType::bf16, chosen)};
    return {kernel("scatter", gathered, whole)};
  }

 private:
  /// Two thin factors must be less than the matrix.
  [[nodiscard]] bool is_matrix(const Gradient& gradient) const {
    return std::min(gradient.rows, gradient.columns) > request_.compression.rank && gradient.rows % 8 == 0 &&
           gradient.columns % 8 == 0;
  }

  template <class Visit>
  void each_matrix(Visit visit) const {
    for (const Gradient& gradient : gradients_) {
      if (is_matrix(gradient)) { visit(gradient); }
    }
  }

  int kernel(const std::string& what, std::int64_t bytes, const Ends& after) {
    return writer_.compute(name_ + "." + what, pass(bytes), after, kLane);
  }

  int collective(CollectiveOp op, Bytes bytes, DataType dtype, const Ends& after) {
    return writer_.collective(name_ + "." + std::string(to_string(op)), op, bytes, dtype, axes_, after);
  }

  int factor(const std::string& what, std::int64_t elements, const Ends& after) {
    return writer_.collective(name_ + "." + what + "_sum", CollectiveOp::all_reduce, Bytes(bf16_bytes(elements)), DataType::bf16,
                              axes_, after);
  }

  StepWriter& writer_;
  const TransformerStep& request_;
  std::string name_;
  const std::vector<Gradient>& gradients_;
  const Axes& axes_;
  std::int64_t ranks_;
  std::int64_t elements_;
  Ends made_;
};

}  // namespace

Ends add_gradients(StepWriter& writer, const TransformerStep& request, const std::string& name,
                   const std::vector<Gradient>& gradients, const Axes& axes) {
  Exchange exchange(writer, request, name, gradients, axes);
  switch (request.compression.kind) {
    case CompressionKind::none:
      return exchange.plain(CollectiveOp::all_reduce);
    case CompressionKind::bf16:
      return exchange.cast_back(exchange.as_bf16(CollectiveOp::all_reduce, exchange.cast()));
    case CompressionKind::fp8:
      return exchange.gather_fp8(exchange.add_fp8());
    case CompressionKind::powersgd:
      return exchange.powersgd();
    case CompressionKind::topk:
      return exchange.topk();
  }
  return {};
}

Ends scatter_gradients(StepWriter& writer, const TransformerStep& request, const std::string& name,
                       const std::vector<Gradient>& gradients, const Axes& axes) {
  Exchange exchange(writer, request, name, gradients, axes);
  if (request.compression.kind == CompressionKind::fp8) { return exchange.add_fp8(); }
  if (request.compression.kind == CompressionKind::bf16) { return exchange.as_bf16(CollectiveOp::reduce_scatter, exchange.cast()); }
  return exchange.plain(CollectiveOp::reduce_scatter);
}

}  // namespace elbowroom::steps
