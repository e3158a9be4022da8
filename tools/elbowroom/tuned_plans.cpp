#include "tuned_plans.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "console.hpp"
#include "elbowroom/backend/registry.hpp"
#include "elbowroom/base/environment.hpp"
#include "elbowroom/model/device_catalog.hpp"
#include "elbowroom/plan/ranking.hpp"
#include "elbowroom/tune/profile_file.hpp"
#include "timed_rounds.hpp"

namespace elbowroom {
namespace {

std::string in_words(const CaseSize& size) {
  return fmt::format("{} iteration{} of {:.4g} flop or bytes beside {} B", size.iterations, size.iterations == 1 ? "" : "s",
                     size.compute, size.collective.count());
}

// A pipeline goes on as it ran by then: more iterations are predicted from the last half of these.
constexpr int kMostSimulated = 16;
constexpr int kHalfSimulated = kMostSimulated / 2;

/// Empty where the simulator cannot run it.
Predictor predictor_of(Backend& simulator, Scenario scenario, int iterations) {
  scenario.iterations = iterations;
  Result<std::unique_ptr<Workload>> prepared = simulator.prepare(scenario);
  if (!prepared) return {};
  // A std::function is copied, a Workload is not.
  return [workload = std::shared_ptr<Workload>(std::move(*prepared))](Scheme scheme, const OverlapPlan& plan) {
    return workload->run(order_of(scheme), plan);
  };
}

class StoredPlans {
 public:
  StoredPlans(Profile profile, std::string path, Surroundings surroundings, DeviceLimits device)
      : profile_(std::move(profile)), path_(std::move(path)), surroundings_(std::move(surroundings)), device_(std::move(device)) {}

  Result<TunedPlan> operator()(const Scenario& scenario, Workload& workload) const {
    const ComputeFacts& compute = workload.compute();
    const Result<ControlSite> site = control_site(scenario, device_, compute.footprint, compute.shape_refusal);
    if (!site) return site.error();
    const ProfileKey key = profile_key(scenario, compute.footprint, surroundings_);
    const StoredChoice* stored = profile_.find(to_string(key));
    if (stored == nullptr) return fallback(scenario, *site, lacking(key));
    if (stored->made_for && !alike(*stored->made_for, case_size(scenario))) {
      return fallback(scenario, *site, fmt::format("the stored choice is for another balance ({})", in_words(*stored->made_for)));
    }
    const auto cannot_act = [](const Error& why) { return fmt::format("the stored plan cannot act here ({})", why.message); };
    if (Status legal = check_plan(*site, stored->plan); !legal) return fallback(scenario, *site, cannot_act(legal.error()));
    const Result<Microseconds> ran = workload.run(order_of(stored->scheme), stored->plan);
    if (!ran && ran.error().kind == ErrorKind::failed) return ran.error();
    if (!ran) return fallback(scenario, *site, cannot_act(ran.error()));
    return TunedPlan{stored->scheme, stored->plan, fmt::format("stored: {}", stored->reason)};
  }

 private:
  /// Another driver or a kernel that was compiled anew is easily overlooked: names what a choice that is nearly this case's has instead.
  [[nodiscard]] std::string lacking(const ProfileKey& key) const {
    std::error_code unknown;
    if (path_.empty()) return "no profile is given";
    if (!std::filesystem::exists(path_, unknown)) return fmt::format("{} does not exist", path_);
    constexpr std::size_t near = 2;
    std::vector<std::string> nearest;
    for (const StoredChoice& choice : profile_.choices()) {
      std::vector<std::string> differs = differences(key, choice.key);
      if (differs.size() <= near && (nearest.empty() || differs.size() < nearest.size())) nearest = std::move(differs);
    }
    if (nearest.empty()) return "the profile lacks this case";
    return fmt::format("the profile lacks this case ({})", fmt::join(nearest, "; "));
  }

  [[nodiscard]] TunedPlan fallback(const Scenario& scenario, const ControlSite& site, const std::string& why) const {
    const Candidate safe = safe_choice(CandidateSpace(site), simulated_times(scenario, device_));
    return {safe.scheme, safe.plan, fmt::format("{}: {} is run, which is safe without measurement", why, to_string(safe.scheme))};
  }

  Profile profile_;
  std::string path_;
  Surroundings surroundings_;
  DeviceLimits device_;
};

}  // namespace

TunedPlans stored_plans(const Backend& backend, const std::string& profile_path) {
  Profile profile;
  if (!profile_path.empty()) {
    profile = load_profile_or_none(profile_path, [](Severity, std::string_view line) { print_notice(line); });
  }
  return StoredPlans(std::move(profile), profile_path, surroundings_of(backend), backend.devices().front().limits);
}

std::string profile_path(const std::string& option) { return option.empty() ? read(kProfile).value_or("") : option; }

std::int64_t seconds_since_1970() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

Surroundings surroundings_of(const Backend& backend) {
  return surroundings(backend.provenance(), backend.devices().front().limits.name, backend.versions());
}

Predictor simulated_times(const Scenario& scenario, const DeviceLimits& device) {
  if (!find_device(device.name)) return {};
  BackendOptions options;
  options.device = device.name;
  options.predicts = true;
  const Result<std::unique_ptr<Backend>> opened = open_backend("sim", options);
  if (!opened) return {};
  Predictor whole = predictor_of(**opened, scenario, std::min(scenario.iterations, kMostSimulated));
  if (!whole || scenario.iterations <= kMostSimulated) return whole;
  const Predictor half = predictor_of(**opened, scenario, kHalfSimulated);
  const double more = static_cast<double>(scenario.iterations - kMostSimulated) / kHalfSimulated;
  return [=](Scheme scheme, const OverlapPlan& plan) -> Result<Microseconds> {
    const Result<Microseconds> longer = whole(scheme, plan);
    if (!longer) return longer.error();
    const Result<Microseconds> shorter = half(scheme, plan);
    if (!shorter) return shorter.error();
    return *longer + (*longer - *shorter) * more;
  };
}

}  // namespace elbowroom
