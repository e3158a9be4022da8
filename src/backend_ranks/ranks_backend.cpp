#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/over_ranks.hpp"
#include "backend_ranks/facts.hpp"
#include "backend_ranks/ranks_workload.hpp"
#include "elbowroom/model/step.hpp"
#include "elbowroom/plan/capabilities.hpp"

namespace elbowroom::ranks {
namespace {

class RanksBackend final : public Backend {
 public:
  RanksBackend(std::unique_ptr<Backend> own, Hub& hub) : hub_(hub), own_(std::move(own)) {
    for (int rank = 0; rank < hub.membership().size; ++rank) {
      devices_.push_back(own_->devices().front());
      devices_.back().index = rank;
    }
  }

  [[nodiscard]] std::string_view name() const override { return own_->name(); }
  [[nodiscard]] Provenance provenance() const override { return own_->provenance(); }
  [[nodiscard]] const std::vector<DeviceInfo>& devices() const override { return devices_; }
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& versions() const override { return own_->versions(); }
  [[nodiscard]] Result<Capabilities> capabilities() const override { return own_->capabilities(); }

  using Backend::prepare;

  Result<std::unique_ptr<Workload>> prepare(const Step& step) override {
    if (Status enough = check_ranks(step.ranks); !enough) { return enough.error(); }
    std::unique_ptr<Workload> own;
    const auto answers = on_all(hub_, {Task::prepare, ++prepared_, to_json(step, -1)}, [&]() -> Status {
      Result<std::unique_ptr<Workload>> made = own_->prepare(step);
      if (!made) { return made.error(); }
      own = *std::move(made);
      return {};
    });
    if (!answers) { return answers.error(); }
    return std::unique_ptr<Workload>(std::make_unique<RanksWorkload>(hub_, prepared_, std::move(own)));
  }

  [[nodiscard]] Status check_ranks(int needed) const {
    const Membership& membership = hub_.membership();
    if (needed <= membership.size) { return {}; }
    return invalid_input(
        fmt::format("gpus: {}, expected at most {} (ranks that {} started)", needed, membership.size, membership.launcher));
  }

  /// That all ranks have the like of what this one has.
  Status compare(int needed, std::uint64_t seed) {
    const auto answers = on_all(hub_, {Task::open, needed, {}}, [] { return Status(); });
    if (!answers) { return answers.error(); }
    const Facts own = facts_of(*own_, seed);
    std::vector<OwnGpu> gpus{gpu_of(*own_)};
    for (std::size_t other = 0; other < answers->size(); ++other) {
      const Result<Introduction> theirs = introduction_in((*answers)[other]);
      const Status same = theirs ? same_facts(theirs->facts, own) : Status(theirs.error());
      if (!same) { return Error{same.error().kind, fmt::format("rank {}: {}", other + 1, same.error().message)}; }
      gpus.push_back(theirs->gpu);
    }
    know(gpus);
    return different_gpus(gpus);
  }

 private:
  /// Where each GPU is. One of another host is nowhere that this process could ask about.
  void know(const std::vector<OwnGpu>& gpus) {
    for (std::size_t rank = 0; rank < gpus.size(); ++rank) {
      devices_[rank].bus_id = gpus[rank].host == gpus.front().host ? gpus[rank].bus_id : std::nullopt;
    }
  }

  Hub& hub_;
  std::unique_ptr<Backend> own_;
  std::vector<DeviceInfo> devices_;  ///< one of each rank
  std::int64_t prepared_ = 0;
};

}  // namespace
}  // namespace elbowroom::ranks

namespace elbowroom::detail {

Result<std::unique_ptr<Backend>> over_ranks(std::unique_ptr<Backend> own, ranks::Hub& hub, int needed, std::uint64_t seed) {
  auto all = std::make_unique<ranks::RanksBackend>(std::move(own), hub);
  if (Status enough = all->check_ranks(needed); !enough) { return enough.error(); }
  if (Status same = all->compare(needed, seed); !same) { return same.error(); }
  return std::unique_ptr<Backend>(std::move(all));
}

}  // namespace elbowroom::detail
