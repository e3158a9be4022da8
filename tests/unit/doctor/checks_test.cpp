#include "doctor/checks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/library_path.hpp"

namespace elbowroom::doctor {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr std::uint64_t kGibibyte = std::uint64_t{1} << 30U;

/// Two H200s with everything that the parts need.
Facts healthy() {
  Facts facts;
  facts.version = "0.1.0";
  facts.cuda_backend = true;
  facts.report_page = true;
  facts.unpacks_gzip = true;
  facts.interposer = "/opt/lib/libelbowroom_interposer.so";
  facts.python_hook = true;
  facts.nvidia_devices = true;
  facts.driver = {"libcuda.so.1", 13000, ""};
  facts.driver_release = "580.159.04";
  facts.gpus = {{"NVIDIA H200", false, 18, {}}, {"NVIDIA H200", false, 18, {}}};
  facts.nccl = {"/venv/libnccl.so.2", 22809, ""};
  facts.cuobjdump = "/usr/local/cuda/bin/cuobjdump";
  facts.cupti = {"libcupti.so.13", 0, ""};
  facts.shared_memory = 8 * kGibibyte;
  facts.cache = "/home/me/.cache/elbowroom";
  facts.launchers = {"torchrun"};
  facts.python.program = "/venv/bin/python3";
  facts.python.version = "3.12.3";
  facts.python.torch = "2.11.0+cu130";
  facts.python.cuda = "13.0";
  return facts;
}

Check named(const Facts& facts, std::string_view name) {
  const std::vector<Check> checks = checks_of(facts);
  const auto found = std::ranges::find(checks, name, &Check::name);
  return found == checks.end() ? Check{"no check of this name", State::to_do, ""} : *found;
}

TEST(Doctor, FindsNothingToDoOnAMachineThatHasEverything) {
  const std::vector<Check> checks = checks_of(healthy());
  EXPECT_FALSE(has_work(checks));
  for (const Check& check : checks) { EXPECT_EQ(check.to_do, "") << check.name; }
  EXPECT_EQ(named(healthy(), "driver").found, "580.159.04, up to CUDA 13.0");
  EXPECT_EQ(named(healthy(), "GPUs").found, "2 x NVIDIA H200");
  EXPECT_EQ(named(healthy(), "NCCL").found, "2.28.9 (/venv/libnccl.so.2)");
}

TEST(Doctor, AsksForNothingOnAMachineWithoutGpus) {
  Facts facts;
  facts.version = "0.1.0";
  facts.interposer = "/opt/lib/libelbowroom_interposer.so";
  facts.python_hook = true;
  facts.nccl.problem = "cannot load libnccl.so.2";
  facts.cupti.problem = "cannot load libcupti.so";
  facts.shared_memory = 8 * kGibibyte;
  facts.unusable = {{"cuda", "built without a toolkit"}};
  EXPECT_FALSE(has_work(checks_of(facts)));
  EXPECT_EQ(named(facts, "program").state, State::absent);
  EXPECT_THAT(named(facts, "program").to_do, HasSubstr("12.5"));
  EXPECT_EQ(named(facts, "backend cuda").found, "built without a toolkit");
}

/// One fact is changed, and the check of that name asks for what has these words.
void expect_work(std::string_view name, const Facts& facts, const std::string& found, const std::string& to_do) {
  const Check check = named(facts, name);
  EXPECT_EQ(check.state, State::to_do) << name;
  EXPECT_THAT(check.found, HasSubstr(found)) << name;
  EXPECT_THAT(check.to_do, HasSubstr(to_do)) << name;
  EXPECT_TRUE(has_work(checks_of(facts))) << name;
}

TEST(Doctor, SaysWhatToDoAboutEachTrouble) {
  Facts facts = healthy();
  facts.cuda_backend = false;
  expect_work("program", facts, "built without nvcc", "nvcc");

  facts = healthy();
  facts.interposer.reset();
  facts.interposer_problem = "libelbowroom_interposer.so was not found";
  expect_work("interposer", facts, "not found", "install");

  facts = healthy();
  facts.python_hook = false;
  expect_work("interposer", facts, "Python part", "install");

  facts = healthy();
  facts.driver = {std::nullopt, 0, "cannot load libcuda.so.1"};
  expect_work("driver", facts, "libcuda.so.1", "--gpus all");

  facts = healthy();
  facts.gpus.clear();
  expect_work("GPUs", facts, "none", "CUDA_VISIBLE_DEVICES");

  facts = healthy();
  facts.gpus[1].mig = true;
  expect_work("MIG", facts, "on 1 of 2 GPUs", "nvidia-smi -mig 0");

  facts = healthy();
  facts.mps = true;
  expect_work("MPS", facts, "running", "nvidia-cuda-mps-control");

  facts = healthy();
  facts.one_connection = true;
  EXPECT_EQ(named(facts, "connections").state, State::ok);
  facts.timed_by = "TORCH_NCCL_ENABLE_TIMING";
  expect_work("connections", facts, "TORCH_NCCL_ENABLE_TIMING puts one behind each collective", "unset TORCH_NCCL_ENABLE_TIMING");
  facts.one_connection = false;
  EXPECT_EQ(named(facts, "connections").found, "") << "there is no line";

  facts = healthy();
  facts.nccl = {std::nullopt, 0, "cannot load libnccl.so.2"};
  expect_work("NCCL", facts, "libnccl.so.2", "pip install");

  facts = healthy();
  facts.nccl.version = 22703;
  expect_work("NCCL", facts, "2.27.3", "2.28");

  facts = healthy();
  facts.nccl.version = 21705;
  expect_work("NCCL", facts, "2.17.5 (/venv/libnccl.so.2) is older than 2.18.0", "newer");

  facts = healthy();
  facts.python.refused = {"FSDP2: PyTorch 2.15.0 lacks FSDPState._fsdp_param_group"};
  expect_work("PyTorch", facts, "lacks FSDPState._fsdp_param_group", "symmetric-memory.md");

  facts = healthy();
  facts.cupti = {std::nullopt, 0, "cannot load libcupti.so"};
  expect_work("CUPTI", facts, "libcupti.so", "pip install");

  facts = healthy();
  facts.shared_memory = kGibibyte / 16;  // a container's 64 MiB
  expect_work("/dev/shm", facts, "0.06 GiB", "--shm-size");

  facts = healthy();
  facts.cache_problem = "/root: Read-only file system";
  expect_work("cache", facts, "Read-only", "XDG_CACHE_HOME");
}

TEST(Doctor, NamesTheCurrentFolderInALibraryPath) {
  for (const char* const path : {":/opt/lib", "/opt/lib:", "/opt/lib::/lib"}) {
    Facts facts = healthy();
    facts.library_path = path;
    expect_work("library path", facts, "current folder", "remove");
  }
  for (const char* const path : {"", "/opt/lib", "/opt/lib:/lib"}) {
    Facts facts = healthy();
    facts.library_path = path;
    EXPECT_EQ(named(facts, "library path").state, State::ok) << path;
  }
}

TEST(Doctor, LeavesEmptyEntriesOut) {
  EXPECT_EQ(without_empty_entries(":/a::/b:"), "/a:/b");
  EXPECT_EQ(without_empty_entries("/a:/b"), "/a:/b");
  EXPECT_EQ(without_empty_entries("::"), "");
}

TEST(Doctor, SaysWithoutAskingThatOneGpuHasNoPeer) {
  Facts facts = healthy();
  facts.gpus.pop_back();
  EXPECT_EQ(named(facts, "GPUs").state, State::ok);
  EXPECT_EQ(named(facts, "second GPU").state, State::absent);
  EXPECT_EQ(named(facts, "second GPU").found, "none here, and collectives need two");
  EXPECT_EQ(named(healthy(), "second GPU").name, "no check of this name");
  EXPECT_EQ(named(facts, "NVLink").name, "no check of this name");
}

TEST(Doctor, PrintsLinesOfEightyColumnsWithTheSummaryFirst) {
  Facts facts = healthy();
  facts.mps = true;
  facts.shared_memory = kGibibyte / 16;
  const std::vector<Check> checks = checks_of(facts);
  const std::string table = to_table(facts, checks, 80);
  // program, interposer, library path, driver, GPUs, NVLink, MIG, MPS, NCCL, PyTorch, JAX, cuobjdump, CUPTI, energy counter,
  // /dev/shm, cache, launchers, report page, packed files
  EXPECT_THAT(table, StartsWith("elbowroom 0.1.0: 2 of 19 checks ask for something to be done\n"));
  EXPECT_THAT(table, HasSubstr("\n  to do   MPS               its server is running: priorities"));
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) { EXPECT_LE(line.size(), 80U) << line; }
  EXPECT_THAT(to_table(healthy(), checks_of(healthy()), 80), StartsWith("elbowroom 0.1.0: none of 19 checks"));
}

