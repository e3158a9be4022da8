#include "preload/program_environment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace elbowroom::preload {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr const char* kLibrary = "/lib/libelbowroom_interposer.so";

std::string list_beside(const std::string& before) { return preload_list(kLibrary, {{"LD_PRELOAD", before}}); }

TEST(PreloadList, HasOursFirstAndTheRestBehind) {
  EXPECT_EQ(preload_list(kLibrary, {}), kLibrary);
  EXPECT_EQ(list_beside(""), kLibrary);
  EXPECT_EQ(list_beside("/a.so:/b.so"), "/lib/libelbowroom_interposer.so:/a.so:/b.so");
  EXPECT_EQ(list_beside("/a.so  /b.so"), "/lib/libelbowroom_interposer.so:/a.so:/b.so") << "blanks divide it too";
}

TEST(PreloadList, HasTheRuntimeOfAddressSanitizerBeforeOurs) {
  EXPECT_EQ(list_beside("/a.so:/usr/lib/libasan.so.8"), "/usr/lib/libasan.so.8:/lib/libelbowroom_interposer.so:/a.so");
}

TEST(PreloadList, LeavesOutTheLibrariesOfRunsAroundThisOne) {
  EXPECT_EQ(list_beside("/lib/libelbowroom_interposer.so:/other/libelbowroom_interposer_hip.so:/a.so"),
            "/lib/libelbowroom_interposer.so:/a.so");
}

TEST(PythonEnvironment, HasTheHooksFolderFirstAndOnce) {
  const auto path = [](const Variables& environment) { return python_environment("/hook", {}, false, environment).front().second; };
  EXPECT_EQ(path({}), "/hook");
  EXPECT_EQ(path({{"PYTHONPATH", ""}}), "/hook");
  EXPECT_EQ(path({{"PYTHONPATH", "/mine"}}), "/hook:/mine");
  EXPECT_EQ(path({{"PYTHONPATH", "/hook:/mine"}}), "/hook:/mine") << "a run inside a run";
  EXPECT_EQ(path({{"PYTHONPATH", "/hooks"}}), "/hook:/hooks");
}

TEST(PythonEnvironment, TellsTheHookWhatIsChosen) {
  EXPECT_THAT(python_environment("/hook", {}, false, {}),
              ElementsAre(Pair("PYTHONPATH", "/hook"), Pair("ELBOWROOM_RUN_SYMMETRIC", "1"), Pair("NCCL_CTA_POLICY", "2")));
  Controls chosen;
  chosen.comm_library = {{"NCCL_CTA_POLICY", "0"}};
  EXPECT_THAT(
      python_environment("/hook", chosen, true, {}),
      ElementsAre(Pair("PYTHONPATH", "/hook"), Pair("ELBOWROOM_RUN_SYMMETRIC", "1"), Pair("ELBOWROOM_RUN_GRADIENT_VIEWS", "1")));
  EXPECT_THAT(copy_engines({}, {{"NCCL_CTA_POLICY", "1"}}), IsEmpty()) << "the user's word";
}

}  // namespace
}  // namespace elbowroom::preload
