#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/plan/plan_member.hpp"

namespace elbowroom {

enum class Scheme;
struct Capabilities;
struct Collective;
struct ControlSite;
struct DeviceLimits;
struct KernelFootprint;
struct LaunchSite;
struct OverlapPlan;

/// What a control changes.
enum class ActsOn {
  launches,  ///< each as it is launched
  order,     ///< when launches begin
  process,   ///< all launches of the process, from its start to its end
};

/// How a search walks through a control's values.
enum class Searched {
  no,       ///< it is for `--plan` alone
  derived,  ///< follows from the rest of a plan
  first,    ///< step by step, before others: it decides which values they have
  yes,      ///< step by step
};

/// The scheme that sets this control alone, as is commonly done instead of choosing all together.
struct PeerScheme {
  std::optional<Scheme> scheme;  ///< absent: none
  /// Absent: no scheme does. Otherwise each plan to try, made of one that holds what the user fixed; `invalid_input` where it
  /// cannot act.
  Result<std::vector<OverlapPlan>> (*plans)(const OverlapPlan& plain, const DeviceLimits& device,
                                            const std::optional<KernelFootprint>& footprint,
                                            const Collective& collective) = nullptr;
};

/// How a whole process is told, before it starts, what a control is to be: through its communication library's environment.
struct ProcessSetting {
  std::span<const std::string_view> variables;
  std::int64_t greatest = 1;                     ///< from 1 on, where nothing else is `allowed`
  std::int64_t example = 1;                      ///< one that help shows
  std::span<const std::int64_t> allowed = {};    ///< the library silently replaces other numbers
  std::span<const std::string_view> words = {};  ///< what each of `allowed` is to the library; empty: the number itself
};

/// What there is to know of a control beyond its member of the plan.
struct ControlRules {
  std::string_view purpose = {};
  std::string_view values_in_words = {};   ///< "8, 16, 24, 32": which values there are
  std::string_view refused_in_words = {};  ///< where it cannot act
  ActsOn acts_on = ActsOn::launches;
  Searched searched = Searched::yes;
  const ProcessSetting* of_process = nullptr;  ///< absent: no process can be told
  bool of_run = false;                         ///< `elbowroom run` can give it to a program that makes its own launches and buffers
  Status Capabilities::* needs = nullptr;      ///< absent: nothing that a machine may lack
  /// As Control::values() says, on a machine that has what is needed.
  Result<std::vector<std::int64_t>> (*legal)(const ControlSite& site, const OverlapPlan& plan) = nullptr;
  /// Why a backend cannot launch with that setting, whose `asked` are all of the launch's. Absent: nothing more is to be asked.
  Status (*at_launch)(const LaunchSite& site, const OverlapPlan& asked) = nullptr;
  /// What the library takes by itself: "off" stands at that value, which changes nothing. Absent: no value is like off.
  std::int64_t (*own)(const ControlSite& site, const OverlapPlan& plan) = nullptr;
  /// What follows from the value at a site. Absent: nothing.
  void (*follow)(const ControlSite& site, OverlapPlan& plan) = nullptr;
  const PlanMember* consequence = nullptr;  ///< the member that follows
  PeerScheme peer = {};
};

/// A control: one member of OverlapPlan, with the values that can act somewhere.
struct Control : PlanMember, ControlRules {
  /// In ascending order, at least one; none of them is "off". `plan` holds what the other controls already say. `invalid_input`
  /// says why the control cannot act there.
  [[nodiscard]] ELBOWROOM_API Result<std::vector<std::int64_t>> values(const ControlSite& site, const OverlapPlan& plan) const;

  /// One of `values`, or off. Leaves every other control as it is.
  void set(const ControlSite& site, OverlapPlan& plan, std::optional<std::int64_t> value) const {
    put(plan, value);
    if (follow != nullptr) { follow(site, plan); }
  }
};

/// In the order of the plan's JSON, where a member that follows stands behind its control.
ELBOWROOM_API std::span<const Control> controls();

/// The control of that name, which must be one of controls().
ELBOWROOM_API const Control& control(std::string_view name);

/// The control that caps residency by padding.
ELBOWROOM_API const Control& residency_control();

}  // namespace elbowroom
