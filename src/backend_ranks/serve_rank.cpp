#include <fmt/format.h>

#include <limits>
#include <map>
#include <string>
#include <utility>
#include <variant>

#include "backend/over_ranks.hpp"
#include "backend_ranks/facts.hpp"
#include "backend_ranks/message.hpp"
#include "backend_ranks/program_bytes.hpp"
#include "backend_ranks/timeline_bytes.hpp"
#include "ranks/wire.hpp"

namespace elbowroom::ranks {
namespace {

Result<std::string> without_text(const Status& status) { return status ? Result<std::string>(std::string()) : status.error(); }

std::string time_bytes(Microseconds time) {
  WireWriter answer;
  answer.real(time.count());
  return answer.take();
}

/// Of a rank that has no part in a step.
std::string idle_answer(Task task) {
  if (task == Task::run) { return time_bytes(Microseconds(0)); }
  return task == Task::record ? bytes_of(Timeline()) : std::string();
}

/// What a rank has made for rank 0.
class Servant {
 public:
  Servant(const detail::OpenOwn& open, int rank, std::uint64_t seed) : open_(open), rank_(rank), seed_(seed) {}

  Result<std::string> answer(std::string_view bytes) {
    const Result<Request> request = request_in(bytes);
    if (!request) { return request.error(); }
    switch (request->task) {
      case Task::open:
        return open(request->number);
      case Task::prepare:
        return prepare(*request);
      case Task::release:
        workloads_.erase(request->number);
        return std::string();
      default:
        return act(*request);
    }
  }

 private:
  Result<std::string> open(std::int64_t needed) {
    if (needed < 0 || needed > std::numeric_limits<int>::max()) { return failed("a message of no number of ranks"); }
    workloads_.clear();
    Result<std::unique_ptr<Backend>> opened = open_(static_cast<int>(needed));
    if (!opened) { return opened.error(); }
    backend_ = *std::move(opened);
    return bytes_of(Introduction{facts_of(*backend_, seed_), gpu_of(*backend_)});
  }

  Result<std::string> prepare(const Request& request) {
    const Result<Step> step = parse_step(request.text, "the step of rank 0");
    if (!step) { return step.error(); }
    if (backend_ == nullptr) { return failed("a step before a backend"); }
    if (rank_ >= step->ranks) {
      // It has no part in the step.
      workloads_.insert_or_assign(request.number, nullptr);
      return std::string();
    }
    Result<std::unique_ptr<Workload>> made = backend_->prepare(*step);
    if (!made) { return made.error(); }
    workloads_.insert_or_assign(request.number, *std::move(made));
    return std::string();
  }

  Result<std::string> act(const Request& request) {
    const auto found = workloads_.find(request.number);
    if (found == workloads_.end()) { return failed("a program before its step"); }
    if (found->second == nullptr) { return idle_answer(request.task); }
    Workload& workload = *found->second;
    if (request.task == Task::accepts) {
      const Result<Program> program = program_in(request.text, workload.step());
      return program ? without_text(workload.accepts(*program)) : program.error();
    }
    const Result<ProgramRequest> asked = program_request_in(request.text);
    if (!asked) { return asked.error(); }
    const Result<Program> program = program_in(asked->program, workload.step());
    if (!program) { return program.error(); }
    if (Status joined = workload.join(*program, asked->bootstrap); !joined) { return joined.error(); }
    if (request.task == Task::verify) { return without_text(workload.verify(*program)); }
    if (request.task == Task::record) {
      const Result<Timeline> timeline = workload.record(*program);
      return timeline ? Result<std::string>(bytes_of(*timeline)) : timeline.error();
    }
    const Result<Microseconds> time = workload.run(*program);
    if (!time) { return time.error(); }
    return time_bytes(*time);
  }

  const detail::OpenOwn& open_;
  int rank_;
  std::uint64_t seed_;
  std::unique_ptr<Backend> backend_;
  std::map<std::int64_t, std::unique_ptr<Workload>> workloads_;  ///< null: this rank has no part in the step
};

}  // namespace
}  // namespace elbowroom::ranks

namespace elbowroom::detail {

Result<ranks::End> serve_rank(ranks::Spoke& spoke, int interrupts, const OpenOwn& open, int rank, std::uint64_t seed) {
  ranks::Servant servant(open, rank, seed);
  while (true) {
    const Result<ranks::Word> word = spoke.next(interrupts);
    if (!word) { return word.error(); }
    if (const auto* end = std::get_if<ranks::End>(&*word)) { return *end; }
    spoke.reply(ranks::answer_bytes(servant.answer(std::get<std::string>(*word))));
  }
}

}  // namespace elbowroom::detail
