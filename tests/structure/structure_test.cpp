#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "house_rules.hpp"

namespace {

namespace fs = std::filesystem;
using house::violations;
using testing::ElementsAre;
using testing::IsEmpty;

/// A small source tree that lives as long as the object: each planted violation proves that its rule can fail.
class Tree {
 public:
  Tree() {
    static std::atomic<int> count = 0;
    root_ = fs::temp_directory_path() / ("elbowroom-structure-" + std::to_string(getpid()) + "-" + std::to_string(count++));
    fs::create_directories(root_);
  }
  ~Tree() {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  Tree& with(const fs::path& file, const std::string& text) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
    return *this;
  }
  [[nodiscard]] const fs::path& root() const { return root_; }

 private:
  fs::path root_;
};

std::string lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) { text += "// line\n"; }
  return text;
}

TEST(House, KeepsItsRules) {
  const fs::path root = ELBOWROOM_SOURCE_DIR;
  ASSERT_TRUE(fs::exists(root / "include/elbowroom/base/result.hpp")) << "not the source tree: " << root;
  EXPECT_THAT(violations(root), IsEmpty());
}

TEST(HouseRules, FindFilesThatAreOpenedElsewhere) {
  Tree tree;
  tree.with("src/base/known_file.cpp", "int f = open(path, O_RDONLY);\n")
      .with("src/tune/a.cpp",
            "int f = ::open(path, O_RDWR | O_CREAT);\nwhile (flock(f, LOCK_EX) != 0) {}\nreadlink(path, to, size);\n")
      .with("tools/elbowroom/b.cpp",
            "open(folder, O_RDONLY | O_DIRECTORY);\nopen(\"/dev/null\", O_RDONLY);\nauto backend = entry.open({});\n");
  const std::string what = ": a file is opened or locked; base/known_file and base/file_lock do that";
  EXPECT_THAT(violations(tree.root()),
              ElementsAre("src/tune/a.cpp:1" + what, "src/tune/a.cpp:2" + what, "src/tune/a.cpp:3" + what));
}

TEST(HouseRules, AcceptDownwardIncludes) {
  Tree tree;
  tree.with("include/elbowroom/plan/a.hpp",
            "#include <vector>\n#include \"elbowroom/model/b.hpp\"\n#include \"elbowroom/base/c.hpp\"\n")
      .with("src/backend/a.cpp",
            "#include <dlfcn.h>\n#include \"elbowroom/plan/a.hpp\"\n#include \"elbowroom/trace/a.hpp\"\n#include \"model/p.hpp\"\n")
      .with("src/counters/a.cpp", "#include \"backend/a.hpp\"\n#include \"elbowroom/energy/a.hpp\"\n")
      .with("src/report/a.cpp",
            "#include \"elbowroom/energy/a.hpp\"\n#include \"elbowroom/trace/a.hpp\"\n#include \"sibling.hpp\"\n")
      .with("src/runtime/a.cpp", "#include \"elbowroom/report/a.hpp\"\n")
      .with("src/backend_cuda/a.cu",
            "#if CUDART_VERSION >= 12000\n#include \"elbowroom/backend/a.hpp\"\n#include \"backend_cuda/b.hpp\"\n#endif\n")
      .with("src/interposer/core/a.cpp", "#include \"interposer/core/b.hpp\"\n#include <dlfcn.h>\n")
      .with("tests/device/a_test.cpp", "#include \"backend_cuda/b.hpp\"\n")
      .with("tools/elbowroom/a.cpp", "#include \"elbowroom/runtime/a.hpp\"\n#include \"options.hpp\"\n")
      .with("src/base/long.cpp", lines(400));
  EXPECT_THAT(violations(tree.root()), IsEmpty());
}

TEST(HouseRules, RefuseUpwardIncludes) {
  Tree tree;
  tree.with("src/model/a.cpp", "#include \"elbowroom/base/a.hpp\"\n#include \"elbowroom/plan/a.hpp\"\n")
      .with("src/plan/a.cpp", "#include \"elbowroom/trace/a.hpp\"\n")
      .with("src/trace/a.cpp", "#include \"elbowroom/plan/a.hpp\"\n");
  EXPECT_THAT(violations(tree.root()),
              ElementsAre("src/model/a.cpp:2: model includes \"elbowroom/plan/a.hpp\"; includes only go downward",
                          "src/trace/a.cpp:1: trace includes \"elbowroom/plan/a.hpp\"; includes only go downward"));
}

