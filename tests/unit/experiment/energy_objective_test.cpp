#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "elbowroom/energy/sampler.hpp"
#include "elbowroom/experiment/tune_case.hpp"
#include "elbowroom/plan/compute_facts.hpp"
#include "elbowroom/trace/rank_interval.hpp"
#include "elbowroom/trace/timeline.hpp"
#include "unit/experiment/cases.hpp"
#include "unit/experiment/tuning.hpp"

namespace elbowroom {
namespace {

using testing::ample;
using testing::go_on;
using ::testing::HasSubstr;
using testing::simulator;
using testing::small_case;

/// What all GPUs of a machine take, whatever runs: a counter that rises as fast as the program that was begun last makes it.
class Draw {
 public:
  void set(double watts) {
    const std::lock_guard lock(mutex_);
    count();
    watts_ = watts;
  }
  CounterReading read() {
    const std::lock_guard lock(mutex_);
    count();
    return {at_, Millijoules(static_cast<std::int64_t>(millijoules_)), Watts{watts_}};
  }

 private:
  void count() {
    const Microseconds now = Sampler::now();
    millijoules_ += watts_ * (now - at_).count() / 1e3;
    at_ = now;
  }

  std::mutex mutex_;
  double watts_ = 1;
  double millijoules_ = 0;
  Microseconds at_ = Sampler::now();
};

class DrawMeter final : public EnergyMeter {
 public:
  explicit DrawMeter(Draw& draw) : draw_(draw) {}
  [[nodiscard]] std::string_view library() const override { return "draw"; }
  [[nodiscard]] std::size_t gpus() const override { return 1; }
  Result<CounterReading> read(std::size_t) override { return draw_.read(); }
  Result<GpuState> state(std::size_t) override { return GpuState{std::nullopt, std::nullopt, {}, 1}; }

 private:
  Draw& draw_;
};

/// Whether the draw of a program is the greater one.
using Hungry = bool (*)(const Program& program);

class DrawingWorkload final : public Workload {
 public:
  DrawingWorkload(std::unique_ptr<Workload> within, Draw& draw, Hungry hungry)
      : within_(std::move(within)), draw_(draw), hungry_(hungry) {}

  [[nodiscard]] const Step& step() const override { return within_->step(); }
  [[nodiscard]] const ComputeFacts& compute(int operation) const override { return within_->compute(operation); }
  [[nodiscard]] const Capabilities& capabilities() const override { return within_->capabilities(); }
  [[nodiscard]] Status accepts(const Program& program) const override { return within_->accepts(program); }
  Result<Microseconds> run(const Program& program) override {
    draw_.set(hungry_(program) ? 10'000 : 10);
    return within_->run(program);
  }
  Result<Timeline> record(const Program& program) override { return within_->record(program); }
  Status verify(const Program& program) override { return within_->verify(program); }

 private:
  std::unique_ptr<Workload> within_;
  Draw& draw_;
  Hungry hungry_;
};

/// The simulator, as if it had measured: its programs take 10 W or, where they are hungry, a thousand times as much.
class DrawingBackend final : public Backend {
 public:
  DrawingBackend(Draw& draw, Hungry hungry) : draw_(draw), hungry_(hungry) {}
  [[nodiscard]] std::string_view name() const override { return within_->name(); }
  [[nodiscard]] Provenance provenance() const override { return Provenance::measured; }
  [[nodiscard]] const std::vector<DeviceInfo>& devices() const override { return devices_; }
  void lose_places() {
    for (DeviceInfo& device : devices_) { device.bus_id.reset(); }
  }
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& versions() const override { return within_->versions(); }
  [[nodiscard]] Result<Capabilities> capabilities() const override { return within_->capabilities(); }
  using Backend::prepare;
  Result<std::unique_ptr<Workload>> prepare(const Step& step) override {
    Result<std::unique_ptr<Workload>> within = within_->prepare(step);
    if (!within) { return within.error(); }
    return std::unique_ptr<Workload>(std::make_unique<DrawingWorkload>(*std::move(within), draw_, hungry_));
  }

 private:
  static std::vector<DeviceInfo> placed(std::vector<DeviceInfo> devices) {
    for (DeviceInfo& device : devices) { device.bus_id = "0000:1b:00.0"; }
    return devices;
  }