TEST(Doctor, BeginsWithTheGpuThatIsNotThere) {
  Facts facts = healthy();
  facts.gpus.clear();
  facts.driver = {};
  facts.nvidia_devices = false;
  facts.unusable = {{"cuda", "no NVIDIA driver"}, {"hip", "no libamdhip64.so"}};
  EXPECT_THAT(to_table(facts, checks_of(facts), 80), StartsWith("elbowroom 0.1.0: no GPU: run changes nothing here, "));
  EXPECT_THAT(to_table(facts, checks_of(facts), 80), Not(HasSubstr("ask for something")));
  facts.shared_memory = kGibibyte / 16;
  EXPECT_THAT(to_table(facts, checks_of(facts), 80), HasSubstr("simulate\n1 of "));
  // Backends that can be used stand in no list: an AMD GPU is one.
  facts.unusable.pop_back();
  EXPECT_THAT(to_table(facts, checks_of(facts), 80), StartsWith("elbowroom 0.1.0: 1 of "));
}

TEST(Doctor, SaysWhatABuildWithoutZlibCannotRead) {
  Facts facts = healthy();
  facts.unpacks_gzip = false;
  EXPECT_EQ(named(facts, "packed files").state, State::absent);
  EXPECT_THAT(named(facts, "packed files").to_do, HasSubstr("zlib1g-dev"));
}