TEST(HouseRules, RefuseUpwardIncludesOfPrivateHeaders) {
  Tree tree;
  tree.with("src/base/a.cpp", "  #  include \"model/a.hpp\"\n");
  EXPECT_THAT(violations(tree.root()), ElementsAre("src/base/a.cpp:1: base includes \"model/a.hpp\"; includes only go downward"));
}

TEST(HouseRules, RefuseIncludesBetweenNeighbours) {
  Tree tree;
  tree.with("include/elbowroom/report/a.hpp", "#include \"elbowroom/backend/a.hpp\"\n")
      .with("include/elbowroom/trace/a.hpp", "#include \"elbowroom/model/a.hpp\"\n")
      .with("src/energy/a.cpp", "#include \"elbowroom/trace/a.hpp\"\n")
      .with("src/experiment/a.cpp", "#include \"elbowroom/counters/a.hpp\"\n");
  EXPECT_THAT(
      violations(tree.root()),
      ElementsAre("include/elbowroom/report/a.hpp:1: report includes \"elbowroom/backend/a.hpp\"; includes only go downward",
                  "include/elbowroom/trace/a.hpp:1: trace includes \"elbowroom/model/a.hpp\"; includes only go downward",
                  "src/energy/a.cpp:1: energy includes \"elbowroom/trace/a.hpp\"; includes only go downward",
                  "src/experiment/a.cpp:1: experiment includes \"elbowroom/counters/a.hpp\"; includes only go downward"));
}

TEST(HouseRules, KeepExperimentsBelowTheCommandLine) {
  Tree tree;
  tree.with("src/experiment/a.cpp", "#include \"elbowroom/runtime/a.hpp\"\n#include <CLI/CLI.hpp>\nprint_notice(line);\n")
      .with("include/elbowroom/experiment/a.hpp", "#include \"elbowroom/tune/a.hpp\"\n#include \"elbowroom/page/a.hpp\"\n")
      .with("src/report/a.cpp", "#include \"elbowroom/experiment/a.hpp\"\n")
      .with("src/runtime/a.cpp", "#include \"elbowroom/experiment/a.hpp\"\nprint_notice(line);\n");
  const std::string prints = "experiment prints or reads a command line; it says what it does through a NoticeSink";
  EXPECT_THAT(
      violations(tree.root()),
      ElementsAre("include/elbowroom/experiment/a.hpp:2: experiment includes \"elbowroom/page/a.hpp\"; includes only go downward",
                  "src/experiment/a.cpp:1: experiment includes \"elbowroom/runtime/a.hpp\"; includes only go downward",
                  "src/experiment/a.cpp:2: " + prints, "src/experiment/a.cpp:3: " + prints,
                  "src/report/a.cpp:1: report includes \"elbowroom/experiment/a.hpp\"; includes only go downward"));
}

TEST(HouseRules, GiveTheRoomOfRunItsEnvironmentAsAValue) {
  Tree tree;
  tree.with("src/preload/a.cpp",
            "#include \"elbowroom/report/a.hpp\"\n#include \"elbowroom/experiment/a.hpp\"\nstd::getenv(name);\nfor (char** e = "
            "environ;;)\nprint_notice(line);\nhere.environment;\n")
      .with("src/experiment/a.cpp", "#include \"preload/a.hpp\"\n");
  const std::string asks = "preload asks its own process; the environment comes in as a value";
  EXPECT_THAT(
      violations(tree.root()),
      ElementsAre("src/experiment/a.cpp:1: experiment includes \"preload/a.hpp\"; includes only go downward",
                  "src/preload/a.cpp:2: preload includes \"elbowroom/experiment/a.hpp\"; includes only go downward",
                  "src/preload/a.cpp:3: " + asks, "src/preload/a.cpp:4: " + asks,
                  "src/preload/a.cpp:5: preload prints or reads a command line; it says what it does through a NoticeSink"));
}

TEST(HouseRules, KeepInteropAboveTheLibraryAndFreeOfVendorsHeaders) {
  Tree tree;
  tree.with("include/elbowroom/interop/a.hpp", "#include <cuda_runtime_api.h>\n#include \"elbowroom/runtime/a.hpp\"\n")
      .with("include/elbowroom/runtime/a.hpp", "#include \"elbowroom/interop/a.hpp\"\n");
  EXPECT_THAT(
      violations(tree.root()),
      ElementsAre("include/elbowroom/interop/a.hpp:1: include of <cuda_runtime_api.h>; vendors differ only in src/backend_*",
                  "include/elbowroom/runtime/a.hpp:1: runtime includes \"elbowroom/interop/a.hpp\"; includes only go downward"));
}

