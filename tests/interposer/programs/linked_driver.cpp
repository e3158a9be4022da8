#include <dlfcn.h>
#include <unistd.h>

#include "interposer/cuda/hooked_functions.hpp"
#include "program.hpp"

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

constexpr Case kCases[] = {{"launch_at_load", launch_at_load}};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
