#include "base/driver_version.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace elbowroom::detail {
namespace {

std::string version_of(const std::string& text) {
  const std::string path = testing::TempDir() + "driver_version_test";
  std::ofstream(path) << text;
  std::string version = version_in(path);
  std::remove(path.c_str());
  return version;
}

TEST(DriverVersion, IsTheFirstWordThatIsOne) {
  EXPECT_EQ(
      version_of("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  (root@host)\nGCC 12.2\n"),
      "580.159.04");
  EXPECT_EQ(version_of("6.7.0\n"), "6.7.0");
  EXPECT_EQ(version_of("NVRM version: 64 bits\n"), "");
  EXPECT_EQ(version_in("/none/at/all"), "");
}

}  // namespace
}  // namespace elbowroom::detail
