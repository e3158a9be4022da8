#include "backend_sim/engine.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "backend_sim/dispatcher.hpp"
#include "backend_sim/sm_pool.hpp"

namespace elbowroom::sim {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
// Some milliseconds.
constexpr std::int64_t kStepsBetweenQuestions = 4096;

class Engine {
 public:
  Engine(const Machine& machine, const SmCapacity& capacity, const ComputeProfile& compute, const CommProfile& comm,
         const std::vector<Launch>& program)
      : machine_(machine), program_(program), pool_(machine, capacity, compute, comm), dispatcher_(pool_, compute, comm) {
    run_.launches.resize(program.size(), {kNever, kNever, kNever});
    for (std::size_t at = 0; at < program.size(); ++at) streams_[lane(program[at])].launches.push_back(at);
  }

  EngineRun run(const Overdue& overdue) {
    make_ready();
    dispatch();
    while (true) {
      const double next = std::min({pool_.next_end(), copy_end_, next_ready()});
      if (next == kNever) break;
      now_ = next;
      if (++run_.counts.steps % kStepsBetweenQuestions == 0 && overdue && overdue()) {
        run_.given_up = true;
        break;
      }
      const SmPool::Ended ended = pool_.advance(now_);
      end_blocks(Kind::compute, ended.compute);
      end_blocks(Kind::comm, ended.comm);
      if (copy_end_ <= now_) end_copy();
      make_ready();
      dispatch();
    }
    run_.end = now_;
    return std::move(run_);
  }

 private:
  struct Stream {
    std::vector<std::size_t> launches;
    std::size_t head = 0;      ///< in launches: the one that runs or comes next
    bool running = false;      ///< handed to the dispatcher
    double previous_end = -1;  ///< of the launch before; negative: there is none
  };

  static std::size_t lane(const Launch& launch) { return static_cast<std::size_t>(launch.stream); }

  /// When the head of a stream may start as far as is known now: never while something it waits for is still to come.
  [[nodiscard]] double ready_at(const Stream& stream) const {
    if (stream.running || stream.head == stream.launches.size()) return kNever;
    const Launch& launch = program_[stream.launches[stream.head]];
    // The communication stream begins behind an event of the compute stream, which begins at once.
    const double gap = launch.kind == Kind::copy ? machine_.copy_gap : machine_.launch_gap;
    double ready = stream.previous_end < 0 ? launch.stream * machine_.event_gap : stream.previous_end + gap;
    if (launch.after >= 0) ready = std::max(ready, run_.launches[static_cast<std::size_t>(launch.after)].end + machine_.event_gap);
    if (launch.after_begun >= 0) {
      ready = std::max(ready, run_.launches[static_cast<std::size_t>(launch.after_begun)].all_begun + machine_.event_gap);
    }
    return ready;
  }

  [[nodiscard]] double next_ready() const { return std::min(ready_at(streams_[0]), ready_at(streams_[1])); }

  void make_ready() {
    for (Stream& stream : streams_) {
      if (ready_at(stream) > now_) continue;
      stream.running = true;
      const std::size_t at = stream.launches[stream.head];
      if (program_[at].kind == Kind::copy) {
        begin_copy(at);
      } else {
        dispatcher_.add(at, program_[at]);
      }
    }
  }

  void begin_copy(std::size_t at) {
    run_.launches[at].begin = run_.launches[at].all_begun = now_;
    copy_ = at;
    copy_end_ = now_ + program_[at].bytes / copy_rate(machine_);
    pool_.set_copying(true);
  }

  void end_copy() {
    copy_end_ = kNever;
    pool_.set_copying(false);
    end_launch(copy_);
  }

  void dispatch() {
    for (const std::size_t at : dispatcher_.place_blocks()) {
      LaunchTimes& times = run_.launches[at];
      if (times.begin == kNever) times.begin = now_;
      if (!dispatcher_.pending(at)) times.all_begun = now_;
    }
    pool_.settle();
  }

  void end_blocks(Kind kind, std::int64_t count) {
    if (count == 0) return;
    run_.counts.blocks += count;
    const std::optional<std::size_t> ended = dispatcher_.end_blocks(kind, count);
    if (ended) end_launch(*ended);
  }

  void end_launch(std::size_t ended) {
    run_.launches[ended].end = now_;
    Stream& stream = streams_[lane(program_[ended])];
    stream.previous_end = now_;
    stream.running = false;
    ++stream.head;
  }

  const Machine& machine_;
  const std::vector<Launch>& program_;
  SmPool pool_;
  Dispatcher dispatcher_;
  std::array<Stream, 2> streams_;
  std::size_t copy_ = 0;      ///< the copy under way
  double copy_end_ = kNever;  ///< never: there is none
  double now_ = 0;
  EngineRun run_;
};

}  // namespace

EngineRun simulate(const Machine& machine, const SmCapacity& capacity, const ComputeProfile& compute, const CommProfile& comm,
                   const std::vector<Launch>& program, const Overdue& overdue) {
  return Engine(machine, capacity, compute, comm, program).run(overdue);
}

}  // namespace elbowroom::sim
