#include "interposer/core/unusual.hpp"

#include <dlfcn.h>
#include <sys/time.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "report_of.hpp"
#include "two_streams.hpp"

// Each row of what is unusual: from then on the driver gets the calls of the program alone, and the report names the row.

namespace {

using elbowroom::interposer::kUnusualWords;
using elbowroom::interposer::Unusual;

/// A collective and a product beside it reach the driver as they are.
bool passes(const TwoStreams& two) {
  fake_reset();
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0 && launch_on(two.compute, two.gemm) == 0);
  return fake_call_count() == 2 && fake_call(0)->attribute_count == 0 && fake_call(1)->attribute_count == 0;
}

template <class Action>
void names(Unusual row, Action action) {
  const std::string report = report_of([&] {
    const TwoStreams two;
    action(two);
    EXPECT(passes(two));
  });
  EXPECT(holds(report, kUnusualWords[static_cast<std::size_t>(row)]));
}

// A context without streams may end, and one with a reference left does not.
void nothing() {
  const std::string report = report_of([] {
    const TwoStreams two;
    cu::Context other = nullptr;
    EXPECT(cuCtxCreate_v2(&other, 0, 0) == 0 && cuCtxDestroy_v2(other) == 0 && cuCtxSetCurrent(two.context) == 0);
    EXPECT(!passes(two));
    use_device(0);
    EXPECT(cuDevicePrimaryCtxRelease_v2(0) == 0 && !passes(two));
  });
  EXPECT(holds(report, "\"passed_through\":[]"));
}

void second_driver() {
  names(Unusual::second_driver, [](const TwoStreams&) {
    void* const other = dlopen(std::getenv("ELBOWROOM_SMALL_DRIVER"), RTLD_NOW | RTLD_LOCAL);
    EXPECT(other != nullptr);
    const auto launch = reinterpret_cast<decltype(&cuLaunchKernel)>(dlsym(other, "cuLaunchKernel"));
    EXPECT(launch(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) == 1);
  });
}

// Each user calls the copy that it is linked to, which knows its own communicators alone.
void second_library() {
  names(Unusual::second_library, [](const TwoStreams&) {
    for (int number = 1; number <= 2; ++number) {
      const std::string path = std::string(std::getenv("ELBOWROOM_COPIES_DIR")) + "/user" + std::to_string(number) + ".so";
      void* const user = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      EXPECT(user != nullptr);
      EXPECT(reinterpret_cast<int (*)()>(dlsym(user, "user_all_reduce"))() == number);
    }
  });
}

void other_definition() {
  names(Unusual::other_definition, [](const TwoStreams& two) {
    const auto shim_launches = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "shim_launches"));
    const int before = shim_launches();
    EXPECT(launch_on(two.compute, two.gemm) == 0 && shim_launches() == before + 1);
  });
}

void answered_look_ups() {
  names(Unusual::answered_look_ups, [](const TwoStreams&) {
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
    EXPECT(reinterpret_cast<int (*)(cu::DevicePointer)>(dlsym(driver, "cuMemFree_v2"))(0) == 2);
  });
}

void deep_binding() {
  names(Unusual::deep_binding,
        [](const TwoStreams&) { EXPECT(dlopen(std::getenv("ELBOWROOM_HIDDEN_USER"), RTLD_NOW | RTLD_DEEPBIND) != nullptr); });
}

void other_namespace() {
  names(Unusual::other_namespace,
        [](const TwoStreams&) { EXPECT(dlmopen(LM_ID_NEWLM, std::getenv("ELBOWROOM_HIDDEN_USER"), RTLD_NOW) != nullptr); });
}

void newer_form() {
  names(Unusual::newer_form, [](const TwoStreams&) {
    void* found = nullptr;
    EXPECT(cuGetProcAddress_v2("cuStreamWaitValue64", &found, 13020, 0, nullptr) == 0);
    EXPECT(cuGetProcAddress_v2("cuStreamWaitValue64", &found, 14000, 0, nullptr) == 0);
  });
}