TEST(HouseRules, GiveOneHomeToControlsAbilitiesAndWordsOfLibraries) {
  Tree tree;
  tree.with("src/plan/control_rows.cpp",
            "Control{toggle<&OverlapPlan::trial>(\n\"trial\", \"trial\", {})},\nnumber<&OverlapPlan::cluster>(\"cluster\", {})\n")
      .with("src/plan/capabilities.cpp", "if (device.vendor == Vendor::nvidia) return can;\n")
      .with("src/model/comm_environment.cpp", "CommVariable{\"NCCL_ALGO\"},\n")
      .with("src/backend_cuda/a.cpp", "value_of(\"NCCL_P2P_LEVEL\");\n")
      .with("src/backend_hip/a.cpp",
            "json[\"cluster\"];  // \"trial: no\"\ntext == \"trials\";\nis('\"', trial); // \"\nat(\"cluster size: \");\n")
      .with("tests/unit/report/a_test.cpp", "EXPECT_TRUE(json.contains(\"trial\"));\n");
  EXPECT_THAT(violations(tree.root()), IsEmpty());
  tree.with("src/report/a.cpp", "\njson[\"trial\"] = plan.trial;\n")
      .with("src/backend_cuda/b.cpp", "failed(\"trial: nothing can wait\");\nfailed(\"no \\\"trial\\\" here\");\n")
      .with("src/backend_sim/b.cpp", "\ninvalid_input(fmt::format(\"cluster: {}\", size));\n")
      .with("src/plan/a.cpp", "if (site.device.vendor != Vendor::nvidia) return invalid_input(why);\n")
      .with("tools/elbowroom/a.cpp", "std::getenv(\"NCCL_ALGO\");\n");
  EXPECT_THAT(violations(tree.root()),
              ElementsAre("src/backend_cuda/b.cpp:1: name of the control trial; it stands in src/plan/control_rows.cpp",
                          "src/backend_cuda/b.cpp:2: name of the control trial; it stands in src/plan/control_rows.cpp",
                          "src/backend_sim/b.cpp:2: name of the control cluster; it stands in src/plan/control_rows.cpp",
                          "src/plan/a.cpp:1: test on a vendor; what a machine lacks, its Capabilities say",
                          "src/report/a.cpp:2: name of the control trial; it stands in src/plan/control_rows.cpp",
                          "tools/elbowroom/a.cpp:1: variable of NCCL's environment; model/comm_environment names them"));
}

TEST(HouseRules, HaveOneWordForOneThing) {
  Tree tree;
  tree.with("src/plan/a.cpp", "// Pad ranges, overlap windows; ideals\n")
      .with("src/interposer/core/a.cpp", "// CUDA calls these symmetric windows.\n")
      .with("src/report/a.cpp", "json[\"partitions\"] = limits.sub_partitions;  // SM partitions, the block budget, --budget\n")
      .with("docs/decisions/0001-a.md", "The ideal time.\n")
      .with("tests/unit/plan/a_test.cpp", "// a roofline of the test's own\n");
  EXPECT_THAT(violations(tree.root()), IsEmpty());
  tree.with("include/elbowroom/plan/b.hpp", "\nstruct ResidencyWindow {};\n")
      .with("src/plan/b.cpp", "// SM masks\n// A start gate.\n")
      .with("src/report/b.cpp", "text += \"Ideal time\";\n")
      .with("src/energy/b.cpp", "EnergyWindows plan();\njson[\"window_s\"] = 1;\n")
      .with("src/tune/b.cpp", "settings.tuner.budget = limit;\n// Of the search's budget.\n")
      .with("src/model/b.cpp", "limits.partitions = 4;\n// Registers count per partition.\n")
      .with("README.md", "\nThe ideal time.\n")
      .with("docs/b.md", "NCCL's symmetric windows.\n")
      .with("python/elbowroom/b.py", "# windows of memory\n")
      .with("tools/elbowroom/b.cpp", "// windows of symmetric memory\n// The roofline.\n");
  EXPECT_THAT(
      violations(tree.root()),
      ElementsAre(
          "README.md:2: 'ideal'; the word is critical path", "docs/b.md:1: 'symmetric windows'; the word is symmetric memory",
          "include/elbowroom/plan/b.hpp:2: 'ResidencyWindow'; the word is pad range",
          "python/elbowroom/b.py:1: 'windows of memory'; the word is symmetric memory",
          "src/energy/b.cpp:1: 'EnergyWindows'; the word is energy span", "src/energy/b.cpp:2: 'window_s'; the word is energy span",
          "src/model/b.cpp:1: '.partitions'; the word is sub-partition",
          "src/model/b.cpp:2: 'per partition'; the word is sub-partition", "src/plan/b.cpp:1: 'SM masks'; the word is SM partition",
          "src/plan/b.cpp:2: 'start gate'; the word is launch gate", "src/report/b.cpp:1: 'Ideal'; the word is critical path",
          "src/tune/b.cpp:1: 'tuner.budget'; the word is time limit", "src/tune/b.cpp:2: 'search's budget'; the word is time limit",
          "tools/elbowroom/b.cpp:1: 'windows of symmetric'; the word is symmetric memory",
          "tools/elbowroom/b.cpp:2: 'roofline'; the word is hardware limit"));
}

