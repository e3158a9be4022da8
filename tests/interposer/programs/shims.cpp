#include <dlfcn.h>

#include "two_streams.hpp"

// A program with another preloaded library, which counts launches: each launch goes by it that goes by it without the interposer.

namespace {

int seen() { return reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "shim_launches"))(); }

decltype(&cuLaunchKernel) asked() {
  void* found = nullptr;
  EXPECT(cuGetProcAddress_v2("cuLaunchKernel", &found, 12000, 0, nullptr) == 0);
  return reinterpret_cast<decltype(&cuLaunchKernel)>(found);
}

void launch_by(decltype(&cuLaunchKernel) launch, const TwoStreams& two) {
  EXPECT(launch(two.gemm, 7, 1, 1, 32, 1, 1, 0, two.compute, nullptr, nullptr) == 0);
}

// Its own function is the driver's, and nothing is missed by that: the gate stays.
void asks_itself() {
  const TwoStreams two;
  for (int launch = 1; launch < 4; ++launch) { EXPECT(launch_on(two.compute, two.gemm) == 0 && seen() == launch); }
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0 && launch_on(two.compute, two.gemm) == 0);
  EXPECT(fake_times_called("cuStreamWaitEvent") == 1);
}

// The program asks the driver first and is linked as well.
void asked_past() {
  const TwoStreams two;
  const auto by_question = asked();
  const auto by_name = reinterpret_cast<decltype(&cuLaunchKernel)>(dlsym(dlopen("libcuda.so.1", RTLD_LAZY), "cuLaunchKernel"));
  launch_by(by_question, two);
  launch_by(by_name, two);
  EXPECT(seen() == 0 && fake_call_count() == 2);
  EXPECT(launch_on(two.compute, two.gemm) == 0 && seen() == 1);
  launch_by(by_question, two);
  EXPECT(seen() == 1);
  // What is launched so is not followed.
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0 && launch_on(two.compute, two.gemm) == 0);
  EXPECT(fake_times_called("cuStreamWaitEvent") == 0);
}

// It has no function but in its answers, which come late.
void answers() {
  const TwoStreams two;
  EXPECT(launch_on(two.compute, two.gemm) == 0 && seen() == 0);
  launch_by(asked(), two);
  EXPECT(seen() == 1 && fake_call_count() == 2);
}

// The same, and its own launches are linked: they come to the hook.
void answers_and_links() {
  const TwoStreams two;
  for (int asks = 1; asks < 3; ++asks) {
    launch_by(asked(), two);
    EXPECT(seen() == asks && launch_on(two.compute, two.gemm) == 0 && seen() == asks);
  }
  EXPECT(fake_call_count() == 4);
}

constexpr Case kCases[] = {
    {"asks_itself", asks_itself}, {"asked_past", asked_past}, {"answers", answers}, {"answers_and_links", answers_and_links}};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
