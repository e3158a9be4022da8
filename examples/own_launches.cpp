// What an application that makes its own launches does with a plan: which part of it a launch carries out, which the communicator,
// and what is left to itself. Compiles without any vendor's headers, and needs no GPU: without one it says that there is no
// session.
#include <cstdio>
#include <elbowroom/interop/cuda.hpp>
#include <elbowroom/interop/hip.hpp>
#include <elbowroom/runtime/plan_parts.hpp>
#include <elbowroom/runtime/session.hpp>

namespace {

/// As nccl.h has it; an application includes that instead.
struct CommunicatorConfig {
  int cgaClusterSize = -1;
  int minCTAs = -1;
  int maxCTAs = -1;
};

}  // namespace

int main() {
  using namespace elbowroom;
  OverlapPlan plan;
  plan.priority = true;
  plan.launch_gate = true;
  plan.comm_blocks = Blocks(16);
  plan.sm_target = Sms(116);

  const PlanParts parts = parts_of(plan);
  std::printf("launches: %s\n", in_words(parts.launch).c_str());
  CommunicatorConfig config;
  if (parts.communicator) { interop::configure(config, plan); }
  std::printf("communicator: %d to %d blocks\n", config.minCTAs, config.maxCTAs);
  for (const std::string_view name : parts.application) {
    std::printf("the application's own: %.*s\n", static_cast<int>(name.size()), name.data());
  }

  // A null stream is refused before anything is launched on it.
  const Result<Stream> null_stream = interop::stream(DeviceIndex{0}, static_cast<CUstream_st*>(nullptr));
  if (null_stream) { return 1; }
  std::printf("%s\n", null_stream.error().message.c_str());

  Result<Session> session = Session::open({});
  if (!session) { return std::printf("no session here: %s\n", session.error().message.c_str()), 0; }
  for (const SessionDevice& device : session->devices()) {
    std::printf("%s: communication goes %s\n", device.info.name.c_str(), device.comm_goes_first ? "first" : "with the rest");
  }
  Result<std::unique_ptr<CollectiveGate>> gate = session->launch_gate();
  std::printf("launch gate: %s\n", gate ? "there is one" : gate.error().message.c_str());
  return 0;
}