TEST(HouseRules, RefuseIncludesOfLeaves) {
  Tree tree;
  tree.with("src/backend/registry.cpp", "#include \"backend_cuda/cuda.hpp\"\n")
      .with("src/backend_hip/a.cpp", "#include \"backend_cuda/cuda.hpp\"\n")
      .with("tools/elbowroom/a.cpp", "#include \"backend_sim/sim.hpp\"\n");
  EXPECT_THAT(
      violations(tree.root()),
      ElementsAre("src/backend/registry.cpp:1: include of \"backend_cuda/cuda.hpp\"; backend_cuda is a leaf and included by nobody",
                  "src/backend_hip/a.cpp:1: include of \"backend_cuda/cuda.hpp\"; backend_cuda is a leaf and included by nobody",
                  "tools/elbowroom/a.cpp:1: include of \"backend_sim/sim.hpp\"; backend_sim is a leaf and included by nobody"));
}

TEST(HouseRules, LetTheLeavesOfGpusShareOneRoom) {
  Tree tree;
  tree.with("src/backend_gpu/a.hpp", "#include \"elbowroom/backend/a.hpp\"\n#include \"backend/p.hpp\"\n")
      .with("src/backend_cuda/a.cu", "#include \"backend_gpu/a.hpp\"\n#include \"backend_gpu/kernels/a.inc\"\n")
      .with("src/backend_hip/a.cpp", "#include \"backend_gpu/a.hpp\"\n")
      .with("tests/device/a_test.cpp", "#include \"backend_gpu/a.hpp\"\n");
  EXPECT_THAT(violations(tree.root()), IsEmpty());
}

TEST(HouseRules, KeepTheRoomOfAllGpusFreeOfVendors) {
  Tree tree;
  tree.with("src/backend_gpu/a.cpp", "#include <cuda_runtime_api.h>\n#include \"backend_cuda/a.hpp\"\n#ifdef __CUDACC__\n#endif\n")
      .with("src/backend_gpu/kernels/a.inc", "#include \"backend_gpu/kernels/b.inc\"\n")
      .with("src/backend_sim/a.cpp", "#include \"backend_gpu/a.hpp\"\n")
      .with("src/backend/registry.cpp", "#include \"backend_gpu/a.hpp\"\n")
      .with("tools/elbowroom/a.cpp", "#include \"backend_gpu/a.hpp\"\n");
  EXPECT_THAT(
      violations(tree.root()),
      ElementsAre(
          "src/backend/registry.cpp:1: include of \"backend_gpu/a.hpp\"; backend_gpu is for backend_cuda and backend_hip alone",
          "src/backend_gpu/a.cpp:1: include of <cuda_runtime_api.h>; vendors differ only in src/backend_*",
          "src/backend_gpu/a.cpp:2: include of \"backend_cuda/a.hpp\"; backend_cuda is a leaf and included by nobody",
          "src/backend_gpu/a.cpp:3: #if on a vendor; vendors differ only in src/backend_*",
          "src/backend_gpu/kernels/a.inc:1: include of \"backend_gpu/kernels/b.inc\"; the text of a kernel includes nothing",
          "src/backend_sim/a.cpp:1: include of \"backend_gpu/a.hpp\"; backend_gpu is for backend_cuda and backend_hip alone",
          "tools/elbowroom/a.cpp:1: include of \"backend_gpu/a.hpp\"; backend_gpu is for backend_cuda and backend_hip alone"));
}

