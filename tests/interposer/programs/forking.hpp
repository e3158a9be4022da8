#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "program.hpp"

/// Forks a child that acts, and waits for its good end.
template <class Action>
void in_child(Action act) {
  const pid_t child = fork();
  EXPECT(child >= 0);
  if (child == 0) {
    act();
    std::exit(0);
  }
  int status = 1;
  EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/// Children that act, forked while a thread of the parent does.
inline void in_children_beside(void (*act)()) {
  act();
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) { act(); }
  });
  for (int i = 0; i < 20; ++i) { in_child(act); }
  stop = true;
  busy.join();
}
