#include "elbowroom/report/windows_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "elbowroom/model/device_catalog.hpp"

namespace elbowroom {
namespace {

TEST(WindowsPage, CoversEveryDeviceOfTheCatalog) {
  const std::string page = shared_memory_windows_page();
  for (const DeviceLimits& device : device_catalog()) EXPECT_THAT(page, ::testing::HasSubstr("## " + device.title));
  EXPECT_EQ(page.find("Does not run"), std::string::npos);
  // The f32 GEMM of residency_windows_test on H200.
  EXPECT_THAT(page, ::testing::HasSubstr("| 3 | 53,376 | 72,704 | shared memory | blocked by registers, shared memory |"));
}

TEST(WindowsPage, IsWhatTheDocumentationHolds) {
  std::ifstream file(ELBOWROOM_SOURCE_DIR "/docs/shared-memory-windows.md");
  ASSERT_TRUE(file.is_open());
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(text.str() == shared_memory_windows_page())
      << "write it again: elbowroom plan --page > docs/shared-memory-windows.md";
}

}  // namespace
}  // namespace elbowroom