TEST(HouseRules, RefuseLeavesThatReachSideways) {
  Tree tree;
  tree.with("src/backend_sim/a.cpp", "#include \"elbowroom/report/a.hpp\"\n");
  EXPECT_THAT(violations(tree.root()),
              ElementsAre("src/backend_sim/a.cpp:1: backend_sim includes \"elbowroom/report/a.hpp\"; includes only go downward"));
}

TEST(HouseRules, KeepTheInterposerApart) {
  Tree tree;
  tree.with("src/interposer/core/a.cpp", "#include \"elbowroom/base/a.hpp\"\n")
      .with("src/recorder/a.cpp", "#include <cupti.h>\n#include \"interposer/core/a.hpp\"\n#include \"run/a.hpp\"\n")
      .with("src/runtime/a.cpp", "#include \"interposer/core/a.hpp\"\n");
  EXPECT_THAT(violations(tree.root()),
              ElementsAre("src/interposer/core/a.cpp:1: interposer/core includes \"elbowroom/base/a.hpp\"; it may include nothing "
                          "of the library but "
                          "run",
                          "src/recorder/a.cpp:2: recorder includes \"interposer/core/a.hpp\"; includes only go downward",
                          "src/runtime/a.cpp:1: include of \"interposer/core/a.hpp\"; interposer/core is included by nobody"));
}

TEST(HouseRules, LetTheCommandAndTheInterposerShareTheirProtocol) {
  Tree tree;
  tree.with("src/run/a.hpp", "#include <string>\n#include \"run/b.hpp\"\n")
      .with("src/interposer/core/a.cpp", "#include \"run/a.hpp\"\n")
      .with("src/interposer/cuda/a.cpp", "#include \"run/a.hpp\"\n")
      .with("src/report/a.cpp", "#include \"run/a.hpp\"\n")
      .with("tools/elbowroom/a.cpp", "#include \"run/a.hpp\"\n");
  EXPECT_THAT(violations(tree.root()), IsEmpty());
}

TEST(HouseRules, KeepTheProtocolFreeOfDependencies) {
  Tree tree;
  tree.with("src/run/a.cpp", "#include <fmt/format.h>\n#include \"elbowroom/base/a.hpp\"\n#include \"interposer/core/a.hpp\"\n")
      .with("src/model/a.cpp", "#include \"run/a.hpp\"\n");
  EXPECT_THAT(violations(tree.root()),
              ElementsAre("src/model/a.cpp:1: model includes \"run/a.hpp\"; includes only go downward",
                          "src/run/a.cpp:1: run includes <fmt/format.h>; only the standard library is allowed there, because the "
                          "interposer is built of it too",
                          "src/run/a.cpp:2: run includes \"elbowroom/base/a.hpp\"; includes only go downward",
                          "src/run/a.cpp:3: include of \"interposer/core/a.hpp\"; interposer/core is included by nobody"));
}

TEST(HouseRules, KeepPublicHeadersFreeOfDependencies) {
  Tree tree;
  tree.with("include/elbowroom/base/a.hpp", "#include <fmt/format.h>\n#include \"base/private.hpp\"\n#include \"../b.hpp\"\n");
  EXPECT_THAT(
      violations(tree.root()),
      ElementsAre(
          "include/elbowroom/base/a.hpp:1: public header includes <fmt/format.h>; only the standard library is allowed there",
          "include/elbowroom/base/a.hpp:2: public header includes private \"base/private.hpp\"",
          "include/elbowroom/base/a.hpp:3: include \"../b.hpp\" climbs; name it from include/ or src/"));
}

TEST(HouseRules, RefuseVendorConditionsAboveTheLeaves) {
  Tree tree;
  tree.with("src/plan/a.cpp", "#ifdef __CUDACC__\n#endif\n")
      .with("tools/elbowroom/a.cpp", "#if 1\n#elif defined(ELBOWROOM_HAS_HIP)\n#endif\n");
  EXPECT_THAT(violations(tree.root()),
              ElementsAre("src/plan/a.cpp:1: #if on a vendor; vendors differ only in src/backend_*",
                          "tools/elbowroom/a.cpp:2: #if on a vendor; vendors differ only in src/backend_*"));
}