// A handler launches while it interrupts a launch, sooner or later.
void reentered() {
  static cu::Stream stream = nullptr;
  static cu::Function function = nullptr;
  names(Unusual::reentered, [](const TwoStreams& two) {
    stream = two.compute;
    function = two.gemm;
    fake_set_logging(0);
    EXPECT(std::signal(SIGALRM, [](int) {
             if (launch_on(stream, function) != 0) { std::_Exit(1); }
           }) != SIG_ERR);
    // The stand-in keeps its log with a lock: while it does, no handler may run.
    const itimerval timer{{0, 200}, {0, 200}}, none{};
    for (bool stood_aside = false; !stood_aside;) {
      fake_set_logging(0);
      EXPECT(setitimer(ITIMER_REAL, &timer, nullptr) == 0);
      for (int i = 0; i < 1'000; ++i) { EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0); }
      EXPECT(setitimer(ITIMER_REAL, &none, nullptr) == 0);
      fake_set_logging(1);
      stood_aside = passes(two);
    }
  });
}

// The child alone: the parent acts on.
void forked() {
  const TwoStreams two;
  EXPECT(!passes(two));
  EXPECT(report_of([&] { EXPECT(passes(two)); }).empty());
  EXPECT(!passes(two));
}

void multi_device_launch() {
  names(Unusual::multi_device_launch,
        [](const TwoStreams&) { static_cast<void>(cuLaunchCooperativeKernelMultiDevice(nullptr, 0, 0)); });
}

void green_context() {
  names(Unusual::green_context, [](const TwoStreams&) {
    cu::Stream made = nullptr;
    EXPECT(cuGreenCtxStreamCreate(&made, fake_green_context(66), cu::kStreamNonBlocking, 0) == 0);
  });
}

void foreign_event() {
  names(Unusual::foreign_event, [](const TwoStreams&) {
    cu::IpcEventHandle handle{};
    EXPECT(cuIpcGetEventHandle(&handle, make_event()) == 0);
  });
}

void external_semaphore() {
  names(Unusual::external_semaphore,
        [](const TwoStreams& two) { EXPECT(cuWaitExternalSemaphoresAsync(&two, &two, 1, two.compute) == 0); });
}

void context_wait() {
  names(Unusual::context_wait, [](const TwoStreams&) { EXPECT(cuCtxWaitEvent(nullptr, make_event()) == 0); });
}

void device_launch() {
  names(Unusual::device_launch, [](const TwoStreams&) {
    cu::Graph graph = nullptr;
    cu::GraphExec exec = nullptr;
    EXPECT(cuGraphCreate(&graph, 0) == 0 && cuGraphInstantiateWithFlags(&exec, graph, cu::kInstantiateDeviceLaunch) == 0);
  });
}

void ended_context() {
  names(Unusual::ended_context, [](const TwoStreams& two) { EXPECT(!passes(two) && cuCtxDestroy_v2(two.context) == 0); });
}

void many_threads() {
  names(Unusual::many_threads, [](const TwoStreams& two) {
    EXPECT(!passes(two));  // At rest no launch is asked for its thread.
    fake_set_logging(0);
    for (int thread = 0; thread < 0xffff; ++thread) {
      std::thread([&] {
        EXPECT(cuCtxSetCurrent(two.context) == 0);
        EXPECT(cuLaunchKernel_ptsz(two.gemm, 4096, 1, 1, 256, 1, 1, 0, nullptr, nullptr, nullptr) == 0);
      }).join();
    }
    fake_set_logging(1);
  });
}

constexpr Case kCases[] = {
    CASE(nothing),       CASE(second_driver),   CASE(second_library),     CASE(other_definition), CASE(answered_look_ups),
    CASE(deep_binding),  CASE(other_namespace), CASE(newer_form),         CASE(reentered),        CASE(forked),
    CASE(green_context), CASE(foreign_event),   CASE(external_semaphore), CASE(context_wait),     CASE(multi_device_launch),
    CASE(device_launch), CASE(ended_context),   CASE(many_threads)};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
