#pragma once

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom {

struct Program;
struct Step;
struct Timeline;

/// Whether a recording shows the order that a program promises. On every device no launch begins before what it waits for has
/// ended, or has begun where a gate stands. Rank i runs on device i. `failed` names the first launch that did not wait.
/// `unavailable` when the recording is not whole: each device must hold one span of every communication, and as many of one
/// computation as of another. The kernel that adds up what cuBLAS has divided among blocks counts with the one before it. A
/// simulated recording may leave out ranks but the first: one of many that do the same is shown.
///
/// Launches of one side that follow each other on one lane are not compared: a library may let their ends overlap. Those of one
/// side that run on several lanes at once are told apart by their streams, in ascending order.
ELBOWROOM_API Status check_order(const Step& step, const Program& program, const Timeline& timeline);

}  // namespace elbowroom
