#pragma once

#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "program.hpp"

/// The report of a child process that acts.
template <class Action>
std::string report_of(Action action) {
  char directory[] = "/tmp/elbowroom-report-XXXXXX";
  EXPECT(mkdtemp(directory) != nullptr && setenv("ELBOWROOM_RUN_REPORT_DIR", directory, 1) == 0);
  const pid_t child = fork();
  EXPECT(child >= 0);
  if (child == 0) {
    action();
    std::exit(0);
  }
  int status = 1;
  EXPECT(waitpid(child, &status, 0) == child);
  std::string text;
  DIR* opened = opendir(directory);
  for (const dirent* entry = readdir(opened); entry != nullptr; entry = readdir(opened)) {
    if (entry->d_name[0] == '.') { continue; }
    const std::string path = std::string(directory) + "/" + entry->d_name;
    std::ifstream file(path);
    text.assign(std::istreambuf_iterator<char>(file), {});
    unlink(path.c_str());
  }
  closedir(opened);
  rmdir(directory);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return text;
}

inline bool holds(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }
