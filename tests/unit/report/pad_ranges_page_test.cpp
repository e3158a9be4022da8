#include "elbowroom/report/pad_ranges_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "elbowroom/model/device_catalog.hpp"

namespace elbowroom {
namespace {

TEST(PadRangesPage, CoversEveryDeviceOfTheCatalog) {
  const std::string page = pad_ranges_page();
  for (const DeviceLimits& device : device_catalog()) { EXPECT_THAT(page, ::testing::HasSubstr(device.title)); }
  EXPECT_EQ(page.find("Does not run"), std::string::npos);
  // The f32 GEMM of pad_ranges_test on H200.
  EXPECT_THAT(page, ::testing::HasSubstr("| 3 | 53,376 | 72,704 | shared memory | blocked by registers, shared memory |"));
}

TEST(PadRangesPage, IsWhatTheDocumentationHolds) {
  std::ifstream file(ELBOWROOM_SOURCE_DIR "/docs/pad-ranges.md");
  ASSERT_TRUE(file.is_open());
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(text.str() == pad_ranges_page()) << "write it again: elbowroom plan --page > docs/pad-ranges.md";
}

}  // namespace
}  // namespace elbowroom
