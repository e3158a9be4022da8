#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "forking.hpp"

/// The report of a child process that acts.
template <class Action>
std::string report_of(Action action) {
  char directory[] = "/tmp/elbowroom-report-XXXXXX";
  EXPECT(mkdtemp(directory) != nullptr && setenv("ELBOWROOM_RUN_REPORT_DIR", directory, 1) == 0);
  in_child(action);
  std::string text;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().filename().native().starts_with('.')) { continue; }
    std::ifstream file(entry.path());
    text.assign(std::istreambuf_iterator<char>(file), {});
  }
  std::filesystem::remove_all(directory);
  return text;
}

inline bool holds(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }
