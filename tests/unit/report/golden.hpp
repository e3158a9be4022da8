#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace elbowroom {

/// Compares with tests/unit/report/golden/<name>. On a difference the text is left in the test's temporary folder, from where
/// it can be looked at and, if it is right, copied over the golden file.
inline void expect_golden(const std::string& name, const std::string& text) {
  const std::string golden = std::string(ELBOWROOM_SOURCE_DIR) + "/tests/unit/report/golden/" + name;
  std::ifstream file(golden, std::ios::binary);
  std::ostringstream expected;
  expected << file.rdbuf();
  if (file.is_open() && expected.str() == text) { return; }
  const std::string written = testing::TempDir() + name;
  std::ofstream(written, std::ios::binary) << text;
  EXPECT_EQ(expected.str(), text) << "golden file " << golden << "\nwritten now " << written;
  EXPECT_TRUE(file.is_open()) << "cannot read " << golden;
}

}  // namespace elbowroom
