#pragma once

/// How the report of one process, a JSON document, comes back to `elbowroom run`.
namespace elbowroom::run {

inline constexpr const char* kProcessReportSchema = "elbowroom.run-process/1";
/// Of a whole report, and of one that is being written: a reader sees the whole of it or nothing.
inline constexpr const char* kProcessReportSuffix = ".json";
inline constexpr const char* kUnfinishedReportSuffix = ".part";

}  // namespace elbowroom::run
