#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "steps/gradient.hpp"
#include "steps/local_shape.hpp"
#include "steps/step_writer.hpp"
#include "steps/tensor_parallel.hpp"

namespace elbowroom::steps {

/// A feed-forward network for some tokens each. It has a router, an all-to-all to the ranks whose experts were chosen, one product
/// for each expert, and an all-to-all back.
class Experts {
 public:
  Experts(StepWriter& writer, const LocalShape& shape, const TransformerStep& request);

  Ends forward(const std::string& name, Ends flow);
  Ends backward(const std::string& name, Ends flow, TensorParallel& tensor, std::vector<Gradient>& gradients);

 private:
  /// Of the rank with that number along ep.
  [[nodiscard]] double share_of(int rank) const;
  [[nodiscard]] bool uneven() const { return request_.imbalance > 1; }
  /// Numbers along ep whose operations differ.
  [[nodiscard]] int kinds_of_ranks() const { return uneven() ? request_.parallel.ep : 1; }
  /// Tokens that one expert of the rank gets.
  [[nodiscard]] std::int64_t rows_of(int rank) const;
  [[nodiscard]] std::string name_of(const std::string& layer, int rank, int expert) const;
  struct Expert {
    std::string name;       ///< of its operations, in front
    std::int64_t rows = 0;  ///< tokens that it gets
    int rank = 0;           ///< number along ep
    int number = 0;         ///< on its rank
  };
  /// What `visit` adds for an expert takes place on the ranks that have it.
  template <class Visit>
  void each_expert(const std::string& layer, Visit visit);
  Ends exchange(const std::string& name, const Ends& flow);

  StepWriter& writer_;
  const LocalShape& shape_;
  const TransformerStep& request_;
  int local_;           ///< experts of a rank
  std::int64_t slots_;  ///< rows that a rank sends
};

}  // namespace elbowroom::steps
