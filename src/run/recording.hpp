#pragma once

/// How `elbowroom explain -- COMMAND` and `run --record` speak to the recorder, a library that CUDA loads into the command.
namespace elbowroom::run {

inline constexpr const char* kInjectionVariable = "CUDA_INJECTION64_PATH";     ///< CUDA's own: the library to load
inline constexpr const char* kRecordDirVariable = "ELBOWROOM_RECORD_DIR";      ///< a folder for traces and notes
inline constexpr const char* kRecordBeginVariable = "ELBOWROOM_RECORD_BEGIN";  ///< when the command began, ns since 1970
inline constexpr const char* kRecordAfterVariable = "ELBOWROOM_RECORD_AFTER";  ///< ns from then to the recording, at the latest
inline constexpr const char* kRecordLibrary = "libelbowroom_recorder.so";
inline constexpr const char* kNoteSuffix = ".note";  ///< of a file with one line: why a process recorded nothing

}  // namespace elbowroom::run
