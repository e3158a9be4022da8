#pragma once

#include <atomic>
#include <cstdint>

#include "interposer/core/core.hpp"
#include "interposer/core/rules.hpp"
#include "interposer/process/sampled_times.hpp"

/// What every interposer needs of its process, whatever it interposes.
namespace elbowroom::interposer::process {

/// Nanoseconds of a monotonic clock.
std::uint64_t now_ns();

/// A number of the calling thread alone, for per_thread_stream. The interposer stands aside where there is none any more.
std::uint32_t thread_number();
/// The calling thread is not cancelled in this scope: what would be a point of cancellation here is none to the program.
class Uncancelled {
 public:
  Uncancelled();
  ~Uncancelled();
  Uncancelled(const Uncancelled&) = delete;
  Uncancelled& operator=(const Uncancelled&) = delete;

 private:
  int before_ = 0;
};
/// Time spent in launch hooks, driver excluded: counted for every launch, measured for every kSampled-th of a thread.
struct Overhead {
  static constexpr std::uint32_t kSampled = 16;
  struct Launches {
    std::atomic<std::uint64_t> calls{0};
    SampledTimes times;
  };
  Launches outside, inside;  ///< of windows

  void count(bool in_window) { (in_window ? inside : outside).calls.fetch_add(1, std::memory_order_relaxed); }
  void add_sample(bool in_window, std::uint64_t nanoseconds) { (in_window ? inside : outside).times.add(nanoseconds); }
};

/// Keeps the time that the driver takes for a launch out of the account of ours.
class DriverClock {
 public:
  explicit DriverClock(bool on) : on_(on) {}

  template <class Call>
  int time(Call&& call) {
    if (!on_) { return call(); }
    const std::uint64_t begin = now_ns();
    const int result = call();
    spent_ns_ += now_ns() - begin;
    return result;
  }
  [[nodiscard]] bool on() const { return on_; }
  [[nodiscard]] std::uint64_t spent_ns() const { return spent_ns_; }

 private:
  bool on_;
  std::uint64_t spent_ns_ = 0;
};

/// What the environment says (run/environment.hpp); what is not understood is said on standard error and left out.
void read_rules(Rules& rules);

/// Platform's question of the same name: the file of run::kChoicesVariable, mapped until the process ends.
Text known_choices(void* self);

/// What the report needs beyond the core.
struct ReportSource {
  Core& core;
  const Overhead& overhead;
  int devices_seen;
  std::uint64_t begun_ns;  ///< ProcessFacts::begun_ns
  const char* finder;      ///< the function that finds functions, as a prefix of the entries that it gave out
  void (*write_more)(ReportWriter& out) = nullptr;  ///< ProcessFacts::write_more
};

/// What the environment says of reports: early as well, as the program may clear its environment.
void read_report_place();

/// Writes the report into the folder of run::kReportDirVariable.
void write_process_report(const ReportSource& source);

}  // namespace elbowroom::interposer::process
