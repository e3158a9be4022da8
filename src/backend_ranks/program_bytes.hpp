#pragma once

#include <string>
#include <string_view>

#include "elbowroom/base/result.hpp"
#include "elbowroom/model/step.hpp"
#include "elbowroom/plan/program.hpp"

namespace elbowroom::ranks {

/// A program for another rank.
std::string bytes_of(const Program& program);

/// `failed` where they are no program of the step: what a backend takes for granted of one holds of all that this reads.
Result<Program> program_in(std::string_view bytes, const Step& step);

}  // namespace elbowroom::ranks
