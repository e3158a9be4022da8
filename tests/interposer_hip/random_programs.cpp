#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "hip_program.hpp"

// Random programs through the whole interposer. Whatever the interposer decides, and whatever of its own doing the runtime refuses:
// each launch reaches the runtime exactly once, in its order and with the program's own arguments; nothing begins before what the
// program put before it has ended, carriers or not; and only capped kernels are padded. Captures have programs of their own.

namespace {

constexpr int kPrograms = 500;
constexpr int kBatch = 50;
constexpr int kOperations = 40;
constexpr int kOwnError = 98;
constexpr unsigned kManyBlocks = 100'000;
constexpr std::size_t kStreams = 3;

using Random = std::mt19937_64;
std::size_t below(Random& random, std::size_t limit) { return static_cast<std::size_t>(random()) % limit; }
bool chance(Random& random, unsigned percent) { return below(random, 100) < percent; }

struct Asked {
  const void* function;
  unsigned grid;
  std::size_t shared;
  bool fails, collective, capped;
  hip::Stream stream;               // by its explicit handle
  std::vector<std::size_t> before;  ///< launches that must have ended
};

struct Times {
  std::uint64_t begin = 0, end = 0;
};

// What the kernels wrote down when they ran, by the number of the launch that is their argument.
std::vector<Times> ran;
std::uint64_t first_number = 0;

void write_down(const FakeLaunch& launch) {
  if (launch.arguments == nullptr) { return; }
  std::uint64_t number = 0;
  std::memcpy(&number, launch.arguments[0], sizeof number);
  if (number < first_number) { return; }
  number -= first_number;
  if (ran.size() <= number) { ran.resize(number + 1); }
  ran[number] = {launch.begin_ns, launch.end_ns};
}

std::uint64_t some_nanoseconds(const FakeLaunch& launch) { return 1000 + launch.grid[0] % 7 * 300; }

using Functions = std::array<const void*, 3>;

/// The launches that whatever comes next in the program's order must wait for.
using Frontier = std::vector<std::size_t>;

struct OrderedStream {
  Frontier last;
  bool blocking = false;  ///< waits for the legacy default stream, and the other way round
};

struct Program {
  Random random;
  std::array<hip::Stream, kStreams>& streams;
  std::array<hip::Event, kStreams>& events;
  const Functions& functions;
  std::map<hip::Stream, OrderedStream> order;
  std::map<hip::Event, Frontier> recorded;
  std::vector<Asked> launches;
};

std::size_t padded = 0;
std::size_t carried = 0;
bool refuse_added = false;

const auto kLegacy = reinterpret_cast<hip::Stream>(hip::kStreamLegacy);
const auto kPerThread = reinterpret_cast<hip::Stream>(hip::kStreamPerThread);

void join(Frontier& to, const Frontier& from) { to.insert(to.end(), from.begin(), from.end()); }

/// What a launch waits for, which is the last of its stream from then on. The legacy default stream and those that block for it
/// wait for each other.
Frontier ordered_launch(Program& program, hip::Stream stream) {
  OrderedStream& own = program.order.at(stream);
  Frontier before = own.last;
  for (const auto& [other, known] : program.order) {
    if (own.blocking && known.blocking && (stream == kLegacy || other == kLegacy)) { join(before, known.last); }
  }
  own.last = {program.launches.size()};
  return before;
}

const Program* current = nullptr;

// Some launches are refused altogether; of some programs the runtime refuses what the interposer adds: more shared memory, or a
// stream of its own.
int refuse(const FakeHipCall* call) {
  if (call->function == nullptr || current == nullptr) { return 0; }
  const Asked& asked = current->launches.back();
  if (asked.fails) { return kOwnError; }
  const auto& own = current->streams;
  const bool foreign = call->stream != asked.stream && reinterpret_cast<std::uintptr_t>(call->stream) > hip::kStreamPerThread &&
                       std::find(own.begin(), own.end(), call->stream) == own.end();
  return refuse_added && (foreign || call->shared != asked.shared) ? hip::kErrorInvalidValue : 0;
}

hip::Stream pick_stream(Program& program) {
  if (chance(program.random, 15)) { return nullptr; }
  return program.streams[below(program.random, kStreams)];
}

void launch(Program& program) {
  Random& random = program.random;
  const bool per_thread = chance(random, 30);
  const hip::Stream stream = pick_stream(program);
  const std::size_t function = below(random, 3);
  Asked asked{};
  asked.collective = function == 2;
  asked.capped = function == 0;  // by capped.rules
  asked.function = program.functions[function];
  asked.grid = asked.collective ? 24 : chance(random, 70) ? kManyBlocks : 100;
  asked.shared = chance(random, 30) ? 1000 : 0;
  asked.fails = chance(random, 5);
  asked.stream = stream != nullptr ? stream : per_thread ? kPerThread : kLegacy;
  std::uint64_t number = first_number + program.launches.size();
  void* arguments[] = {&number};
  Frontier& last = program.order.at(asked.stream).last;
  const Frontier unchanged = last;
  asked.before = ordered_launch(program, asked.stream);
  program.launches.push_back(asked);
  const auto call = per_thread ? &hipLaunchKernel_spt : &hipLaunchKernel;
  EXPECT(call(asked.function, {asked.grid, 1, 1}, {256, 1, 1}, arguments, asked.shared, stream) == (asked.fails ? kOwnError : 0));
  if (asked.fails) { last = unchanged; }
}

hip::Stream explicit_stream(hip::Stream stream) { return stream == nullptr ? kLegacy : stream; }

void record(Program& program, hip::Event event) {
  const hip::Stream stream = pick_stream(program);
  EXPECT(hipEventRecord(event, stream) == 0);
  program.recorded[event] = program.order.at(explicit_stream(stream)).last;
}

void wait(Program& program, hip::Event event) {
  const hip::Stream stream = pick_stream(program);
  EXPECT(hipStreamWaitEvent(stream, event, 0) == 0);
  join(program.order.at(explicit_stream(stream)).last, program.recorded[event]);
}

void replace_stream(Program& program) {
  hip::Stream& stream = program.streams[below(program.random, kStreams)];
  EXPECT(hipStreamDestroy(stream) == 0);
  program.order.erase(stream);
  const bool blocking = chance(program.random, 50);
  EXPECT(hipStreamCreateWithFlags(&stream, blocking ? 0 : hip::kStreamNonBlocking) == 0);
  program.order[stream] = {{}, blocking};
}

void operate(Program& program) {
  const std::size_t kind = below(program.random, 100);
  const hip::Event event = program.events[below(program.random, kStreams)];
  if (kind < 55) { return launch(program); }
  if (kind < 68) { return record(program, event); }
  if (kind < 83) { return wait(program, event); }
  if (kind >= 95) { replace_stream(program); }
}

// For what fits at once no shared memory is added.
bool may_be_padded(const Asked& asked) { return asked.capped && asked.grid == kManyBlocks; }

void check_arrivals(const Program& program, bool shapes) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < fake_hip_call_count(); ++i) {
    const FakeHipCall& call = *fake_hip_call(i);
    if (call.function == nullptr || call.result != 0) { continue; }
    while (next < program.launches.size() && program.launches[next].fails) { ++next; }
    EXPECT(next < program.launches.size());
    const Asked& asked = program.launches[next++];
    EXPECT(call.function == asked.function && call.grid[0] == asked.grid && call.shared >= asked.shared);
    const bool explicit_stream = reinterpret_cast<std::uintptr_t>(asked.stream) > hip::kStreamPerThread;
    const bool own_stream = explicit_stream ? call.stream == asked.stream : call.stream == nullptr || call.stream == asked.stream;
    EXPECT(own_stream || asked.collective);
    carried += own_stream ? 0 : 1;
    padded += call.shared > asked.shared ? 1 : 0;
    EXPECT(call.shared == asked.shared || (shapes && may_be_padded(asked)));
  }
  while (next < program.launches.size() && program.launches[next].fails) { ++next; }
  EXPECT(next == program.launches.size());
}

