#pragma once

#include <span>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/time.hpp"

namespace elbowroom {

struct Program;
struct Scenario;
struct Step;

/// The schedule's length with each launch at its isolated time. A yardstick and no limit: a better transport beats it. `alone`: by
/// operation of the step, the time of one launch. Launches wait as lanes and edges say; a communication begins with the last of its
/// ranks.
ELBOWROOM_API Microseconds critical_path(const Step& step, const Program& program, std::span<const Microseconds> alone);

/// The same of a scenario's two streams. `compute` and `comm` are the isolated totals over all iterations, each of which takes an
/// equal share. A pipeline cannot hide the last collective (compute-bound) or the first compute (communication-bound); a pair hides
/// the shorter side entirely.
ELBOWROOM_API Microseconds critical_path(const Scenario& scenario, Microseconds compute, Microseconds comm);

}  // namespace elbowroom
