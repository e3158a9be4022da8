#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/quantities.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/base/time.hpp"
#include "elbowroom/model/kernel_footprint.hpp"
#include "elbowroom/model/scenario.hpp"
#include "elbowroom/model/training_memory.hpp"

namespace elbowroom {

/// Data that one rank of a group sends to another; the group's other ranks have no part in it.
struct SendRecv {
  Bytes bytes;
  DataType dtype = DataType::bf16;
  int from = 0;  ///< position in the group
  int to = 0;
  bool operator==(const SendRecv&) const = default;
};

/// A kernel known by what was recorded of it. It can be simulated and explained, not run.
struct RecordedKernel {
  std::string name;
  std::vector<Microseconds> times;  ///< at least one
  Blocks blocks;
  std::optional<Threads> threads;  ///< absent, as what follows: not recorded
  std::optional<Registers> registers_per_thread;
  std::optional<Bytes> static_shared;
  std::optional<Bytes> dynamic_shared;
  std::optional<int> cluster;
  bool operator==(const RecordedKernel&) const = default;
};

using Work = std::variant<Compute, RecordedKernel, Collective, SendRecv>;

/// Axis of a mesh of ranks; a rank's number counts along the last axis first.
struct MeshAxis {
  std::string name;
  int size = 1;
  bool operator==(const MeshAxis&) const = default;
};

/// Ranks that share a communicator, in its order.
struct Group {
  std::string name;
  std::vector<int> ranks;
  bool operator==(const Group&) const = default;
};

/// An operation that another one waits for, on every rank that has both.
struct Dependency {
  int operation = 0;         ///< index
  bool of_previous = false;  ///< of the repeat before
  bool operator==(const Dependency&) const = default;
};

/// Where ranks of a mesh stand along one axis.
struct Coordinate {
  int axis = 0;  ///< index
  int at = 0;
  bool operator==(const Coordinate&) const = default;
};

struct Operation {
  std::string name;
  Work what;
  std::vector<Dependency> after;
  std::vector<int> along;           ///< axes along which ranks share a communicator; empty, with no group either: all ranks
  std::optional<int> group;         ///< the same as a group of the step
  std::vector<Coordinate> at;       ///< only ranks there take part
  std::optional<int> at_group;      ///< only ranks of that group of the step do
  std::optional<std::string> lane;  ///< the stream; absent: "compute" or "comm", by what it is
  Microseconds host_gap{0};         ///< that the host takes before it launches this
  bool operator==(const Operation&) const = default;
};

/// What is computed and communicated, by which ranks, after what. Says nothing about how (an OverlapPlan) or on what (a Backend).
struct Step {
  std::string name;
  int ranks = 2;               ///< 2..4096; of a mesh the product of its axes
  int repeats = 1;             ///< 1..10000
  std::vector<MeshAxis> mesh;  ///< empty: ranks are named one by one, in groups
  std::vector<Group> groups;
  std::vector<Operation> operations;
  std::optional<TrainingMemory> memory = std::nullopt;  ///< that training needs on a rank; GPUs run the step without it
  bool operator==(const Step&) const = default;
};

/// A pipeline or a pair of one kernel and one collective.
ELBOWROOM_API Step step_of(const Scenario& scenario);

/// Reads an `elbowroom.step/1` document, or an `elbowroom.scenario/1` document as the step that it is. Errors are as those of
/// parse_scenario. Never throws, whatever the text is.
ELBOWROOM_API Result<Step> parse_step(std::string_view json, std::string_view source);

/// An `elbowroom.step/1` document; parse_step reads what this writes.
ELBOWROOM_API std::string to_json(const Step& step, int indent = 2);

/// The rules that hold on every device: names, ranges, buffers that divide among ranks, an order that can be kept.
ELBOWROOM_API Status validate(const Step& step);

ELBOWROOM_API bool computes(const Operation& operation);

/// The operation's own lane, or the one for what it is.
ELBOWROOM_API std::string_view lane_of(const Operation& operation);

/// Operations so that each follows what it waits for within a repeat, otherwise in the step's order. `invalid_input` names one that
/// waits for itself.
ELBOWROOM_API Result<std::vector<int>> in_order(const Step& step);

/// Ranks of each communicator of the operation, in its order; of a computation one list of all that compute.
/// Where an operation is restricted, only those that take part.
ELBOWROOM_API std::vector<std::vector<int>> communicators_of(const Step& step, const Operation& operation);

/// Ranks that share one communicator of the operation.
ELBOWROOM_API int communicator_size(const Step& step, const Operation& operation);

/// What an operation is for the library that carries it out.
struct Communication {
  Collective collective;
  int ranks = 0;  ///< of each of its communicators
};

/// Absent for a computation.
ELBOWROOM_API std::optional<Communication> communication_of(const Step& step, const Operation& operation);

/// Whether two operations are the same work on the same ranks: backends then keep one set of operands or buffers for both.
ELBOWROOM_API bool shares_memory(const Operation& one, const Operation& other);

/// Device memory of the operands, results and buffers that every backend allocates, on the GPU that needs most; workspaces of its
/// own aside. Operations of the same work on the same ranks share them.
ELBOWROOM_API Bytes memory_per_device(const Step& step);

/// Ranks that take part, in ascending order.
ELBOWROOM_API std::vector<int> ranks_of(const Step& step, const Operation& operation);

}  // namespace elbowroom