void check_order(const Program& program) {
  for (std::size_t later = 0; later < program.launches.size(); ++later) {
    if (program.launches[later].fails) { continue; }
    for (const std::size_t earlier : program.launches[later].before) { EXPECT(ran[later].begin >= ran[earlier].end); }
  }
}

void run(std::uint64_t seed, bool refuses_added, bool shapes, const Functions& functions,
         std::array<hip::Stream, kStreams>& streams, std::array<hip::Event, kStreams>& events) {
  fake_hip_reset();
  ran.clear();
  first_number += 1000;
  Program program{Random(seed), streams, events, functions, {}, {}, {}};
  for (hip::Event& event : events) {
    EXPECT(hipEventDestroy(event) == 0);
    event = make_event();
  }
  EXPECT(hipDeviceSynchronize() == 0);
  for (hip::Stream& stream : streams) {
    EXPECT(hipStreamDestroy(stream) == 0);
    stream = make_stream();
    program.order[stream] = {};
  }
  program.order[kLegacy] = program.order[kPerThread] = {{}, true};
  fake_hip_reset();
  current = &program;
  refuse_added = refuses_added;
  fake_hip_set_failure(&refuse);
  fake_hip_set_finished(static_cast<int>(seed % 2));  // of the others nothing seems to end
  for (int i = 0; i < kOperations; ++i) { operate(program); }
  fake_hip_set_finished(1);
  EXPECT(hipDeviceSynchronize() == 0 && fake_hip_waiting() == 0);
  check_arrivals(program, shapes);
  check_order(program);
  current = nullptr;
}

