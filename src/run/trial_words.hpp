#pragma once

#include <array>

/// Words of a process's report that tell `elbowroom run` what the process compared: written by one side, read by the other.
namespace elbowroom::run {

// How far a comparison came.
inline constexpr const char* kTrialOff = "off";
inline constexpr const char* kTrialWaiting = "waiting";
inline constexpr const char* kTrialTrying = "trying";
inline constexpr const char* kTrialSettled = "settled";

// Whose comparison decides.
inline constexpr const char* kEachDecides = "each process";
inline constexpr const char* kDeciderNotKnown = "not known";
inline constexpr const char* kDecidesHere = "this process";
inline constexpr const char* kDecidesElsewhere = "another process";

// What acts in a step: "plain", "priority, gate".
inline constexpr const char* kPlainArm = "plain";
inline constexpr std::array<const char*, 4> kArmControls = {"priority", "gate", "shape", "sm_target"};
inline constexpr const char* kBetweenControls = ", ";

/// The one reason to stand aside that programs meet at their end as well.
inline constexpr const char* kContextEnded = "a context that was used is destroyed";

}  // namespace elbowroom::run