  std::unique_ptr<Backend> within_ = simulator();
  std::vector<DeviceInfo> devices_ = placed(within_->devices());
  Draw& draw_;
  Hungry hungry_;
};

Result<TunedCase> tune_on(DrawingBackend& backend, Draw& draw, Objective objective) {
  const EnergySettings energy{[&](std::span<const std::string>) -> Result<std::unique_ptr<EnergyMeter>> {
                                return std::unique_ptr<EnergyMeter>(std::make_unique<DrawMeter>(draw));
                              },
                              Microseconds(400'000)};
  TuneSettings settings = ample();
  settings.objective = objective;
  settings.energy = &energy;
  return tune_case(backend, small_case(), settings, go_on);
}

TunedCase tuned_by(Objective objective, Hungry hungry) {
  Draw draw;
  DrawingBackend backend(draw, hungry);
  Result<TunedCase> found = tune_on(backend, draw, objective);
  EXPECT_TRUE(found) << found.error().message;
  return *std::move(found);
}

/// What was timed afresh with joules: the baselines, then the finalists.
struct Sides {
  explicit Sides(const TunedCase& found) : schedules(std::span(found.afresh).last(found.energy.size())), energy(found.energy) {}

  [[nodiscard]] double joules(std::size_t at) const { return energy[at].per_iteration.joules.value; }
  [[nodiscard]] double microseconds(std::size_t at) const { return rank_interval(schedules[at].times).median.count(); }
  [[nodiscard]] std::size_t baselines() const {
    const auto is_tuned = [](const TimedSchedule& schedule) { return schedule.label == "tuned"; };
    return static_cast<std::size_t>(std::ranges::find_if(schedules, is_tuned) - schedules.begin());
  }
  /// Of all baselines the one with the least of `value`.
  template <class Value>
  [[nodiscard]] std::size_t least_baseline(Value value) const {
    std::size_t least = 0;
    for (std::size_t at = 1; at < baselines(); ++at) { least = value(at) < value(least) ? at : least; }
    return least;
  }
  [[nodiscard]] std::size_t index_of(const StoredChoice& choice) const {
    const auto same = [&](const TimedSchedule& schedule) {
      return schedule.plan == choice.plan && schedule.label == to_string(choice.scheme);
    };
    return static_cast<std::size_t>(std::ranges::find_if(schedules, same) - schedules.begin());
  }

  std::span<const TimedSchedule> schedules;
  std::span<const SchemeEnergy> energy;
};

/// That the choice takes no more of the objective than any baseline, and that its cost beside the fastest baseline is said.
void expect_never_worse(const TunedCase& found, Objective objective) {
  const Sides sides(found);
  ASSERT_GE(sides.baselines(), 3U);
  ASSERT_GT(sides.schedules.size(), sides.baselines()) << "no finalist was measured";
  const auto value = [&](std::size_t at) {
    return sides.joules(at) * (objective == Objective::product ? sides.microseconds(at) : 1);
  };
  const std::size_t chosen = sides.index_of(found.choice);
  ASSERT_LT(chosen, sides.schedules.size());
  EXPECT_LE(value(chosen), value(sides.least_baseline(value)));
  const std::size_t fastest = sides.least_baseline([&](std::size_t at) { return sides.microseconds(at); });
  EXPECT_THAT(found.choice.reason, HasSubstr(fmt::format("; beside {}, the fastest baseline: time {:+.1f} %, energy {:+.1f} %",
                                                         sides.schedules[fastest].label,
                                                         100 * (sides.microseconds(chosen) / sides.microseconds(fastest) - 1),
                                                         100 * (sides.joules(chosen) / sides.joules(fastest) - 1))));
}

bool side_by_side(const Program& program) { return program.lanes.size() > 1; }

bool without_priority(const Program& program) {
  return std::ranges::none_of(program.lanes, [](const Lane& lane) { return lane.urgent; });
}

// Whatever runs side by side takes a thousand times the power of one thing after the other: every finalist is faster, none takes
// less.
TEST(EnergyObjective, StaysWithTheSlowerBaselineThatTakesLess) {
  for (const Objective objective : {Objective::energy, Objective::product}) {
    const TunedCase found = tuned_by(objective, side_by_side);
    expect_never_worse(found, objective);
    EXPECT_EQ(found.choice.scheme, Scheme::sequential);
    EXPECT_THAT(found.choice.reason, HasSubstr(": no plan is beyond noise below sequential; "));
    EXPECT_THAT(found.choice.reason, HasSubstr("the fastest baseline: time +"));
    EXPECT_THAT(found.choice.reason, HasSubstr(" %, energy -"));
  }
}

// Priority makes what is fastest take the least as well.
TEST(EnergyObjective, ChoosesTheFasterScheduleWhereThatTakesLess) {
  const TunedCase found = tuned_by(Objective::energy, without_priority);
  expect_never_worse(found, Objective::energy);
  EXPECT_TRUE(found.choice.plan.priority);
}

TEST(EnergyObjective, NamesAGpuWithoutAPlaceOnTheBus) {
  Draw draw;
  DrawingBackend backend(draw, side_by_side);
  backend.lose_places();
  const Result<TunedCase> found = tune_on(backend, draw, Objective::energy);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::unavailable);
  EXPECT_THAT(found.error().message, HasSubstr("GPU 0: its place on the bus is not known"));
}

}  // namespace
}  // namespace elbowroom
