#pragma once

#include <string_view>

/// Schemas of documents that commands write and the page reads.
namespace elbowroom {

inline constexpr std::string_view kPlanSchema = "elbowroom.plan/1";
inline constexpr std::string_view kKernelsSchema = "elbowroom.kernels/1";
inline constexpr std::string_view kTuneSchema = "elbowroom.tune/1";
inline constexpr std::string_view kValidationSchema = "elbowroom.validation/1";
inline constexpr std::string_view kStepValidationSchema = "elbowroom.step_validation/1";
inline constexpr std::string_view kSweepSchema = "elbowroom.sweep/1";
inline constexpr std::string_view kTransferSchema = "elbowroom.transfer/1";
/// What `elbowroom explain --json` is to write.
inline constexpr std::string_view kExplainSchema = "elbowroom.explain/1";

}  // namespace elbowroom
