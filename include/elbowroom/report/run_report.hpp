#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/base/time.hpp"
#include "elbowroom/model/kernel_footprint.hpp"
#include "elbowroom/report/run_energy.hpp"
#include "elbowroom/report/trial_words.hpp"

namespace elbowroom {

/// Launches that each control acted on.
struct AppliedControls {
  std::int64_t priority = 0;
  std::int64_t gate = 0;
  std::int64_t shape = 0;
  std::int64_t sm_target = 0;
};

/// A collective by the name of its kernel and the class of its size.
struct CollectiveActivity {
  std::string name;
  std::optional<std::int64_t> size_class;  ///< binary logarithm of its bytes, rounded down; absent: not known
  std::int64_t count = 0;
};

/// A kernel that was launched where it could run beside a collective.
struct KernelActivity {
  std::string name;
  KernelFootprint footprint;
  std::int64_t launches = 0;
  std::int64_t in_window = 0;
  AppliedControls applied;
  std::map<std::string, std::int64_t> refused;  ///< reason -> launches
};

/// NCCL or RCCL, as far as its functions are hooked.
struct CommLibraryActivity {
  std::optional<std::int64_t> version;  ///< the newest, as it names itself: 22809; absent: not seen
  std::int64_t calls = 0;               ///< of collectives, sends and receives
  std::int64_t unseen = 0;              ///< processes that launched its kernels while no call of its functions was seen
  std::int64_t communicators = 0;
  std::optional<std::int64_t> ranks;  ///< of the greatest communicator; absent before one is made
  std::optional<std::int64_t> rank;   ///< the least number of a process in its greatest communicator; absent as `ranks` is
};

/// What the interposer saw and did, in one process or in all of a run.
struct RunActivity {
  struct Launches {
    std::int64_t total = 0;
    std::int64_t captured = 0;
    std::int64_t graph_launches = 0;
    std::int64_t in_window = 0;
    std::int64_t in_order_only = 0;          ///< unordered with a collective, but not expected to meet it
    std::int64_t untracked = 0;              ///< of which nothing could be told: passed on as they were
    std::int64_t collectives_forgotten = 0;  ///< taken for finished because too many were live
    std::int64_t at_rest = 0;                ///< left alone after `auto` had found that the program runs best as it is
  };
  struct Overhead {
    Nanoseconds time{0};
    std::int64_t calls = 0;
    // Absent: there was no such launch.
    std::optional<Microseconds> per_launch_outside;
    std::optional<Microseconds> per_launch_inside;
  };

  Launches launches;
  std::vector<CollectiveActivity> collectives;
  std::vector<KernelActivity> kernels;
  AppliedControls applied;
  std::map<std::string, std::int64_t> refused;         ///< reason -> launches
  std::map<std::string, std::int64_t> passed_through;  ///< "function: reason" -> processes
  std::int64_t relaunched = 0;
  Overhead overhead;
  CommLibraryActivity library;
};

/// The report of one process, `elbowroom.run-process/1`.
struct ProcessReport {
  /// What the process found by comparing its controls while it ran.
  struct Trial {
    struct Arm {
      ArmControls controls;
      std::optional<Microseconds> step;  ///< geometric mean over rounds; absent: it acted on nothing
      double gain = 0;                   ///< percent of a plain step; 0 for plain itself
      double low = 0;                    ///< of its 95 % interval
      double high = 0;
    };
    /// What it settled for where its collectives repeat one sequence.
    struct Choice {
      std::string sequence;  ///< sixteen hexadecimal digits: the same for equal sequences in every process
      ArmControls arm;
      double gain = 0;  ///< as an arm's
      double low = 0;
      double high = 0;
      /// Comparisons of this process that ended with it; absent: an earlier run's, not checked yet.
      std::optional<std::int64_t> decisions;
    };
    std::optional<TrialState> state;  ///< absent or off: it did not compare
    Decider decides = Decider::not_known;
    std::optional<std::string> why_alone;    ///< where each process decides
    ArmControls arm;                         ///< what it chose
    std::int64_t decisions = 0;              ///< comparisons that came to an end
    std::optional<std::int64_t> repetition;  ///< collectives in the repetition that was found; absent: none was
    std::vector<Arm> arms;                   ///< of the last comparison, plain first; empty before one came to an end
    std::optional<ArmControls> remembered;   ///< what an earlier run settled for and this one began with
    std::vector<Choice> choices;
  };

  std::int64_t pid = 0;
  std::string program;
  std::string policy;
  RunActivity activity;
  Trial trial;
  std::optional<std::string> device;  ///< of the first GPU, as its driver names it; absent: none was seen
  /// The longest stretch in which it repeated one sequence of collectives; times are those of Sampler::now().
  struct Steps {
    std::int64_t repetitions = 0;
    std::int64_t collectives = 0;  ///< in one of them
    Microseconds begin{0};
    Microseconds end{0};
  };
  std::optional<Steps> steps;         ///< absent: it repeated none
  std::vector<std::string> gpus;      ///< that it launched something beside collectives on, "0000:1b:00.0"
  std::optional<Microseconds> begun;  ///< when it first called the driver; absent: it does not say
  std::string document;               ///< the report as it was read: a merged report keeps fields that are unknown here
  /// What the hook into Python programs did, `elbowroom.symmetric/1`; absent: nothing is known of it.
  std::optional<std::string> symmetric_memory;
  bool jax = false;  ///< it imported JAX, as the hook saw
};

/// A run of one command with all its processes.
struct RunReport {
  std::vector<std::string> command;
  std::string policy;
  int exit_code = 0;
  std::chrono::duration<double> wall{0};
  std::vector<ProcessReport> processes;
  std::vector<std::string> damaged;                ///< one line for each report that could not be read
  std::string backend = "cuda";                    ///< whose launches were seen: "cuda" or "hip"
  std::optional<std::string> same_bits = {};       ///< what asked for the same results to the bit; absent: nothing did
  std::optional<RunEnergy> energy = std::nullopt;  ///< absent: nobody asked for joules
  std::vector<std::string> settings = {};          ///< in force from the start, by the environment: NAME=VALUE
  /// Documents of the hook, as in a process, of processes that used no driver.
  std::vector<std::string> without_driver = {};
  bool driver_found = true;  ///< its library can be loaded here
  /// Why no process of the command could be seen: "a static program takes no preloaded library"; absent: each could be.
  std::optional<std::string> unseen_because = {};
};

/// Reads one report. Absent fields keep their defaults. `invalid_input`, one line that begins with `source`, when the text is no
/// complete JSON, has another schema or a field of another type.
ELBOWROOM_API Result<ProcessReport> parse_process_report(std::string_view text, const std::string& source);

/// All processes together. Counts are added. Collectives are joined by name and size class, kernels by name and footprint. Kernels
/// come by launches in windows, most first.
ELBOWROOM_API RunActivity total_activity(std::span<const ProcessReport> processes);

inline constexpr std::string_view kRunSchema = "elbowroom.run/1";

/// Such a document with a final newline. Text that is not UTF-8 is written with replacement characters.
ELBOWROOM_API std::string to_json(const RunReport& report, int indent = 2);

/// The same for people; ends with a newline.
ELBOWROOM_API std::string to_table(const RunReport& report);

}  // namespace elbowroom
