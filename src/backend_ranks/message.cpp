#include "backend_ranks/message.hpp"

#include "backend_ranks/field_wire.hpp"

namespace elbowroom::ranks {
namespace {

void request_fields(auto& wire, auto& request) {
  auto& [task, number, text] = request;
  wire.word(task, Task::verify);
  wire(number, text);
}

void program_request_fields(auto& wire, auto& request) {
  auto& [bootstrap, program] = request;
  wire(bootstrap, program);
}

}  // namespace

std::string bytes_of(const Request& request) {
  FieldsOut wire;
  request_fields(wire, request);
  return wire.take();
}

Result<Request> request_in(std::string_view bytes) {
  FieldsIn wire(bytes);
  Request request;
  request_fields(wire, request);
  if (!wire.complete()) { return failed("a message that asks nothing"); }
  return request;
}

std::string bytes_of(const ProgramRequest& request) {
  FieldsOut wire;
  program_request_fields(wire, request);
  return wire.take();
}

Result<ProgramRequest> program_request_in(std::string_view bytes) {
  FieldsIn wire(bytes);
  ProgramRequest request;
  program_request_fields(wire, request);
  if (!wire.complete()) { return failed("a message of no program"); }
  return request;
}

std::string answer_bytes(const Result<std::string>& answer) {
  FieldsOut wire;
  wire(answer.ok());
  wire.word(answer ? ErrorKind::failed : answer.error().kind, ErrorKind::failed);
  wire(answer ? *answer : answer.error().message);
  return wire.take();
}

Result<std::string> answer_in(std::string_view bytes) {
  FieldsIn wire(bytes);
  bool good = false;
  Error error;
  wire(good);
  wire.word(error.kind, ErrorKind::failed);
  wire(error.message);
  if (!wire.complete()) { return failed("a message that is no answer"); }
  return good ? Result<std::string>(std::move(error.message)) : error;
}

}  // namespace elbowroom::ranks