TEST(Doctor, SaysHowToReadCubins) {
  Facts facts = healthy();
  EXPECT_EQ(named(facts, "cuobjdump").state, State::ok);
  facts.cuobjdump.reset();
  EXPECT_EQ(named(facts, "cuobjdump").state, State::absent);
  EXPECT_THAT(named(facts, "cuobjdump").to_do, HasSubstr("-Xptxas -v"));
}

TEST(Doctor, WritesADocument) {
  Facts facts = healthy();
  facts.mps = true;
  const auto document = nlohmann::json::parse(to_json(facts, checks_of(facts)));
  EXPECT_EQ(document["schema"], "elbowroom.doctor/1");
  EXPECT_EQ(document["version"], "0.1.0");
  EXPECT_EQ(document["checks"][0]["name"], "program");
  EXPECT_EQ(document["checks"][0]["state"], "ok");
  EXPECT_FALSE(document["checks"][0].contains("to_do"));
  const auto& checks = document["checks"];
  const auto mps = std::ranges::find_if(checks, [](const auto& check) { return check["name"] == "MPS"; });
  ASSERT_NE(mps, checks.end());
  EXPECT_EQ((*mps)["state"], "to do");
  EXPECT_TRUE(mps->contains("to_do"));
}

}  // namespace
}  // namespace elbowroom::doctor
