#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "hook_cases.hpp"

// A collector of garbage stops the threads by a signal, and waits until each has answered. One of them ends the process meanwhile.

namespace {

constexpr int kProcesses = 40;

sem_t stopped;
std::atomic<bool> goes_on{false};
std::atomic<int> threads_ready{0};

// An answer, and then nothing until the collector is done.
void stop(int /*signal*/) {
  sem_post(&stopped);
  while (!goes_on) { usleep(100); }
}

void collect(int signal, pthread_t busy, pthread_t ending) {
  EXPECT(pthread_kill(busy, signal) == 0 && sem_wait(&stopped) == 0);
  threads_ready = 2;  // the other thread ends the process from here on
  usleep(5'000);
  EXPECT(pthread_kill(ending, signal) == 0 && sem_wait(&stopped) == 0);
  goes_on = true;
}

void launch_on_and_on() {
  use_device(0);
  const Lanes lanes;
  fake_set_logging(0);
  for (threads_ready = 1;;) {
    launch_on(lanes.comm, lanes.all_reduce, 24);
    launch_on(lanes.compute, lanes.gemm);
  }
}

void visit_until_collected() {
  const auto visit = [](dl_phdr_info*, std::size_t, void*) {
    threads_ready = 1;
    while (!goes_on) { usleep(1'000); }
    return 1;  // no further object: the other thread may not have seen yet that it is to go on
  };
  dl_iterate_phdr(visit, nullptr);
}

[[noreturn]] void end_while_collected(int signal, void (*busy)(), unsigned after_us) {
  char directory[] = "/tmp/elbowroom-report-XXXXXX";
  EXPECT(mkdtemp(directory) != nullptr && setenv("ELBOWROOM_RUN_REPORT_DIR", directory, 1) == 0 && sem_init(&stopped, 0, 0) == 0);
  EXPECT(std::signal(signal, stop) != SIG_ERR);
  const Lanes lanes;
  std::thread thread(busy);
  while (threads_ready == 0) { usleep(100); }
  usleep(after_us);
  std::thread(collect, signal, thread.native_handle(), pthread_self()).detach();
  while (threads_ready != 2) { usleep(100); }
  thread.detach();
  std::exit(0);
}

bool ends(pid_t child) {
  int status = 1;
  for (int i = 0; i < 10'000; ++i) {
    if (waitpid(child, &status, WNOHANG) == child) { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }
    usleep(1'000);
  }
  kill(child, SIGKILL);
  return false;
}

// Whether the busy thread is stopped where it holds something is up to chance.
void end_processes(int processes, int signal, void (*busy)()) {
  for (int i = 0; i < processes; ++i) {
    const pid_t child = fork();
    EXPECT(child >= 0);
    if (child == 0) { end_while_collected(signal, busy, static_cast<unsigned>(137 * i)); }
    EXPECT(ends(child));
  }
}

void in_launches() { end_processes(kProcesses, SIGPWR, launch_on_and_on); }
// A report is held up by it for a second at most.
void in_launches_by_own_signal() { end_processes(kProcesses / 4, SIGUSR1, launch_on_and_on); }
void in_the_loader() { end_processes(1, SIGPWR, visit_until_collected); }

constexpr Case kCases[] = {
    {"in_launches", in_launches}, {"in_launches_by_own_signal", in_launches_by_own_signal}, {"in_the_loader", in_the_loader}};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
