#include <cupti.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "recorder/fake_cupti.hpp"

// A program in which CUDA has loaded the recorder: steps of two products and an all-reduce, 10 ms each.
//   usage: recorded_program SECONDS [profiler-before|profiler-during|profiler-after|fork|two-devices]
// A profiler is the program's own: it registers callbacks and wants its records. Exit code 3: it did not get them.
namespace {

std::atomic<std::size_t> own_records{0};

void own_request(std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
  *size = 1 << 20;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, *size));
  *most = 0;
}

void own_complete(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  if (valid > 0) { ++own_records; }
  std::free(buffer);
}

template <class Function>
Function from(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

std::uint64_t now() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

constexpr std::uint64_t kStep = 10'000'000;

class Program {
 public:
  Program() : cupti_(dlopen(ELBOWROOM_FAKE_CUPTI, RTLD_NOW)) {
    kernel_ = from<decltype(&fake_kernel)>(cupti_, "fake_kernel");
    enabled_ = from<decltype(&fake_enabled)>(cupti_, "fake_enabled");
    began_late_ = from<decltype(&fake_began_late)>(cupti_, "fake_began_late");
  }

  /// As CUDA does when it is used first.
  void use_cuda() {
    const char* const library = std::getenv("CUDA_INJECTION64_PATH");
    if (library == nullptr) { return; }
    void* const injected = dlopen(library, RTLD_NOW);
    if (injected != nullptr) { from<int (*)()>(injected, "InitializeInjection")(); }
  }

  /// A step begins each 10 ms by its records, however late this thread is.
  void steps(double seconds) {
    std::uint64_t at = now();
    for (const std::uint64_t end = at + static_cast<std::uint64_t>(seconds * 1e9); at < end; at += kStep) {
      kernel_("_Z4gemmv", 7, at, at + 100'000, at + 3'000'000);
      kernel_("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 20, at + 1'000, at + 3'010'000, at + 6'000'000);
      kernel_("_Z4gelui", 7, at + 2'000, at + 6'005'000, at + 9'900'000);
      const std::uint64_t here = now();
      std::this_thread::sleep_for(std::chrono::nanoseconds(std::max(at + kStep, here) - here));
    }
  }

  void start_profiler() {
    from<decltype(&cuptiActivityRegisterCallbacks)>(cupti_, "cuptiActivityRegisterCallbacks")(own_request, own_complete);
    from<decltype(&cuptiActivityEnable)>(cupti_, "cuptiActivityEnable")(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  }
  /// Whether it got records.
  bool stop_profiler() {
    from<decltype(&cuptiActivityFlushAll)>(cupti_, "cuptiActivityFlushAll")(1);
    return own_records > 0 && enabled_() > 0;
  }
  [[nodiscard]] int enabled() const { return enabled_(); }
  [[nodiscard]] bool began_late() const { return began_late_(); }

 private:
  void* cupti_;
  decltype(&fake_kernel) kernel_;
  decltype(&fake_enabled) enabled_;
  decltype(&fake_began_late) began_late_;
};

}  // namespace

int main(int count, char** arguments) {
  const double seconds = count > 1 ? std::atof(arguments[1]) : 1;
  const std::string_view when = count > 2 ? arguments[2] : "";
  Program program;
  if (when == "profiler-before") { program.start_profiler(); }
  if (when == "two-devices" && dlopen(ELBOWROOM_FAKE_DRIVER, RTLD_NOW) == nullptr) { return 9; }
  program.use_cuda();
  if (when == "two-devices") { std::this_thread::sleep_for(std::chrono::milliseconds(600)); }  // NCCL begins
  if (when == "fork") {
    const pid_t child = fork();
    if (child == 0) { return 0; }  // runs the handlers of its exit
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) { return 4; }
  }
  if (when == "profiler-during") {
    program.steps(1);
    program.start_profiler();
  }
  program.steps(seconds);
  // CUPTI would wait for a collective that one device has and the other's launch, held up by CUPTI, does not bring.
  if (when == "two-devices" && program.began_late()) { return 8; }
  if (when == "profiler-before") {
    // The records of its first cycle went to the recorder. What is its own stays its own, and the next cycle gets its records.
    if (own_records != 0 || program.enabled() != 1) { return 6; }
    program.start_profiler();
    program.steps(0.5);
  }
  if (when == "profiler-after") {
    if (program.enabled() != 0) { return 5; }  // the recorder is done and has switched off what it had switched on
    program.start_profiler();
    program.steps(0.5);
  }
  if (when.starts_with("profiler") && !program.stop_profiler()) { return 3; }
  return 0;
}
