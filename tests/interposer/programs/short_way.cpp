#include <dlfcn.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include "two_streams.hpp"

// How many instructions a launch takes from the exported function to the driver's, and in how many cache lines they lie: counted
// one by one, in a child process that is stepped. Between two launches a program fills a core's caches with other things, so that
// each line comes from afar.

namespace {

constexpr int kSkipped = 77;

[[noreturn]] void skip(const char* why) {
  std::fprintf(stderr, "skipped: %s\n", why);
  std::exit(kSkipped);
}

#if defined(__x86_64__)

struct Counted {
  int instructions = 0;
  std::size_t lines = 0;
};

std::uint64_t place_of(pid_t child) {
  user_regs_struct registers = {};
  EXPECT(ptrace(PTRACE_GETREGS, child, nullptr, &registers) == 0);
  return registers.rip;
}

void step(pid_t child) {
  int status = 0;
  EXPECT(ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) == 0);
  EXPECT(waitpid(child, &status, 0) == child && WIFSTOPPED(status));
}

/// Where a library lies.
struct Range {
  std::uint64_t begin = 0, end = 0;
  [[nodiscard]] bool holds(std::uint64_t at) const { return at >= begin && at < end; }
};
Range library_of(const void* function) {
  Dl_info info = {};
  EXPECT(dladdr(function, &info) != 0);
  Range range;
  std::FILE* maps = std::fopen("/proc/self/maps", "r");
  EXPECT(maps != nullptr);
  char line[4096];
  while (std::fgets(line, sizeof line, maps) != nullptr) {
    unsigned long begin = 0, end = 0;
    if (std::strstr(line, info.dli_fname) == nullptr || std::sscanf(line, "%lx-%lx", &begin, &end) != 2) { continue; }
    if (range.begin == 0) { range.begin = begin; }
    range.end = end;
  }
  std::fclose(maps);
  return range;
}

/// From where the child enters `hook` on to where it enters `driver`: what it does in the library of the hook.
Counted count(pid_t child, std::uint64_t hook, std::uint64_t driver, const Range& library) {
  Counted counted;
  std::set<std::uint64_t> lines;
  constexpr int kMost = 1'000'000;
  int steps = 0;
  while (place_of(child) != hook && ++steps < kMost) { step(child); }
  for (std::uint64_t at = hook; at != driver && ++steps < kMost; at = place_of(child)) {
    if (library.holds(at)) {
      ++counted.instructions;
      lines.insert(at / 64);
    }
    step(child);
  }
  EXPECT(steps < kMost);
  counted.lines = lines.size();
  return counted;
}

/// Of the call of that name that `prepare` leaves to be made.
template <class Prepare>
Counted steps_of(const char* name, Prepare prepare) {
  const auto loader = reinterpret_cast<void* (*)(void*, const char*)>(dlsym(dlopen("libc.so.6", RTLD_NOW), "dlsym"));
  const auto driver = reinterpret_cast<std::uint64_t>(loader(dlopen("libcuda.so.1", RTLD_NOW), name));
  const void* const exported = dlsym(RTLD_DEFAULT, name);
  const auto hook = reinterpret_cast<std::uint64_t>(exported);
  EXPECT(driver != 0 && hook != 0 && driver != hook);
  const pid_t child = fork();
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) { _exit(kSkipped); }
    const auto call = prepare();
    raise(SIGSTOP);
    call();
    _exit(0);
  }
  int status = 0;
  EXPECT(waitpid(child, &status, 0) == child);
  if (!WIFSTOPPED(status)) { skip("this system lets no process be traced"); }
  const Counted counted = count(child, hook, driver, library_of(exported));
  kill(child, SIGKILL);
  EXPECT(waitpid(child, &status, 0) == child);
  return counted;
}

void expect_at_most(const char* what, const Counted& counted, int instructions, std::size_t lines) {
  std::fprintf(stderr, "%s: %d instructions in %zu cache lines\n", what, counted.instructions, counted.lines);
  EXPECT(counted.instructions <= instructions && counted.lines <= lines);
}

auto after(int collectives, bool default_stream) {
  return [=] {
    const TwoStreams lanes;
    const cu::Stream stream = default_stream ? nullptr : lanes.compute;
    for (int i = 0; i < collectives; ++i) {
      EXPECT(launch_on(lanes.comm, lanes.all_reduce, 24) == 0);
      EXPECT(cuCtxSynchronize() == 0 && launch_on(stream, lanes.gemm) == 0);
    }
    // The launch after these is none that must read what was written down.
    for (int i = 0; i < 80; ++i) { EXPECT(launch_on(stream, lanes.gemm) == 0); }
    return [=] { launch_on(stream, lanes.gemm); };
  };
}

template <class Prepare>
Counted steps_of_launch(Prepare prepare) {
  return steps_of("cuLaunchKernel", prepare);
}

void outside_windows() { expect_at_most("outside windows", steps_of_launch(after(3, false)), 160, 14); }
void default_stream() { expect_at_most("outside windows, default stream", steps_of_launch(after(3, true)), 240, 22); }
void no_collective() { expect_at_most("no collective", steps_of_launch(after(0, false)), 160, 14); }
// After a comparison in which nothing was gained.
void at_rest() { expect_at_most("at rest", steps_of_launch(after(2'000, false)), 15, 1); }

/// Calls on the default stream, which at rest nobody is asked about.
template <class Call>
auto ordering(Call call) {
  return [=] {
    after(2'000, false)();
    const cu::Event event = make_event();
    for (int i = 0; i < 2; ++i) { EXPECT(call(event) == 0); }
    return [=] { call(event); };
  };
}
void orders_at_rest() {
  const auto count_of = [](const char* name, auto call) { expect_at_most(name, steps_of(name, ordering(call)), 80, 10); };
  count_of("cuEventRecord", [](cu::Event event) { return cuEventRecord(event, nullptr); });
  count_of("cuStreamWaitEvent", [](cu::Event event) { return cuStreamWaitEvent(nullptr, event, 0); });
  count_of("cuEventQuery", [](cu::Event event) { return cuEventQuery(event); });
  count_of("cuStreamSynchronize", [](cu::Event /*event*/) { return cuStreamSynchronize(nullptr); });
  count_of("cuMemsetD8Async", [](cu::Event /*event*/) { return cuMemsetD8Async(8, 0, 8, nullptr); });
}

#else

[[noreturn]] void outside_windows() { skip("the processor is no x86-64"); }
constexpr auto default_stream = outside_windows, no_collective = outside_windows, at_rest = outside_windows,
               orders_at_rest = outside_windows;

#endif

constexpr Case kCases[] = {{"outside_windows", outside_windows},
                           {"default_stream", default_stream},
                           {"no_collective", no_collective},
                           {"at_rest", at_rest},
                           {"orders_at_rest", orders_at_rest}};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
