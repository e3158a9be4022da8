#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend_ranks/message.hpp"
#include "elbowroom/backend/backend.hpp"
#include "ranks/hub.hpp"

namespace elbowroom::ranks {

/// Asks all other ranks, does rank 0's own part meanwhile, and answers what the others say, from rank 1 on. An error is that of a
/// connection. Otherwise it is rank 0's own, as one process says it, and that of the first rank that has another, which it names.
Result<std::vector<std::string>> on_all(Hub& hub, const Request& request, const std::function<Status()>& own);

/// A step that is ready on all ranks.
class RanksWorkload final : public Workload {
 public:
  RanksWorkload(Hub& hub, std::int64_t number, std::unique_ptr<Workload> own) : hub_(hub), number_(number), own_(std::move(own)) {}
  ~RanksWorkload() override;

  [[nodiscard]] const Step& step() const override { return own_->step(); }
  [[nodiscard]] const ComputeFacts& compute(int operation) const override { return own_->compute(operation); }
  [[nodiscard]] const Capabilities& capabilities() const override { return own_->capabilities(); }
  [[nodiscard]] Status accepts(const Program& program) const override;
  Result<Microseconds> run(const Program& program) override;
  /// Of each device what its own rank recorded.
  Result<Timeline> record(const Program& program) override;
  Status verify(const Program& program) override;

 private:
  /// The program for the other ranks, once this one has taken what it gives them.
  Result<std::string> shared(const Program& program);

  Hub& hub_;
  std::int64_t number_;
  std::unique_ptr<Workload> own_;
};

}  // namespace elbowroom::ranks
