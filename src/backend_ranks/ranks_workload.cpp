#include "backend_ranks/ranks_workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>

#include "backend_ranks/program_bytes.hpp"
#include "backend_ranks/timeline_bytes.hpp"
#include "ranks/wire.hpp"

namespace elbowroom::ranks {
namespace {

/// The result of a rank's part, kept where the part leaves only its status.
template <class Value>
Status keep(Result<Value> result, std::optional<Value>& kept) {
  if (!result) { return result.error(); }
  kept = *std::move(result);
  return {};
}

}  // namespace

Result<std::vector<std::string>> on_all(Hub& hub, const Request& request, const std::function<Status()>& own) {
  if (Status asked = hub.ask(bytes_of(request)); !asked) { return asked.error(); }
  const Status done = own();
  // Heard whatever happened here, so that the next answers are those of the next question.
  const Result<std::vector<std::string>> replies = hub.replies();
  if (!replies) { return replies.error(); }
  std::vector<std::string> answers;
  for (std::size_t other = 0; other < replies->size(); ++other) {
    Result<std::string> answer = answer_in((*replies)[other]);
    if (answer) {
      answers.push_back(*std::move(answer));
      continue;
    }
    const std::string theirs = fmt::format("rank {}: {}", other + 1, answer.error().message);
    if (done) { return Error{answer.error().kind, theirs}; }
    // What went wrong here may follow from what went wrong there.
    if (answer.error().message != done.error().message) {
      return Error{done.error().kind, fmt::format("{}; {}", done.error().message, theirs)};
    }
  }
  if (!done) { return done.error(); }
  return answers;
}

RanksWorkload::~RanksWorkload() {
  // What is lost here is found out by the next question.
  static_cast<void>(on_all(hub_, {Task::release, number_, {}}, [this] {
    own_.reset();
    return Status();
  }));
}

Status RanksWorkload::accepts(const Program& program) const {
  const auto answers = on_all(hub_, {Task::accepts, number_, bytes_of(program)}, [&] { return own_->accepts(program); });
  return answers ? Status() : Status(answers.error());
}

Result<std::string> RanksWorkload::shared(const Program& program) {
  Result<std::string> bootstrap = own_->bootstrap(program);
  if (!bootstrap) { return bootstrap.error(); }
  if (Status joined = own_->join(program, *bootstrap); !joined) { return joined.error(); }
  return bytes_of(ProgramRequest{*std::move(bootstrap), bytes_of(program)});
}

Result<Microseconds> RanksWorkload::run(const Program& program) {
  const Result<std::string> asked = shared(program);
  if (!asked) { return asked.error(); }
  std::optional<Microseconds> own;
  const auto answers = on_all(hub_, {Task::run, number_, *asked}, [&] { return keep(own_->run(program), own); });
  if (!answers) { return answers.error(); }
  Microseconds slowest = *own;
  for (const std::string& answer : *answers) { slowest = std::max(slowest, Microseconds(WireReader(answer).real())); }
  return slowest;
}

Result<Timeline> RanksWorkload::record(const Program& program) {
  const Result<std::string> asked = shared(program);
  if (!asked) { return asked.error(); }
  std::optional<Timeline> own;
  const auto answers = on_all(hub_, {Task::record, number_, *asked}, [&] { return keep(own_->record(program), own); });
  if (!answers) { return answers.error(); }
  std::erase_if(own->spans, [](const Span& span) { return span.device != 0; });
  for (std::size_t other = 0; other < answers->size(); ++other) {
    Result<Timeline> theirs = timeline_in((*answers)[other]);
    if (!theirs) { return failed(fmt::format("rank {}: {}", other + 1, theirs.error().message)); }
    const int device = static_cast<int>(other) + 1;
    std::ranges::copy_if(std::move(theirs->spans), std::back_inserter(own->spans),
                         [device](const Span& span) { return span.device == device; });
  }
  return *std::move(own);
}

Status RanksWorkload::verify(const Program& program) {
  const Result<std::string> asked = shared(program);
  if (!asked) { return asked.error(); }
  const auto answers = on_all(hub_, {Task::verify, number_, *asked}, [&] { return own_->verify(program); });
  return answers ? Status() : Status(answers.error());
}

}  // namespace elbowroom::ranks
