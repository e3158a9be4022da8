#pragma once

#include <compare>
#include <vector>

#include "backend_gpu/communicators.hpp"
#include "elbowroom/model/step.hpp"

namespace elbowroom {

struct CommSettings;
struct Program;

}  // namespace elbowroom

namespace elbowroom::gpu {

/// Communicators are of some ranks of a step, in order, and of one stream at a time.
struct CommKey {
  std::vector<int> ranks;
  int lane = 0;  ///< those of the first lane that communicates are 0; kMeetingLane
  CommBudget budget;
  auto operator<=>(const CommKey&) const = default;
};

/// Of the communicator by which the processes of a step meet before each run.
inline constexpr int kMeetingLane = -1;

/// By lane of the program: which of those that communicate it is, from 0; -1 where nothing does.
std::vector<int> comm_lanes_of(const Program& program);

/// What a collective with these settings goes over: the communicator of its kernels, if it has any, before that of its copies.
std::vector<CommBudget> budgets_of(CollectiveOp op, const CommSettings& settings);

/// All that the program goes over, each once, in the order in which every process makes those that it takes part in.
std::vector<CommKey> communicator_keys(const Step& step, const Program& program);

}  // namespace elbowroom::gpu
