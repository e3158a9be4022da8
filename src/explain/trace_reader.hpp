#pragma once

#include <string>

#include "elbowroom/base/result.hpp"
#include "explain/byte_source.hpp"
#include "explain/trace.hpp"

namespace elbowroom::explain {

/// The trace of one process. What is damaged or missing is left out and named in Trace::lost. An error where nothing of it is a
/// trace: one line that begins with `file`. Takes memory for what ran, not for the text.
Result<Trace> read_trace(ByteSource& source, const std::string& file);

}  // namespace elbowroom::explain
