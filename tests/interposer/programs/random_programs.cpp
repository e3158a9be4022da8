#include <algorithm>
#include <initializer_list>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "driver_program.hpp"

// Random programs through the whole interposer: whatever it decides, and whatever of its own doing the driver refuses, each launch
// reaches the driver exactly once, in its stream's order and with the program's own arguments.

namespace {

constexpr int kPrograms = 10'000;
constexpr int kBatch = 500;
constexpr int kOperations = 40;
constexpr int kOwnError = 98;

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t limit) { return static_cast<std::size_t>(random()) % limit; }
bool chance(Random& random, unsigned percent) { return below(random, 100) < percent; }

enum class Entry { kKernel, kKernelPerThread, kKernelEx, kKernelExPerThread, kCooperative };

/// What the program asked for; `parameters` names the launch, as no two share it.
struct Asked {
  cu::Stream stream;  // by its explicit handle
  cu::Function function;
  void** parameters;
  void** extra;
  unsigned grid, block, shared;
  unsigned attributes;
  bool cooperative;
  int result;
};

struct Program {
  Random random;
  std::vector<cu::Stream> streams;
  std::vector<cu::Event> events;
  std::vector<cu::Function> functions;
  std::vector<Asked> launches;
  cu::Stream capturing = nullptr;
  bool ends_at_once = false;          ///< or not before the next program
  bool cooperative_products = false;  ///< after which no collective gets priority any more
};

// How many launches were changed, and how many gates were set: a policy that does nothing would pass every other check.
std::size_t changed = 0;
std::size_t gates = 0;

// The driver of some programs refuses what the interposer added; some launches it refuses altogether.
bool refuse_added = false;

int refuse(const FakeCall* call) {
  if (call->function == nullptr) { return 0; }
  if (call->block[1] == 2) { return kOwnError; }
  const unsigned own_attributes = call->block[2] - 1;
  const bool added = call->attribute_count > own_attributes || call->shared != call->grid[1] - 1;
  return refuse_added && added ? cu::kErrorInvalidValue : 0;
}

cu::Stream pick_stream(Program& program) {
  // A default stream must stay out of a global capture.
  if (program.capturing == nullptr && chance(program.random, 15)) { return nullptr; }
  return program.streams[below(program.random, program.streams.size())];
}

int call_entry(Entry entry, const Asked& asked, cu::Stream stream, unsigned failing) {
  // The extents beyond x carry what the driver's check needs: grid.y - 1 is the shared memory asked for, block.z - 1 the
  // attributes.
  const unsigned grid_y = asked.shared + 1;
  const unsigned block_z = asked.attributes + 1;
  cu::LaunchAttribute own[2]{};
  own[0].id = cu::kLaunchClusterDimension;
  own[0].value.cluster_dim = {1, 1, 1};
  own[1].id = static_cast<cu::LaunchAttributeId>(10);
  const cu::LaunchConfig config{asked.grid, grid_y, 1, asked.block, failing, block_z, asked.shared, stream, own, asked.attributes};
  switch (entry) {
    case Entry::kKernel:
      return cuLaunchKernel(asked.function, asked.grid, grid_y, 1, asked.block, failing, block_z, asked.shared, stream,
                            asked.parameters, asked.extra);
    case Entry::kKernelPerThread:
      return cuLaunchKernel_ptsz(asked.function, asked.grid, grid_y, 1, asked.block, failing, block_z, asked.shared, stream,
                                 asked.parameters, asked.extra);
    case Entry::kKernelEx:
      return cuLaunchKernelEx(&config, asked.function, asked.parameters, asked.extra);
    case Entry::kKernelExPerThread:
      return cuLaunchKernelEx_ptsz(&config, asked.function, asked.parameters, asked.extra);
    case Entry::kCooperative:
      return cuLaunchCooperativeKernel(asked.function, asked.grid, grid_y, 1, asked.block, failing, block_z, asked.shared, stream,
                                       asked.parameters);
  }
  return -1;
}