Functions new_functions(int batch) {
  static std::vector<std::string> names;
  names.reserve(std::size_t{3} * (kPrograms / kBatch));
  Functions made{};
  const std::array<const char*, 3> stems{"gemm", "gelu", "ncclDevKernel_Generic_"};
  for (std::size_t i = 0; i < stems.size(); ++i) {
    names.push_back(stems[i] + std::to_string(batch));
    FakeKernel kernel;
    kernel.name = names.back().c_str();
    kernel.argument_count = 1;
    kernel.run = &write_down;
    kernel.nanoseconds = &some_nanoseconds;
    fake_hip_register_kernel(&kernel);
    made[i] = fake_hip_symbol(kernel.name, 32, 0);
  }
  return made;
}

void all() {
  const std::string_view policy = std::getenv("ELBOWROOM_RUN_POLICY");
  std::array<hip::Stream, kStreams> streams{make_stream(), make_stream(), make_stream()};
  std::array<hip::Event, kStreams> events{make_event(), make_event(), make_event()};
  Functions functions{};
  for (int i = 0; i < kPrograms; ++i) {
    // What was refused a control is left alone for ever: new kernels come with every batch, and the runtime refuses at its end.
    const int in_batch = i % kBatch;
    if (in_batch == 0) { functions = new_functions(i / kBatch); }
    run(static_cast<std::uint64_t>(i), in_batch >= kBatch - kBatch / 10, policy == "shape", functions, streams, events);
  }
  std::printf("%zu launches padded, %zu carried\n", padded, carried);
  EXPECT((padded > kPrograms / 2) == (policy == "shape"));
  // No sequence of collectives repeats here, so `auto` leaves everything as it is unless it was told not to compare.
  const bool compares =
      policy == "auto" && std::string_view(std::getenv("ELBOWROOM_RUN_RULES")).find("uncompared") == std::string_view::npos;
  EXPECT((carried > kPrograms / 4) == (policy != "observe" && !compares));
}

constexpr Case kCases[] = {{"all", all}};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
