#include <cstddef>
#include <cstdint>
#include <string_view>

#include "backend_ranks/program_bytes.hpp"
#include "elbowroom/model/step.hpp"
#include "fuzz/stop.hpp"

using namespace elbowroom;

namespace {

Step small_step() {
  const Result<Step> step = parse_step(R"({"schema": "elbowroom.step/1", "name": "small", "ranks": 2, "repeats": 2, "operations": [
    {"name": "a", "compute": {"kernel": "elementwise", "op": "gelu", "bytes": "1M", "dtype": "f32"}},
    {"name": "b", "collective": {"op": "all_reduce", "bytes": "1M", "dtype": "f32"}, "after": ["a"]}]})",
                                       "small");
  if (!step) { stop("no step", step.error().message); }
  return *step;
}

}  // namespace

// What is read as a program of the step is written as the bytes that it was.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Step step = small_step();
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Result<Program> program = ranks::program_in(bytes, step);
  if (!program) {
    check_line(program.error());
  } else if (ranks::bytes_of(*program) != bytes) {
    stop("another program", std::string(bytes));
  }
  return 0;
}
