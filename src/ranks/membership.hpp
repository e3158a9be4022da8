#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "elbowroom/base/result.hpp"

namespace elbowroom::ranks {

/// How launchers tell a process which of several it is. A launcher is known by the variable of its size.
struct Launcher {
  std::string_view name;
  const char* size;
  const char* rank;
  const char* local_rank;
  const char* local_size;                 ///< null: none
  const char* host;                       ///< of rank 0; null: it is not said
  const char* port;                       ///< null: not said, kDefaultPort
  int port_beside = 0;                    ///< added to it, where somebody else listens at the port that is said
  const char* hosts = nullptr;            ///< number of hosts; null: it is not said
  std::array<const char*, 3> job = {};    ///< equal on all ranks of a job and different in another; null: no more of them
  std::string_view process_of_host = {};  ///< whose descendants the ranks of one host are, where no variable names the job
};

/// The launcher that is nearest to the process first: torchrun under srun sets what counts, and srun's variables are still there.
std::span<const Launcher> launchers();

inline constexpr int kDefaultPort = 29417;
inline constexpr std::string_view kLoopback = "127.0.0.1";

/// Which of several processes this one is, and where rank 0 is met.
struct Membership {
  std::string_view launcher;
  int rank = 0;
  int size = 1;
  int local_rank = 0;
  std::string host;
  int port = kDefaultPort;
  bool here = false;     ///< all ranks are on this host, as far as the launcher tells
  bool named = false;    ///< the user said where rank 0 is met
  std::string job = {};  ///< what tells this job from others; empty: nothing does
  std::string_view process_of_host = {};

  bool operator==(const Membership&) const = default;
};

/// A variable's value; absent when it is unset or empty.
using Lookup = std::function<std::optional<std::string>(const char* name)>;

/// Absent where this process is the only one. `invalid_input` in one line that names the variable, its value and what was expected.
Result<std::optional<Membership>> membership_of(const Lookup& lookup);

/// Whether this process is to say what all have in common: it is the only one, or rank 0. Variables that contradict each other make
/// no process another rank.
bool speaks_for_all(const Lookup& lookup);

/// The first host of Slurm's "node[03-05,7],gpu1"; absent where it is no such list.
std::optional<std::string> first_host(std::string_view list);

}  // namespace elbowroom::ranks
