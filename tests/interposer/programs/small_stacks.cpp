#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <functional>

#include "hook_cases.hpp"
#include "report_of.hpp"

// A program's threads and handlers may have little room on their stacks.

namespace {

// Calls on a thread that has a stack of 64 KiB, its own variables included, and waits for it.
void on_small_stack(std::function<void()> call) {
  pthread_attr_t attributes;
  pthread_t thread{};
  EXPECT(pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, 64 * 1024) == 0);
  const auto run = [](void* function) -> void* {
    (*static_cast<std::function<void()>*>(function))();
    return nullptr;
  };
  EXPECT(pthread_create(&thread, &attributes, run, &call) == 0 && pthread_join(thread, nullptr) == 0);
  pthread_attr_destroy(&attributes);
}

// The rules are read, and everything is made, where the program first calls the driver.
void first_launch() {
  on_small_stack([] {
    const Lanes lanes;
    EXPECT(lanes.waits_for(lanes.comm));
  });
}

// 8 KiB beside what the system takes for itself, and nothing below.
stack_t handlers_stack() {
  constexpr std::size_t kPage = 4096;
  const std::size_t bytes = (static_cast<std::size_t>(sysconf(_SC_MINSIGSTKSZ)) + 3 * kPage - 1) / kPage * kPage;
  void* memory = mmap(nullptr, kPage + bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT(memory != MAP_FAILED);
  stack_t stack{};
  stack.ss_sp = static_cast<char*>(memory) + kPage;
  stack.ss_size = bytes;
  EXPECT(mprotect(stack.ss_sp, bytes, PROT_READ | PROT_WRITE) == 0);
  return stack;
}

// The report is written on the stack of the handler that ends the program outside a hook.
void exit_on_handlers_stack() {
  const std::string report = report_of([] {
    const Lanes lanes;
    EXPECT(lanes.waits_for(lanes.comm));
    const stack_t stack = handlers_stack();
    struct sigaction action{};
    action.sa_flags = SA_ONSTACK;
    action.sa_handler = [](int) { std::exit(0); };
    EXPECT(sigaltstack(&stack, nullptr) == 0 && sigaction(SIGUSR1, &action, nullptr) == 0);
    std::raise(SIGUSR1);
  });
  EXPECT(holds(report, R"("gate":1)"));
}

constexpr Case kCases[] = {{"first_launch", first_launch}, {"exit_on_handlers_stack", exit_on_handlers_stack}};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