TEST(HouseRules, RefuseVendorHeadersAboveTheLeaves) {
  Tree tree;
  tree.with("src/plan/a.cpp", "#include <cuda_runtime_api.h>\n").with("tools/elbowroom/a.cpp", "#include <hip/hip_runtime.h>\n");
  EXPECT_THAT(violations(tree.root()),
              ElementsAre("src/plan/a.cpp:1: include of <cuda_runtime_api.h>; vendors differ only in src/backend_*",
                          "tools/elbowroom/a.cpp:1: include of <hip/hip_runtime.h>; vendors differ only in src/backend_*"));
}

TEST(HouseRules, RefuseWhatTheHipBackendMayNotUse) {
  Tree tree;
  tree.with("src/backend_hip/a.cpp", "#include <hip/hip_runtime.h>\n#define cudaMalloc hipMalloc\n")
      .with("src/backend_hip/kernels/a.hip", "#if defined(__gfx90a__)\n#include <cstdint>\n#endif\n")
      .with("src/base/a.cpp", "#if defined(__gfx90a__)\n#endif\n");
  EXPECT_THAT(
      violations(tree.root()),
      ElementsAre(
          "src/backend_hip/a.cpp:1: include of <hip/hip_runtime.h>; HIP is declared here, so that no ROCm is needed to build",
          "src/backend_hip/a.cpp:2: a macro under a vendor's name; what differs is written twice, what is common has a name "
          "of its own",
          "src/backend_hip/kernels/a.hip:2: include of \"cstdint\"; the text of a kernel includes nothing",
          "src/base/a.cpp:1: #if on a vendor; vendors differ only in src/backend_*"));
}

TEST(HouseRules, KnowTheRoomsOfTheInterposer) {
  Tree tree;
  tree.with("src/interposer/core/a.cpp", "#include \"interposer/process/a.hpp\"\n")
      .with("src/interposer/cuda/a.cpp", "#include \"interposer/hip/a.hpp\"\n")
      .with("src/interposer/hip/a.cpp", "#include \"interposer/core/a.hpp\"\n#include \"interposer/driver/a.hpp\"\n")
      .with("src/interposer/driver/a.hpp", "#include \"interposer/process/a.hpp\"\n#include \"interposer/cuda/a.hpp\"\n")
      .with("tools/elbowroom/a.cpp", "#include \"interposer/hip/a.hpp\"\n");
  EXPECT_THAT(
      violations(tree.root()),
      ElementsAre("src/interposer/core/a.cpp:1: interposer/core includes \"interposer/process/a.hpp\"; includes only go downward",
                  "src/interposer/cuda/a.cpp:1: interposer/cuda includes \"interposer/hip/a.hpp\"; includes only go downward",
                  "src/interposer/driver/a.hpp:2: interposer/driver includes \"interposer/cuda/a.hpp\"; includes only go downward",
                  "tools/elbowroom/a.cpp:1: include of \"interposer/hip/a.hpp\"; interposer/hip is included by nobody"));
}

TEST(HouseRules, KeepFactoriesOfStepsBelowPlans) {
  Tree tree;
  tree.with("src/steps/a.cpp", "#include \"elbowroom/model/step.hpp\"\n#include \"elbowroom/plan/lower.hpp\"\n")
      .with("src/plan/a.cpp", "#include \"elbowroom/steps/transformer.hpp\"\n");
  EXPECT_THAT(violations(tree.root()),
              ElementsAre("src/plan/a.cpp:1: plan includes \"elbowroom/steps/transformer.hpp\"; includes only go downward",
                          "src/steps/a.cpp:2: steps includes \"elbowroom/plan/lower.hpp\"; includes only go downward"));
}

TEST(HouseRules, RefuseLongFiles) {
  Tree tree;
  tree.with("tests/unit/base/a_test.cpp", lines(401)).with("dev", lines(500)).with("docs/long.md", lines(900));
  EXPECT_THAT(violations(tree.root()), ElementsAre("dev:500: file has 500 lines; at most 400 are allowed",
                                                   "tests/unit/base/a_test.cpp:401: file has 401 lines; at most 400 are allowed"));
}

TEST(HouseRules, RefuseUnknownLayers) {
  Tree tree;
  tree.with("src/utils/a.cpp", "\n");
  EXPECT_THAT(violations(tree.root()),
              ElementsAre("src/utils/a.cpp:1: unknown layer 'utils'; docs/architecture.md names the layers"));
}

}  // namespace
