#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "elbowroom/base/result.hpp"

namespace elbowroom::ranks {

/// What rank 0 asks the others to do.
enum class Task {
  open,     ///< of `number` ranks; the answer is its introduction
  prepare,  ///< a step, which is workload `number` from then on
  release,  ///< as what follows: of workload `number`
  accepts,  ///< a program
  run,      ///< a program with its bootstrap, as what follows; the answer is the microseconds
  record,   ///< the answer is a timeline
  verify,
};

struct Request {
  Task task = Task::open;
  std::int64_t number = 0;
  std::string text;
};

std::string bytes_of(const Request& request);
/// `failed` where they are none.
Result<Request> request_in(std::string_view bytes);

/// A program for other ranks, and what rank 0 gives them to run it.
struct ProgramRequest {
  std::string bootstrap;
  std::string program;
};

std::string bytes_of(const ProgramRequest& request);
/// `failed` where they are none.
Result<ProgramRequest> program_request_in(std::string_view bytes);

/// An answer, or why there is none; as the rank has it.
std::string answer_bytes(const Result<std::string>& answer);
Result<std::string> answer_in(std::string_view bytes);

}  // namespace elbowroom::ranks