cu::Stream explicit_handle(cu::Stream stream, bool per_thread) {
  if (stream != nullptr) { return stream; }
  return reinterpret_cast<cu::Stream>(per_thread ? cu::kStreamPerThread : cu::kStreamLegacy);
}

void launch(Program& program) {
  Random& random = program.random;
  const auto entry = static_cast<Entry>(below(random, 5));
  const bool ex = entry == Entry::kKernelEx || entry == Entry::kKernelExPerThread;
  const cu::Stream stream = pick_stream(program);
  Asked asked{};
  asked.stream = explicit_handle(stream, entry == Entry::kKernelPerThread || entry == Entry::kKernelExPerThread);
  const bool for_collective = entry == Entry::kCooperative && !program.cooperative_products;
  asked.function = for_collective ? program.functions.back() : program.functions[below(random, program.functions.size())];
  asked.parameters = reinterpret_cast<void**>((program.launches.size() + 1) * sizeof(void*));
  asked.extra = entry != Entry::kCooperative && chance(random, 30) ? asked.parameters + 1'000'000 : nullptr;
  asked.grid = chance(random, 50) ? 24 : 1000;
  asked.block = 32;
  asked.shared = chance(random, 30) ? 1000 : 0;
  asked.attributes = ex ? static_cast<unsigned>(below(random, 3)) : 0;
  asked.cooperative = entry == Entry::kCooperative;
  const bool fails = chance(random, 5);
  asked.result = fails ? kOwnError : 0;
  EXPECT(call_entry(entry, asked, stream, fails ? 2 : 1) == asked.result);
  program.launches.push_back(asked);
}

void begin_or_end_capture(Program& program) {
  if (program.capturing == nullptr) {
    program.capturing = program.streams[below(program.random, program.streams.size())];
    EXPECT(cuStreamBeginCapture_v2(program.capturing, cu::kCaptureModeGlobal) == 0);
    return;
  }
  cu::Graph graph = nullptr;
  EXPECT(cuStreamEndCapture(program.capturing, &graph) == 0);
  program.capturing = nullptr;
  cu::GraphExec exec = nullptr;
  EXPECT(cuGraphInstantiateWithFlags(&exec, graph, 0) == 0 && cuGraphLaunch(exec, program.streams[0]) == 0);
  EXPECT(cuGraphExecDestroy(exec) == 0);
}

// Where nothing ends, streams that carry collectives stay as few as they are.
void replace_stream(Program& program) {
  if (program.capturing != nullptr || !program.ends_at_once) { return; }
  cu::Stream& stream = program.streams[below(program.random, program.streams.size())];
  EXPECT(cuStreamDestroy_v2(stream) == 0);
  EXPECT(cuStreamCreateWithPriority(&stream, chance(program.random, 50) ? cu::kStreamNonBlocking : 0, 0) == 0);
}

void operate(Program& program) {
  const std::size_t kind = below(program.random, 100);
  cu::Event event = program.events[below(program.random, program.events.size())];
  if (kind < 50) { return launch(program); }
  if (kind < 64) {
    EXPECT(cuEventRecord(event, pick_stream(program)) == 0);
  } else if (kind < 78) {
    EXPECT(cuStreamWaitEvent(pick_stream(program), event, 0) == 0);
  } else if (kind < 90) {
    begin_or_end_capture(program);
  } else if (kind < 96) {
    replace_stream(program);
  } else {
    EXPECT(cuLaunchHostFunc(program.streams[0], nullptr, nullptr) == 0);
  }
}

bool has_own_attributes(const FakeCall& call, const Asked& asked) {
  return (asked.attributes < 1 || call.attributes[0].id == cu::kLaunchClusterDimension) &&
         (asked.attributes < 2 || call.attributes[1].id == 10);
}

// Ex entries and rewritten launches say in an attribute what the cooperative entry point says by its name.
bool is_cooperative(const FakeCall& call) {
  return std::strcmp(call.name, "cuLaunchCooperativeKernel") == 0 || attribute_of(call, cu::kLaunchCooperative) != nullptr;
}

bool is_own_event(const Program& program, cu::Event event) {
  return std::find(program.events.begin(), program.events.end(), event) != program.events.end();
}

