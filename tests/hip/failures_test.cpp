#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "elbowroom/experiment/case_trials.hpp"
#include "elbowroom/plan/overlap_plan.hpp"
#include "elbowroom/plan/program.hpp"
#include "fake_rocm.hpp"

namespace elbowroom {
namespace {

using ::testing::HasSubstr;
using testing::kSmallGelu;
using testing::MayBeGivenUp;
using testing::small;

class HipFailures : public testing::FakeRocm {
 protected:
  /// Opens, prepares and verifies; the first error, or success.
  static Status everything(const Scenario& scenario, const OverlapPlan& plan = {}, const BackendOptions& options = {}) {
    Result<std::unique_ptr<Backend>> backend = open_backend("hip", options);
    if (!backend) { return backend.error(); }
    Result<CaseTrials> workload = CaseTrials::prepare(**backend, scenario);
    if (!workload) { return workload.error(); }
    if (Status verified = workload->verify(Order::concurrent, plan); !verified) { return verified; }
    const Result<Microseconds> time = workload->run(Order::concurrent, plan);
    return time ? Status() : Status(time.error());
  }

  static std::string message(const Status& status) { return status ? "success" : status.error().message; }
};

TEST_F(HipFailures, AnyCallMayFailAndTheErrorNamesIt) {
  OverlapPlan plan;
  plan.comm_sms = Sms(8);
  plan.priority = true;
  ASSERT_TRUE(everything(small(kSmallGelu), plan));
  const MayBeGivenUp scope;
  // Not among them: what frees has nobody to tell, and the message of an error cannot fail.
  for (const std::string name : {"hipGetDeviceCount",
                                 "hipSetDevice",
                                 "hipDeviceGetAttribute",
                                 "hipGetDevicePropertiesR0600",
                                 "hipDeviceTotalMem",
                                 "hipDeviceSynchronize",
                                 "hipMalloc",
                                 "hipDeviceGetStreamPriorityRange",
                                 "hipStreamSynchronize",
                                 "hipStreamWaitEvent",
                                 "hipStreamWaitValue64",
                                 "hipStreamCreateWithPriority",
                                 "hipEventCreateWithFlags",
                                 "hipEventRecord",
                                 "hipEventQuery",
                                 "hipExtStreamCreateWithCUMask",
                                 "hipEventElapsedTime",
                                 "hipExtMallocWithFlags",
                                 "hipMemGetInfo",
                                 "hipMemcpy",
                                 "hipMemsetAsync",
                                 "hipModuleLoadData",
                                 "hipModuleGetFunction",
                                 "hipModuleLaunchKernel",
                                 "hipFuncGetAttribute",
                                 "ncclDevKernel_Generic_4"}) {
    SCOPED_TRACE(name);
    for (const int nth : {1, 2, 5}) {
      fake_hip_set_failing((name + ":999:" + std::to_string(nth)).c_str());
      const Status status = everything(small(kSmallGelu), plan);
      if (nth == 1) { ASSERT_FALSE(status); }
      // What is called less often than that does not fail.
      if (status) { continue; }
      EXPECT_THAT(status.error().message, ::testing::AnyOf(HasSubstr("hip"), HasSubstr("the schedule"), HasSubstr("nccl")));
      EXPECT_EQ(std::string::npos, status.error().message.find('\n'));
    }
  }
}

TEST_F(HipFailures, NothingIsLeftOnTheDevicesAfterAnErrorInPreparing) {
  const std::size_t streams = fake_hip_streams();
  const std::size_t allocations = fake_hip_allocations();
  for (const char* failing : {"hipEventCreateWithFlags:999:12", "hipMalloc:999:4", "hipStreamCreateWithPriority:999:5"}) {
    fake_hip_set_failing(failing);
    EXPECT_FALSE(everything(small(kSmallGelu))) << failing;
    EXPECT_EQ(streams, fake_hip_streams()) << failing;
    EXPECT_EQ(allocations, fake_hip_allocations()) << failing;
  }
  fake_hip_set_failing("");
  EXPECT_TRUE(everything(small(kSmallGelu)));
  EXPECT_EQ(streams, fake_hip_streams());
  EXPECT_EQ(allocations, fake_hip_allocations());
}

TEST_F(HipFailures, OutOfMemorySaysHowMuchWasAskedFor) {
  fake_hip_set_failing("hipMalloc:2:2");  // the first is the priority probe's
  const std::string said = message(everything(small(Elementwise{ElementwiseOp::copy, DataType::f32, mebibytes(512)})));
  EXPECT_EQ("compute.bytes on GPU 0: out of device memory: 0.50 GiB more were asked for", said);
}

TEST_F(HipFailures, AWrongResultIsFound) {
  set("ELBOWROOM_FAKE_RCCL_WRONG", "1");
  for (const CollectiveOp op : {CollectiveOp::all_reduce, CollectiveOp::all_to_all}) {
    const std::string said = message(everything(small(kSmallGelu, op)));
    EXPECT_THAT(said, HasSubstr("result on GPU 1: 1 of "));
    EXPECT_THAT(said, HasSubstr("differ from the reference, the first at 3"));
  }
}

TEST_F(HipFailures, AWrongResultIsFoundThoughTheLastCollectiveIsRight) {
  set("ELBOWROOM_FAKE_RCCL_WRONG", "budget");
  OverlapPlan plan;
  EXPECT_EQ("success", message(everything(small(kSmallGelu), plan)));
  plan.comm_blocks = Blocks(4);
  plan.windows_only = true;
  EXPECT_THAT(message(everything(small(kSmallGelu), plan)), HasSubstr("differ from the reference, the first at 3"));
}

TEST_F(HipFailures, AHangIsEndedByTheTimeLimit) {
  const MayBeGivenUp scope;
  BackendOptions options;
  options.time_limit = std::chrono::milliseconds(50);
  const auto backend = open(options);
  ASSERT_NE(nullptr, backend);
  Result<CaseTrials> workload = CaseTrials::prepare(*backend, small(kSmallGelu));
  ASSERT_TRUE(workload) << workload.error().message;
  set("ELBOWROOM_FAKE_RCCL_HANG", "1");
  const auto begin = std::chrono::steady_clock::now();
  const Result<Microseconds> time = workload->run(Order::concurrent, {});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  ASSERT_FALSE(time);
  EXPECT_THAT(time.error().message, HasSubstr("GPU 0 has not finished after the time limit of 0.050 s"));
  const Result<Microseconds> again = workload->run(Order::concurrent, {});
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("an earlier run on these devices did not end"));
}

TEST_F(HipFailures, AnAsynchronousErrorOfRcclEndsTheRun) {
  const MayBeGivenUp scope;
  set("ELBOWROOM_FAKE_RCCL_HANG", "1");
  set("ELBOWROOM_FAKE_RCCL_ASYNC", "6");
  EXPECT_THAT(message(everything(small(kSmallGelu))), HasSubstr("RCCL, asynchronously, failed: remote process exited"));
}

TEST_F(HipFailures, RcclsWordsAreOneLine) {
  const MayBeGivenUp scope;
  for (const char* call : {"ncclGetUniqueId", "ncclCommInitRank", "ncclGroupStart", "ncclGroupEnd", "ncclAllReduce"}) {
    set("ELBOWROOM_FAKE_RCCL_FAIL", std::string(call) + ":3");
    const std::string said = message(everything(small(kSmallGelu)));
    EXPECT_THAT(said, HasSubstr(std::string(call)));
    EXPECT_THAT(said, HasSubstr("failed: internal error: the fake said so"));
    EXPECT_EQ(std::string::npos, said.find('\n'));
  }
}

TEST_F(HipFailures, ACompilersFirstErrorIsTold) {
  set("ELBOWROOM_FAKE_HIPRTC_FAIL", "1");
  EXPECT_EQ("elbowroom_kernels.hip does not compile for gfx90a:sramecc+:xnack-: elbowroom_kernels.hip:7:3: error: expected ';'",
            message(everything(small(kSmallGelu))));
}

TEST_F(HipFailures, RocblassWordsAreTold) {
  const MayBeGivenUp scope;
  set("ELBOWROOM_FAKE_ROCBLAS_FAIL", "1");
  EXPECT_EQ("rocblas_gemm_ex failed: rocblas_status_internal_error",
            message(everything(small(LibraryGemm{32, 32, 32, DataType::f32}))));
}

TEST_F(HipFailures, AMissingLibraryIsNamedWithItsVariable) {
  set("ELBOWROOM_RCCL_LIBRARY", "/no/librccl.so");
  EXPECT_THAT(message(everything(small(kSmallGelu))), HasSubstr("RCCL: cannot load /no/librccl.so"));
  set("ELBOWROOM_RCCL_LIBRARY", ELBOWROOM_FAKE_RCCL);
  set("ELBOWROOM_ROCBLAS_LIBRARY", "/no/librocblas.so");
  const std::string blas = message(everything(small(LibraryGemm{32, 32, 32, DataType::f32})));
  EXPECT_THAT(blas, HasSubstr("library_gemm: cannot load /no/librocblas.so"));
  EXPECT_THAT(blas, HasSubstr("set ELBOWROOM_ROCBLAS_LIBRARY to its path"));
  set("ELBOWROOM_HIPRTC_LIBRARY", "/no/libhiprtc.so");
  EXPECT_THAT(message(everything(small(kSmallGelu))), HasSubstr("HIPRTC: cannot load /no/libhiprtc.so"));
  set("ELBOWROOM_HIP_LIBRARY", "libm.so.6");
  EXPECT_THAT(message(everything(small(kSmallGelu))), HasSubstr("has no function hipGetErrorString, expected ROCm 5 or later"));
}

}  // namespace
}  // namespace elbowroom
