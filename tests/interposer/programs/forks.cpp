#include <dlfcn.h>
#include <link.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "hook_cases.hpp"
#include "report_of.hpp"

// What a child costs that its parent forked while it used the driver, and what the fork may wait for.

namespace {

// Pages that children have touched, which the system copies for them.
long pages_of_children(int children) {
  for (int i = 0; i < children; ++i) {
    const pid_t child = fork();
    EXPECT(child >= 0);
    if (child == 0) { _exit(0); }
    int status = 1;
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
  }
  rusage used{};
  EXPECT(getrusage(RUSAGE_CHILDREN, &used) == 0);
  return used.ru_minflt;
}

// One that does nothing with the driver, as those that call exec.
void idle_child() {
  constexpr int kChildren = 8;
  const long before = pages_of_children(kChildren);
  const Lanes lanes;
  EXPECT(lanes.waits_for(lanes.comm));
  const long with_driver = pages_of_children(kChildren) - before;
  EXPECT(with_driver < before + 40 * kChildren);
}

// A child that does use it knows nothing of what its parent launched.
void using_child() {
  const Lanes lanes;
  lanes.collective(lanes.comm);
  const pid_t child = fork();
  if (child == 0) {
    EXPECT(use_device(0) != nullptr && !lanes.product_waits(lanes.compute));
    EXPECT(lanes.waits_for(lanes.comm));
    _exit(0);
  }
  int status = 1;
  EXPECT(waitpid(child, &status, 0) == child && status == 0 && lanes.product_waits(lanes.compute));
}

// As a library does that guards its launches with a lock and takes that before a fork: it waits for a thread that launches.
std::atomic<bool> forking{false};
std::atomic<bool> launched{false};

void guarded_fork() {
  EXPECT(pthread_atfork(
             [] {
               forking = true;
               while (!launched) { usleep(100); }
             },
             nullptr, nullptr) == 0);
  alarm(20);
  const Lanes lanes;
  lanes.collective(lanes.comm);
  std::thread other([&] {
    use_device(0);
    while (!forking) { usleep(100); }
    lanes.collective(lanes.comm);
    launched = true;
  });
  const pid_t child = fork();
  if (child == 0) { _exit(use_device(0) != nullptr && lanes.waits_for(lanes.comm) ? 0 : 1); }
  int status = 1;
  EXPECT(waitpid(child, &status, 0) == child && status == 0);
  other.join();
}

// In a child that cannot know whether the loader's lock is free, it is not.
bool driver_is_hooked() {
  static void* const driver = dlopen("libcuda.so.1", RTLD_LAZY);
  return dlsym(driver, "cuLaunchKernel") == dlsym(RTLD_DEFAULT, "cuLaunchKernel");
}

// No lock of the loader is held in the child by a thread that is not there. A fork that was kept waiting for too long is a rare
// one.
void looked_up_meanwhile() {
  EXPECT(driver_is_hooked());
  std::atomic<bool> stop{false};
  const auto look_up = [&] {
    while (!stop) { EXPECT(dlsym(RTLD_DEFAULT, "cuLaunchKernel") != nullptr); }
  };
  std::array others{std::thread(look_up), std::thread(look_up)};
  constexpr int kChildren = 400;
  int ended = 0;
  int hooked = 0;
  for (int i = 0; i < kChildren; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(5);
      _exit(driver_is_hooked() ? 0 : 1);
    }
    int status = 1;
    if (waitpid(child, &status, 0) == child && WIFEXITED(status)) { ++ended; }
    hooked += status == 0 ? 1 : 0;
    if (ended <= i) { break; }
  }
  stop = true;
  for (std::thread& other : others) { other.join(); }
  EXPECT(ended == kChildren && hooked >= kChildren - 3);
}

// The same where a handler forks that interrupts a look-up.
volatile std::sig_atomic_t children = 0, children_ended = 0;

void fork_in_handler(int) {
  const pid_t child = fork();
  if (child == 0) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    alarm(5);
    _exit(driver_is_hooked() ? 0 : 1);
  }
  int status = 1;
  if (waitpid(child, &status, 0) == child && status == 0) { children_ended = children_ended + 1; }
  children = children + 1;
}

void interrupted_look_up() {
  EXPECT(driver_is_hooked());
  struct sigaction action{};
  action.sa_handler = &fork_in_handler;
  action.sa_flags = SA_RESTART;
  EXPECT(sigaction(SIGVTALRM, &action, nullptr) == 0);
  while (children < 100 && children_ended == children) {
    itimerval once{};
    once.it_value.tv_usec = 500 + 13 * children;
    EXPECT(setitimer(ITIMER_VIRTUAL, &once, nullptr) == 0);
    for (const int before = children; children == before;) { dlsym(RTLD_DEFAULT, "cuLaunchKernel"); }
  }
  EXPECT(children_ended == 100);
}

// A child that is forked in the midst of a look-up goes on with it. Its own forks wait for nobody. By a signal that is never held
// back.
volatile std::sig_atomic_t is_child = 0;

void fork_and_go_on(int) {
  const pid_t child = fork();
  is_child = child == 0 ? 1 : 0;
  if (child == 0) { return; }
  int status = 1;
  if (waitpid(child, &status, 0) == child && status == 0) { children_ended = children_ended + 1; }
  children = children + 1;
}

bool forks_at_once() {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 5; ++i) {
    const pid_t child = fork();
    if (child == 0) { _exit(0); }
    waitpid(child, nullptr, 0);
  }
  return std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(300);
}