void check(const Program& program) {
  std::vector<unsigned> arrived(program.launches.size(), 0);
  std::size_t latest = 0;
  for (std::size_t i = 0; i < fake_call_count(); ++i) {
    const FakeCall& call = *fake_call(i);
    if (std::strcmp(call.name, "cuStreamWaitEvent") == 0 && !is_own_event(program, call.event)) { ++gates; }
    if (call.function == nullptr || call.result != 0) { continue; }
    const std::size_t index = reinterpret_cast<std::uintptr_t>(call.parameters) / sizeof(void*) - 1;
    EXPECT(index < arrived.size() && index >= latest);  // one host thread: the order of all launches holds
    latest = index;
    const Asked& asked = program.launches[index];
    const bool per_thread = std::strstr(call.name, "_ptsz") != nullptr;
    ++arrived[index];
    EXPECT(asked.result == 0 && explicit_handle(call.stream, per_thread) == asked.stream && call.function == asked.function);
    EXPECT(call.extra == asked.extra && call.grid[0] == asked.grid && call.block[0] == asked.block && call.shared >= asked.shared);
    changed += attribute_of(call, cu::kLaunchPriority) != nullptr || call.shared > asked.shared ? 1 : 0;
    EXPECT(has_own_attributes(call, asked) && is_cooperative(call) == asked.cooperative);
  }
  for (std::size_t i = 0; i < arrived.size(); ++i) { EXPECT(arrived[i] == (program.launches[i].result == 0 ? 1 : 0)); }
}

void run(std::uint64_t seed, bool refuses_added, const std::vector<cu::Function>& functions, std::vector<cu::Stream>& streams,
         std::vector<cu::Event>& events) {
  fake_reset();
  fake_set_failure(&refuse);
  const bool ends_at_once = refuses_added || seed % 2 == 0;
  fake_set_finished(ends_at_once ? 1 : 0);
  Program program{Random(seed), streams, events, functions, {}};
  program.ends_at_once = ends_at_once;
  program.cooperative_products = seed >= kPrograms * 3 / 4;
  refuse_added = refuses_added;
  for (int i = 0; i < kOperations; ++i) { operate(program); }
  if (program.capturing != nullptr) { begin_or_end_capture(program); }
  check(program);
  streams = program.streams;
  if (ends_at_once) { return; }
  all_ends();  // as the interposer sees at a collective
  EXPECT(launch_on(streams[0], functions.back(), 24) == 0);
}

std::vector<cu::Function> new_functions(int batch) {
  std::vector<cu::Function> made;
  for (const char* stem : {"gemm", "gelu", "ncclDevKernel_AllReduce_"}) {
    made.push_back(fake_function((stem + std::to_string(batch)).c_str(), 32, 0));
  }
  return made;
}

void all() {
  use_device(0);
  std::vector<cu::Stream> streams{make_stream(), make_stream(), make_stream()};
  std::vector<cu::Event> events{make_event(), make_event(), make_event()};
  std::vector<cu::Function> functions;
  for (int i = 0; i < kPrograms; ++i) {
    // What was refused a control is left alone for ever: new kernels come with every batch, and the driver refuses at its end.
    const int in_batch = i % kBatch;
    if (in_batch == 0) { functions = new_functions(i / kBatch); }
    run(static_cast<std::uint64_t>(i), in_batch >= kBatch - kBatch / 10, functions, streams, events);
  }
  std::printf("%zu launches changed, %zu gates\n", changed, gates);
  const std::string_view policy = std::getenv("ELBOWROOM_RUN_POLICY");
  // No sequence of collectives repeats here, so `auto` leaves everything as it is unless it was told not to compare.
  const bool compares =
      policy == "auto" && std::string_view(std::getenv("ELBOWROOM_RUN_RULES")).find("uncompared") == std::string_view::npos;
  EXPECT((changed > kPrograms / 100) == (policy != "observe" && !compares));
  EXPECT((gates > kPrograms / 100) == (policy == "gate" || (policy == "auto" && !compares)));
}

constexpr Case kCases[] = {{"all", all}, {"uncompared", all}};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
