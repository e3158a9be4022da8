// Steps whose ranks do different things, on four stand-ins of devices: groups of ranks, operations of some ranks, sends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "elbowroom/interop/hip.hpp"
#include "elbowroom/model/step.hpp"
#include "elbowroom/plan/lower.hpp"
#include "elbowroom/plan/program.hpp"
#include "fake_rocm.hpp"

using hipStream_t = ihipStream_t*;
extern "C" {
int ncclGetUniqueId(void* id);
int ncclGroupStart();
int ncclGroupEnd();
int ncclCommAbort(void* comm);
int ncclAllReduce(const void* send, void* recv, std::size_t count, int type, int op, void* comm, void* stream);
int hipSetDevice(int device);
int hipMalloc(void** memory, std::size_t bytes);
int hipFree(void* memory);
int hipStreamCreateWithPriority(hipStream_t* stream, unsigned flags, int priority);
int hipStreamDestroy(hipStream_t stream);
int hipStreamQuery(void* stream);
}
struct FakeUniqueId {
  char internal[128];
};
extern "C" int ncclCommInitRank(void** comm, int ranks, FakeUniqueId id, int rank);

namespace elbowroom {
namespace {

using ::testing::HasSubstr;

class HipSteps : public testing::FakeRocm {
 protected:
  HipSteps() { fake_hip_set_devices(4); }
  ~HipSteps() override { fake_hip_set_devices(0); }

  /// A step of two by two ranks; operations are the text of a list's elements.
  static Step step_of_text(const std::string& operations) {
    const Result<Step> step =
        parse_step(R"({"schema": "elbowroom.step/1", "name": "mine", "repeats": 2, "mesh": {"dp": 2, "pp": 2}, "operations": [)" +
                       operations + "]}",
                   "file");
    EXPECT_TRUE(step) << step.error().message;
    return step ? *step : Step();
  }

  /// Prepares and verifies in both orders; the first error, or success.
  static Status verified(const Step& step, const OverlapPlan& plan = {}) {
    const auto backend = open();
    Result<std::unique_ptr<Workload>> workload = backend->prepare(step);
    if (!workload) { return workload.error(); }
    for (const Order order : {Order::sequential, Order::concurrent}) {
      const Result<Program> program = lower(step, order, plan);
      if (!program) { return program.error(); }
      if (Status done = (*workload)->verify(*program); !done) { return done; }
    }
    return {};
  }

