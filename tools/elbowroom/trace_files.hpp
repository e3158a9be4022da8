#pragma once

#include <string>
#include <vector>

#include "elbowroom/base/result.hpp"
#include "explain/trace.hpp"

namespace elbowroom {

/// The traces that a name gives: a file, packed by gzip or zstd or not, an archive of such, "-" for standard input, or the files of
/// a folder whose names are those of traces. Files of a folder or an archive that are no traces go to `notices`, one line each; an
/// error where none is one.
Result<std::vector<explain::Trace>> read_traces(const std::string& name, std::vector<std::string>& notices);

}  // namespace elbowroom
