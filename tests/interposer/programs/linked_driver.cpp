#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "interposer/cuda/hooked_functions.hpp"
#include "program.hpp"
#include "report_of.hpp"

// A program that is linked to its driver and looks nothing up.

#pragma GCC visibility push(default)
extern "C" {
int small_launches();
int launch_for_library() { return cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr); }
}
#pragma GCC visibility pop

namespace {

// The first launch of all is that of a thread for which a library waits that is being loaded.
void launch_at_load() {
  alarm(20);
  EXPECT(dlopen(std::getenv("ELBOWROOM_LAUNCHING_AT_LOAD"), RTLD_NOW) != nullptr);
  EXPECT(small_launches() == 3);
}

// A handler that the program asked for before its first launch, and that launches in a child: what the child has of its parent is
// forgotten by then. It would wait for locks of threads that are not there.
void launching_handler() {
  EXPECT(pthread_atfork(nullptr, nullptr, [] { launch_for_library(); }) == 0);
  for (int i = 0; i < 3; ++i) { EXPECT(launch_for_library() > 0); }
  const std::string report = report_of([] { alarm(20); });
  EXPECT(holds(report, "\"launches\":{\"total\":1,"));
}

// What an ended thread had begun in the interposer stays as it is, and nobody waits for it.
volatile bool ready = false;

void* launch_for_ever(void* /*unused*/) {
  for (;;) {
    cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
    ready = true;
  }
}

void* record_for_ever(void* /*unused*/) {
  for (;;) {
    cuEventRecord(nullptr, nullptr);
    ready = true;
  }
}

void end_in_handlers(void* (*work)(void*)) {
  alarm(30);
  EXPECT(std::signal(SIGUSR1, [](int) { pthread_exit(nullptr); }) != SIG_ERR);
  for (unsigned i = 0; i < 300; ++i) {
    ready = false;
    pthread_t other{};
    EXPECT(pthread_create(&other, nullptr, work, nullptr) == 0);
    while (!ready) {}
    usleep(100 + i);
    EXPECT(pthread_kill(other, SIGUSR1) == 0 && pthread_join(other, nullptr) == 0);
    EXPECT(launch_for_library() > 0);
  }
}
void ended_in_handler() { end_in_handlers(&launch_for_ever); }
// Of a thread that has launched nothing.
void ended_while_recording() {
  EXPECT(launch_for_library() > 0);
  end_in_handlers(&record_for_ever);
}

constexpr Case kCases[] = {{"launch_at_load", launch_at_load},
                           {"launching_handler", launching_handler},
                           {"ended_in_handler", ended_in_handler},
                           {"ended_while_recording", ended_while_recording}};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