  static std::string message(const Status& status) { return status ? "success" : status.error().message; }
};

constexpr const char* kGelu = R"("compute": {"kernel": "elementwise", "op": "gelu", "dtype": "f32", "bytes": "64K"})";

std::string stages() {
  return std::string(R"({"name": "front", "at": {"pp": 0}, )") + kGelu +
         R"(}, {"name": "act", "send_recv": {"bytes": "16K", "dtype": "bf16"}, "group": "pp", "from": 0, "to": 1, "after": ["front"]},
      {"name": "head", "at": {"pp": 1}, "after": ["act"], )" +
         kGelu +
         R"(}, {"name": "back", "send_recv": {"bytes": "8K", "dtype": "f32"}, "group": "pp", "from": 1, "to": 0, "after": ["head"]},
      {"name": "grad", "collective": {"op": "all_reduce", "bytes": "16K", "dtype": "bf16"}, "group": "dp", "after": ["head", "front"]})";
}

TEST_F(HipSteps, StagesSendAndGroupsReduceWhatTheReferenceSays) {
  EXPECT_EQ(message(verified(step_of_text(stages()))), "success");
  OverlapPlan plan;
  plan.priority = true;
  plan.comm_blocks = Blocks(4);
  EXPECT_EQ(message(verified(step_of_text(stages()), plan)), "success");
}

TEST_F(HipSteps, EveryCollectiveOfAGroupHoldsWhatTheReferenceSays) {
  const auto of_group = [](const std::string& what, const std::string& group) {
    return R"({"name": "c", "collective": {)" + what + R"(, "bytes": "24K", "dtype": "bf16"}, "group": )" + group + "}";
  };
  for (const char* what : {R"("op": "all_reduce")", R"("op": "all_gather")", R"("op": "reduce_scatter")", R"("op": "all_to_all")",
                           R"("op": "broadcast", "root": 1)", R"("op": "all_to_all_v", "shares": [1, 2.5])",
                           R"("op": "all_to_all_v", "shares": [0, 1])", R"("op": "send_recv")"}) {
    EXPECT_EQ(message(verified(step_of_text(of_group(what, "\"dp\"")))), "success") << what;
  }
  for (const char* what : {R"("op": "broadcast", "root": 3)", R"("op": "all_to_all_v", "shares": [0, 1, 7, 0.25])"}) {
    EXPECT_EQ(message(verified(step_of_text(of_group(what, R"(["dp", "pp"])")))), "success") << what;
  }
}

TEST_F(HipSteps, AWrongElementIsFoundInWhateverGroup) {
  set("ELBOWROOM_FAKE_RCCL_WRONG", "1");
  const std::string send = R"({"name": "s", "send_recv": {"bytes": "16K", "dtype": "bf16"}, "group": "pp", "from": 0, "to": 1})";
  EXPECT_THAT(message(verified(step_of_text(send))), HasSubstr("send_recv result on GPU 1: 1 of 8192 elements differ"));
  const std::string root =
      R"({"name": "b", "collective": {"op": "broadcast", "root": 1, "bytes": "16K", "dtype": "bf16"}, "group": "dp"})";
  // Rank 1 of the first group along dp is device 2.
  EXPECT_THAT(message(verified(step_of_text(root))), HasSubstr("broadcast result on GPU 2: 1 of 8192 elements differ"));
}

TEST_F(HipSteps, WhatRunsOnSomeDevicesIsLaunchedThereAlone) {
  const Step step = step_of_text(std::string(R"({"name": "front", "at": {"pp": 0}, )") + kGelu + "}");
  const auto backend = open();
  const auto workload = std::move(*backend->prepare(step));
  const Program program = *lower(step, Order::compute_only, {});
  ASSERT_TRUE(workload->run(program));
  fake_hip_reset();
  ASSERT_TRUE(workload->run(program));
  EXPECT_EQ(calls("hipModuleLaunchKernel").size(), 4u);  // two repeats on two of four devices
}

TEST_F(HipSteps, WhatCannotBeLaunchedIsRefusedWithAReason) {
  const std::string recorded =
      R"({"name": "k", "compute": {"kernel": "recorded", "name": "k", "us": [1], "blocks": 1, "footprint": {"threads": 64, "registers": 16}}})";
  EXPECT_EQ(message(verified(step_of_text(recorded))),
            "operation \"k\": a recorded kernel, expected one that a GPU backend can launch (the simulator takes it by its times)");
  EXPECT_EQ(message(verified(step_of_text(std::string(R"({"name": "k", "host_gap_us": 5, )") + kGelu + "}"))),
            "operation \"k\": host_gap_us: 5, expected none (a real host takes its own time)");
}

/// Two communicators of devices 0 and 1, and a stream of each.
class TwoCommunicators {
 public:
  TwoCommunicators() {
    for (int which = 0; which < 2; ++which) {
      FakeUniqueId id;
      ncclGetUniqueId(&id);
      for (int rank = 0; rank < 2; ++rank) { ncclCommInitRank(&comms_[which][rank], 2, id, rank); }
    }
    for (int device = 0; device < 2; ++device) {
      hipSetDevice(device);
      hipMalloc(&memory_[device], 64);
      hipStreamCreateWithPriority(&streams_[device], 1, 0);
    }
  }
  ~TwoCommunicators() {
    for (const auto& comms : comms_) {
      for (void* comm : comms) { ncclCommAbort(comm); }
    }
    both_end();
    for (int at = 0; at < 2; ++at) {
      hipStreamDestroy(streams_[at]);
      hipFree(memory_[at]);
    }
  }
  TwoCommunicators(const TwoCommunicators&) = delete;
  TwoCommunicators& operator=(const TwoCommunicators&) = delete;

  void sum(int which, int rank) {
    hipSetDevice(rank);
    ncclAllReduce(memory_[rank], memory_[rank], 8, 7, 0, comms_[which][rank], streams_[rank]);
  }
  bool both_end() {
    for (int tries = 0; tries < 20; ++tries) {
      if (hipStreamQuery(streams_[0]) == 0 && hipStreamQuery(streams_[1]) == 0) { return true; }
    }
    return false;
  }

 private:
  void* comms_[2][2] = {};
  void* memory_[2] = {};
  hipStream_t streams_[2] = {};
};

TEST_F(HipSteps, TheStandInNoticesRanksThatCallInDifferentOrders) {
  TwoCommunicators group;
  // As backend/schedule.hpp has it: one collective on all devices, then the next one.
  ncclGroupStart();
  for (const int which : {0, 1}) {
    for (const int rank : {0, 1}) { group.sum(which, rank); }
  }
  ncclGroupEnd();
  EXPECT_TRUE(group.both_end());
  // Rank 1 turns them round: each device waits for the other one's second collective.
  for (const int rank : {0, 1}) {
    for (const int which : {0, 1}) { group.sum(rank == 0 ? which : 1 - which, rank); }
  }
  EXPECT_FALSE(group.both_end());
}

}  // namespace
}  // namespace elbowroom