void interrupted_look_up_by_urgent() {
  EXPECT(driver_is_hooked());
  struct sigaction action{};
  action.sa_handler = &fork_and_go_on;
  action.sa_flags = SA_RESTART;
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGRTMIN;
  timer_t timer{};
  EXPECT(sigaction(SIGRTMIN, &action, nullptr) == 0 && timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer) == 0);
  while (children < 60 && children_ended == children) {
    itimerspec once{};
    once.it_value.tv_nsec = 100'000 + 13'000 * children;
    EXPECT(timer_settime(timer, 0, &once, nullptr) == 0);
    for (const int before = children; children == before && is_child == 0;) { dlsym(RTLD_DEFAULT, "cuLaunchKernel"); }
    if (is_child != 0) { _exit(forks_at_once() ? 0 : 1); }
  }
  EXPECT(children_ended == 60);
}

// A library is being unloaded, and the thread that does it holds the loader's lock until the children have ended.
std::atomic<bool> unloading{false};
std::atomic<bool> children_over{false};
void (*meanwhile)() = nullptr;

void hold_loaders_lock() {
  dl_iterate_phdr(
      [](dl_phdr_info*, std::size_t, void*) {
        unloading = true;
        while (!children_over) { usleep(100); }
        return 1;
      },
      nullptr);
}

// The child calls the driver for the first time, and what it looks up takes no lock.
void unloaded_meanwhile() {
  meanwhile = &hold_loaders_lock;
  std::thread other([] { dlclose(dlopen(std::getenv("ELBOWROOM_PLUGIN"), RTLD_NOW)); });
  while (!unloading) { usleep(100); }
  const std::string report = report_of([] {
    alarm(10);
    const Lanes lanes;
    lanes.collective(lanes.comm);
    EXPECT(dlsym(RTLD_DEFAULT, "cuLaunchKernel") != nullptr && fake_call_count() == 1);
  });
  children_over = true;
  other.join();
  EXPECT(holds(report, "the loaded libraries: not looked through, because one was being unloaded"));
}

// An unload that does not last long is waited for: what is forked then is as any other child.
void unloaded_soon() {
  meanwhile = [] {
    unloading = true;
    usleep(20'000);
  };
  const Lanes lanes;
  lanes.collective(lanes.comm);
  std::thread other([] { dlclose(dlopen(std::getenv("ELBOWROOM_PLUGIN"), RTLD_NOW)); });
  while (!unloading) { usleep(100); }
  const std::string report = report_of([] {
    const Lanes own;
    EXPECT(own.waits_for(own.comm));
  });
  other.join();
  EXPECT(report.size() > 100 && !holds(report, "not looked through"));
}

// As a handler may that interrupts the loader.
void exit_while_unloading() {
  const std::string report = report_of([] {
    const Lanes lanes;
    meanwhile = [] { std::exit(0); };
    dlclose(dlopen(std::getenv("ELBOWROOM_PLUGIN"), RTLD_NOW));
  });
  EXPECT(holds(report, "the loaded libraries: not looked through, because one was being unloaded"));
}

// A handler that ends the process cuts no report off.
std::atomic<bool> writes_are_interrupted{false};

void exit_while_reporting() {
  const std::string report = report_of([] {
    EXPECT(std::signal(SIGUSR1, [](int) { std::exit(0); }) != SIG_ERR);
    const Lanes lanes;
    writes_are_interrupted = true;
  });
  EXPECT(holds(report, "elbowroom.run-process/1"));
}

// A thread ends the process that was to be cancelled: what a report writes to would be where that happens.
void exit_of_cancelled() {
  const std::string report = report_of([] {
    const Lanes lanes;
    std::thread([] {
      pthread_cancel(pthread_self());
      std::exit(0);
    }).join();
    _exit(1);
  });
  EXPECT(holds(report, "elbowroom.run-process/1"));
}

// What is made past fork(), by containers say, tells nobody: it ends with its parent's state, whose locks another thread may hold.
void unseen_fork() {
  const Lanes lanes;
  const auto child = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  EXPECT(child >= 0);
  if (child == 0) { std::exit(0); }
  int status = 1;
  EXPECT(waitpid(child, &status, 0) == child && status == 0);
}

// The report goes where it was to go when the program began.
void cleared_environment() {
  const Lanes lanes;
  EXPECT(clearenv() == 0);
}

constexpr Case kCases[] = {{"unseen_fork", unseen_fork},
                           {"cleared_environment", cleared_environment},
                           {"idle_child", idle_child},
                           {"using_child", using_child},
                           {"guarded_fork", guarded_fork},
                           {"looked_up_meanwhile", looked_up_meanwhile},
                           {"interrupted_look_up", interrupted_look_up},
                           {"unloaded_meanwhile", unloaded_meanwhile},
                           {"unloaded_soon", unloaded_soon},
                           {"exit_while_unloading", exit_while_unloading},
                           {"exit_while_reporting", exit_while_reporting},
                           {"interrupted_look_up_by_urgent", interrupted_look_up_by_urgent},
                           {"exit_of_cancelled", exit_of_cancelled}};

}  // namespace

#pragma GCC visibility push(default)
extern "C" {
void once_unloaded() {
  void (*call)() = meanwhile;
  meanwhile = nullptr;
  if (call != nullptr) { call(); }
}
ssize_t write(int file, const void* data, std::size_t size) {
  if (writes_are_interrupted) { std::raise(SIGUSR1); }
  return syscall(SYS_write, file, data, size);
}
}
#pragma GCC visibility pop

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
