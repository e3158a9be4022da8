#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "elbowroom/experiment/case_trials.hpp"
#include "elbowroom/plan/compute_facts.hpp"
#include "elbowroom/plan/overlap_plan.hpp"
#include "elbowroom/plan/program.hpp"
#include "fake_rocm.hpp"

namespace elbowroom {
namespace {

using ::testing::HasSubstr;
using testing::small;

/// A code object of the fake, whose modules have every kernel that it knows.
class HipModuleKernel : public testing::FakeRocm {
 protected:
  HipModuleKernel()
      : file_(std::filesystem::path(::testing::TempDir()) /
              (std::string("own_") + ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".hsaco")) {
    write("a code object");
  }
  ~HipModuleKernel() override { std::filesystem::remove(file_); }

  void write(const std::string& text) const { std::ofstream(file_) << text; }

  /// GELU over 64 KiB: 4,096 vectors in 16 blocks.
  [[nodiscard]] Scenario gelu() const {
    const ModuleBuffer in{kibibytes(64), ModuleBuffer::Fill::uniform, DataType::f32, true};
    const ModuleBuffer out{kibibytes(64), ModuleBuffer::Fill::zero, DataType::f32, true};
    return small(ModuleKernel{file_, "elementwise_gelu_f32", {16, 1, 1}, {256, 1, 1}, Bytes(0), 1, {in, out, std::int64_t{4'096}}});
  }
  static ModuleKernel& kernel(Scenario& scenario) { return std::get<ModuleKernel>(scenario.compute); }

  std::string refusal(const Scenario& scenario) {
    backend_ = open();
    const Result<std::unique_ptr<Workload>> workload = backend_->prepare(scenario);
    return workload ? "accepted" : workload.error().message;
  }

  std::string file_;
  std::unique_ptr<Backend> backend_;
};

TEST_F(HipModuleKernel, RunsAndVerifiesBesideACollective) {
  backend_ = open();
  Result<CaseTrials> workload = CaseTrials::prepare(*backend_, gelu());
  ASSERT_TRUE(workload) << workload.error().message;
  ASSERT_TRUE(workload->compute().footprint);
  EXPECT_EQ(workload->compute().footprint->threads, Threads(256));
  EXPECT_EQ(workload->compute().blocks, Blocks(16));
  for (const Order order : {Order::sequential, Order::concurrent}) {
    const Status verified = workload->verify(order, {});
    EXPECT_TRUE(verified) << verified.error().message;
  }
  // A pad is asked for beside what the kernel has.
  OverlapPlan shaped;
  shaped.pad = Bytes(4'096);
  ASSERT_TRUE(workload->run(Order::compute_only, shaped));
  int padded = 0;
  for (const FakeHipCall& call : calls("hipModuleLaunchKernel")) { padded += call.shared == 4'096 ? 1 : 0; }
  EXPECT_GT(padded, 0);
}

// A check of this project adds to what it counted before: a schedule of three launches leaves three times what one does.
TEST_F(HipModuleKernel, ComparesAsManyLaunchesAsWereMade) {
  Scenario scenario = gelu();
  ModuleKernel& adding = kernel(scenario);
  adding.function = "check_elementwise_f32";
  adding.arguments = {adding.arguments[0], adding.arguments[1], std::int64_t{16'384}, std::int32_t{0},
                      ModuleBuffer{Bytes(16), ModuleBuffer::Fill::zero, DataType::f32, true}};
  backend_ = open();
  Result<CaseTrials> workload = CaseTrials::prepare(*backend_, scenario);
  ASSERT_TRUE(workload) << workload.error().message;
  const Status verified = workload->verify(Order::concurrent, {});
  EXPECT_TRUE(verified) << verified.error().message;
}

TEST_F(HipModuleKernel, IsRefusedByTheMemberOfTheScenario) {
  Scenario scenario = gelu();
  kernel(scenario).function = "no_such_kernel";
  EXPECT_THAT(refusal(scenario), HasSubstr("compute.function: no_such_kernel, expected a kernel of " + file_));
  scenario = gelu();
  kernel(scenario).file += ".absent";
  EXPECT_THAT(refusal(scenario), HasSubstr("compute.file: " + file_ + ".absent: No such file or directory"));
  scenario = gelu();
  kernel(scenario).cluster = 4;
  EXPECT_THAT(refusal(scenario), HasSubstr("compute.cluster: 4, expected 1 (HIP has no clusters)"));
  scenario = gelu();
  kernel(scenario).dynamic_shared = kibibytes(65);
  EXPECT_THAT(refusal(scenario), HasSubstr("compute.dynamic_shared: 66560, expected at most 65536"));
  write("broken");
  EXPECT_THAT(refusal(gelu()), HasSubstr("compute.file: " + file_ + ": hipModuleLoadData"));
}

TEST_F(HipModuleKernel, OfAFootprintIsRefusedByName) {
  const FootprintKernel blocks{{Threads(256), Registers(56), Bytes(0), Bytes(0), 1}, Blocks(220), Microseconds(10), Bytes(0)};
  EXPECT_THAT(refusal(small(blocks)), HasSubstr("compute.kernel: footprint, expected one that HIP can launch"));
}

}  // namespace
}  // namespace elbowroom
