#include "elbowroom/experiment/stored_plans.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "elbowroom/experiment/case_trials.hpp"
#include "elbowroom/experiment/prediction.hpp"
#include "elbowroom/plan/ranking.hpp"
#include "elbowroom/tune/profile.hpp"
#include "elbowroom/tune/profile_file.hpp"
#include "elbowroom/tune/profile_key.hpp"

namespace elbowroom {
namespace {

std::string in_words(const CaseSize& size) {
  return fmt::format("{} iteration{} of {:.4g} flop or bytes beside {} B", size.iterations, size.iterations == 1 ? "" : "s",
                     size.compute, size.collective.count());
}

/// Another driver or a kernel that was compiled anew is easily overlooked: names what a choice that is nearly this case's has
/// instead.
std::string lacking(const Profile& profile, const ProfileKey& key) {
  constexpr std::size_t near = 2;
  std::vector<std::string> nearest;
  for (const StoredChoice& choice : profile.choices()) {
    if (choice.key.what.index() != key.what.index()) { continue; }
    std::vector<std::string> differs = differences(key, choice.key);
    if (differs.size() <= near && (nearest.empty() || differs.size() < nearest.size())) { nearest = std::move(differs); }
  }
  if (nearest.empty()) { return "the profile lacks this case"; }
  return fmt::format("the profile lacks this case ({})", fmt::join(nearest, "; "));
}

std::string cannot_act(const Error& why) { return fmt::format("the stored plan cannot act here ({})", why.message); }

class StoredPlans {
 public:
  StoredPlans(Profile profile, std::optional<std::string> path, Surroundings surroundings)
      : profile_(std::move(profile)), path_(std::move(path)), surroundings_(std::move(surroundings)) {}

  Result<TunedPlan> operator()(CaseTrials& trials) const {
    const Result<ControlSite> site = trials.site();
    if (!site) { return Error{site.error().kind, fmt::format("tuned: {}", site.error().message)}; }
    if (const std::optional<std::string> why = without_a_file()) { return fallback(trials, *site, *why); }
    const Result<StoredChoice> stored = stored_choice(profile_, surroundings_, trials.what(), *site);
    if (!stored) { return fallback(trials, *site, stored.error().message); }
    const Result<Microseconds> ran = trials.run(order_of(stored->scheme), stored->plan);
    if (!ran && ran.error().kind == ErrorKind::failed) { return ran.error(); }
    if (!ran) { return fallback(trials, *site, cannot_act(ran.error())); }
    return TunedPlan{stored->scheme, stored->plan, fmt::format("stored: {}", stored->reason)};
  }

 private:
  /// Why there is no profile; absent: there is one.
  [[nodiscard]] std::optional<std::string> without_a_file() const {
    std::error_code unknown;
    if (!path_) { return "no profile is given"; }
    if (!std::filesystem::exists(*path_, unknown)) { return fmt::format("{} does not exist", *path_); }
    return std::nullopt;
  }

  static TunedPlan fallback(const CaseTrials& trials, const ControlSite& site, const std::string& why) {
    const Candidate safe = safe_choice(CandidateSpace(site), simulated_times(trials.what(), trials.device()));
    return {safe.scheme, safe.plan, fmt::format("{}: {} is run, which is safe without measurement", why, to_string(safe.scheme))};
  }

  Profile profile_;
  std::optional<std::string> path_;
  Surroundings surroundings_;
};

}  // namespace

TunedPlans stored_plans(const Backend& backend, const std::optional<std::string>& profile_path, const NoticeSink& notice) {
  Profile profile = profile_path ? load_profile_or_none(*profile_path, notice) : Profile();
  return StoredPlans(std::move(profile), profile_path, surroundings_of(backend));
}

ProfileKey profile_key(const Case& what, const std::optional<KernelFootprint>& compute, const Surroundings& surroundings) {
  const auto* scenario = std::get_if<Scenario>(&what);
  return scenario != nullptr ? profile_key(*scenario, compute, surroundings) : profile_key(std::get<Step>(what), surroundings);
}

Result<StoredChoice> stored_choice(const Profile& profile, const Surroundings& surroundings, const Case& what,
                                   const ControlSite& site) {
  const ProfileKey key = profile_key(what, site.compute, surroundings);
  const StoredChoice* stored = profile.find(key);
  if (stored == nullptr) { return unavailable(lacking(profile, key)); }
  const auto* scenario = std::get_if<Scenario>(&what);
  if (scenario != nullptr && stored->made_for && !alike(*stored->made_for, case_size(*scenario))) {
    return unavailable(fmt::format("the stored choice is for another balance ({})", in_words(*stored->made_for)));
  }
  if (Status legal = check_plan(site, stored->plan); !legal) { return invalid_input(cannot_act(legal.error())); }
  return *stored;
}

Surroundings surroundings_of(const Backend& backend) {
  return surroundings(backend.provenance(), backend.devices().front().limits.name, backend.versions());
}

}  // namespace elbowroom
