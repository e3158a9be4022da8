#pragma once

/// The environment variables by which `elbowroom run` speaks to the library that it preloads.
namespace elbowroom::run {

inline constexpr const char* kPolicyVariable = "ELBOWROOM_RUN_POLICY";         ///< a word of run/policy.hpp
inline constexpr const char* kRulesVariable = "ELBOWROOM_RUN_RULES";           ///< a file of run/rules.hpp
inline constexpr const char* kChoicesVariable = "ELBOWROOM_RUN_CHOICES";       ///< a file of run/choices.hpp
inline constexpr const char* kReportDirVariable = "ELBOWROOM_RUN_REPORT_DIR";  ///< a folder for files of run/process_report.hpp

}  // namespace elbowroom::run
