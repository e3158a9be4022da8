#include "elbowroom/runtime/cases.hpp"

#include "elbowroom/tune/profile_file.hpp"

namespace elbowroom {
namespace {

class Nobody : public CaseObserver {
 public:
  void expect(CaseStep, std::size_t) override {}
  Status begin(CaseStep, std::string_view) override { return {}; }
};

}  // namespace

Result<CaseMeasurement> bench(Backend& backend, const Case& what, BenchSettings settings) {
  if (settings.schemes.empty()) { settings.schemes.assign(baselines().begin(), baselines().end()); }
  Nobody nobody;
  return bench_case(backend, what, settings, nobody);
}

Result<TunedCase> tune(Backend& backend, const Case& what, TuneSettings settings, const std::optional<std::string>& profile) {
  // What could not be stored in the end would be lost.
  if (profile) {
    if (Status storable = can_store_in(*profile); !storable) { return storable.error(); }
    settings.state_for = profile;
  }
  const auto go_on = [](std::string_view, const Tuner*, std::optional<Seconds>) { return Status(); };
  Result<TunedCase> tuned = tune_case(backend, what, settings, go_on);
  if (!tuned || !profile) { return tuned; }
  if (Status stored = store_choice(*profile, tuned->choice, settings.notice); !stored) { return stored.error(); }
  return tuned;
}

}  // namespace elbowroom
