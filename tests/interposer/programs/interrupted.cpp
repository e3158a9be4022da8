#include <pthread.h>
#include <sys/time.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "hook_cases.hpp"

// Handlers that come in the middle of a launch, whether the interposer is at work or not: they come often. Cancellation too.

namespace {

constexpr int kTimes = 300;

cu::Stream third = nullptr;
volatile std::sig_atomic_t handled = 0;

// A wait for the host that nobody has followed may be anywhere, for good.
void handler_orders() {
  const Lanes lanes;
  third = make_stream();
  EXPECT(lanes.waits_for(lanes.comm));
  EXPECT(std::signal(SIGVTALRM, [](int) {
           cuLaunchHostFunc(third, nullptr, nullptr);
           handled = 1;
         }) != SIG_ERR);
  bool gates = true;
  for (int i = 0; i < kTimes && gates; ++i) {
    fake_set_logging(0);
    handled = 0;
    itimerval once{};
    once.it_value.tv_usec = 1000 + i;
    EXPECT(setitimer(ITIMER_VIRTUAL, &once, nullptr) == 0);
    while (handled == 0) {
      launch_on(lanes.comm, lanes.all_reduce, 24);
      launch_on(lanes.compute, lanes.gemm);
    }
    fake_set_logging(1);
    EXPECT(cuStreamSynchronize(third) == 0);
    Lanes::settle();
    gates = lanes.waits_for(lanes.comm);
  }
  EXPECT(!gates);
}

volatile std::sig_atomic_t within_ours = 0, made_ours = 0, interrupted_ours = 0, urgent_ours = 0;

// Events of ours are made within the program's launch. A handler in the midst of that may end the process, which the driver's
// allocation would not outlive. A thread's own faults, and a collector's signals, come at once.
void events_of_ours() {
  const Lanes lanes;
  EXPECT(std::signal(SIGUSR1, [](int) { interrupted_ours = interrupted_ours + within_ours; }) != SIG_ERR);
  for (const int urgent : {SIGSYS, SIGPWR}) {
    EXPECT(std::signal(urgent, [](int) { urgent_ours = urgent_ours + within_ours; }) != SIG_ERR);
  }
  fake_set_told([](const char* name) {
    if (std::strcmp(name, "cuEventCreate") != 0) { return; }
    within_ours = 1;
    made_ours = made_ours + 1;
    for (const int signal : {SIGUSR1, SIGSYS, SIGPWR}) { std::raise(signal); }
    within_ours = 0;
  });
  for (int i = 0; i < 3; ++i) {
    launch_on(lanes.comm, lanes.all_reduce, 24);
    launch_on(lanes.compute, lanes.gemm);
  }
  fake_set_told(nullptr);
  EXPECT(made_ours != 0 && interrupted_ours == 0 && urgent_ours == 2 * made_ours);
}

volatile std::sig_atomic_t asked_ours = 0;

// So it is with the questions about a stream and a kernel that are met for the first time. But to load the kernel may
// wait for what runs, which may be for a handler to end.
void questions_of_ours() {
  const Lanes lanes;
  EXPECT(std::signal(SIGUSR1, [](int) { interrupted_ours = interrupted_ours + within_ours; }) != SIG_ERR);
  const cu::Function unloaded = fake_function("unloaded", 64, 0);
  const cu::Function loaded = fake_function("loaded", 64, 0);
  int registers = 0;
  EXPECT(cuFuncGetAttribute(&registers, cu::kFuncNumRegs, loaded) == 0);
  cu::Stream stream = nullptr;
  EXPECT(past::call_past_hook("cuStreamCreate", "libcuda.so.1") != 0 && cuStreamCreate(&stream, cu::kStreamNonBlocking) == 0);
  lanes.collective(lanes.comm);
  fake_set_told([](const char* name) {
    for (const char* question : {"cuFuncIsLoaded", "cuFuncGetAttribute", "cuFuncGetName", "cuStreamGetCtx"}) {
      if (std::strcmp(name, question) != 0) { continue; }
      asked_ours = asked_ours + 1;
      within_ours = 1;
      std::raise(SIGUSR1);
      within_ours = 0;
    }
  });
  launch_on(stream, loaded);
  EXPECT(asked_ours > 8 && interrupted_ours == 0);
  launch_on(stream, unloaded);
  EXPECT(interrupted_ours == 1);
  // The first question is refused, and the one about its function loads that.
  launch_on(stream, reinterpret_cast<cu::Function>(fake_kernel("unloaded_kernel", 64, 0)));
  EXPECT(interrupted_ours == 3);
  fake_set_told(nullptr);
}

// What the program has blocked stays blocked, also signals that are held back for nobody.
void blocked_signals() {
  sigset_t blocked;
  EXPECT(sigemptyset(&blocked) == 0);
  for (const int signal : {SIGPWR, SIGXCPU, SIGRTMIN + 3}) { EXPECT(sigaddset(&blocked, signal) == 0); }
  EXPECT(pthread_sigmask(SIG_BLOCK, &blocked, nullptr) == 0);
  for (const int signal : {SIGPWR, SIGXCPU, SIGRTMIN + 3}) { EXPECT(std::raise(signal) == 0); }
  const Lanes lanes;
  EXPECT(lanes.waits_for(lanes.comm) && dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuLaunchKernel") != nullptr);
  sigset_t pending;
  EXPECT(sigpending(&pending) == 0 && sigismember(&pending, SIGRTMIN + 3) == 1 && sigismember(&pending, SIGPWR) == 1);
}

// What the interposer reads at first is no point of cancellation for the program.
void cancelled_at_first() {
  std::atomic<bool> launched{false};
  std::thread([&] {
    pthread_cancel(pthread_self());
    launched = launch_on(nullptr, fake_function("gemm", 64, 0)) == 0;
    pthread_testcancel();
  }).join();
  EXPECT(launched);
}

// Nor is the reading of what earlier runs learned, when the first device is met.
void cancelled_with_knowledge() {
  EXPECT(setenv("ELBOWROOM_RUN_DURATIONS", "/dev/null", 1) == 0 && setenv("ELBOWROOM_RUN_CHOICES", "/dev/null", 1) == 0);
  std::atomic<bool> launched{false};
  std::thread([&] {
    use_device(0);
    pthread_cancel(pthread_self());
    launched = launch_on(nullptr, fake_function(kAllReduce, 96, 0), 24) == 0;
    pthread_testcancel();
  }).join();
  EXPECT(launched);
}

constexpr Case kCases[] = {
    {"cancelled_with_knowledge", cancelled_with_knowledge},
    {"handler_orders", handler_orders},
    {"events_of_ours", events_of_ours},
    {"questions_of_ours", questions_of_ours},
    {"blocked_signals", blocked_signals},
    {"cancelled_at_first", cancelled_at_first},
};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
