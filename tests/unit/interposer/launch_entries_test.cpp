#include "interposer/cuda/launch_entries.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <tuple>

// The exported entries with hooks and a driver that only take note of their arguments.
namespace {

using Kernel = std::tuple<const char*, cu::Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                          cu::Stream, void**, void**>;
using KernelEx = std::tuple<const char*, const cu::LaunchConfig*, cu::Function, void**, void**>;
Kernel kernel;
KernelEx kernel_ex;

template <class... Arguments>
int driver_kernel(Arguments... arguments) {
  kernel = {"driver", arguments...};
  return 7;
}

template <class... Arguments>
int driver_kernel_ex(Arguments... arguments) {
  kernel_ex = {"driver", arguments...};
  return 7;
}

}  // namespace

#define KERNEL_ARGUMENTS                                                                                                           \
  cu::Function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned bytes, cu::Stream stream, \
      void **parameters, void **extra
#define KERNEL_VALUES f, gx, gy, gz, bx, by, bz, bytes, stream, parameters, extra

int elbowroom_hook_cuLaunchKernel(KERNEL_ARGUMENTS) {
  kernel = {"hook", KERNEL_VALUES};
  return 1;
}
int elbowroom_hook_cuLaunchKernel_ptsz(KERNEL_ARGUMENTS) {
  kernel = {"hook of ptsz", KERNEL_VALUES};
  return 2;
}
int elbowroom_hook_cuLaunchKernelEx(const cu::LaunchConfig* config, cu::Function f, void** parameters, void** extra) {
  kernel_ex = {"hook", config, f, parameters, extra};
  return 3;
}
int elbowroom_hook_cuLaunchKernelEx_ptsz(const cu::LaunchConfig* config, cu::Function f, void** parameters, void** extra) {
  kernel_ex = {"hook of ptsz", config, f, parameters, extra};
  return 4;
}

extern "C" {
int cuLaunchKernel(KERNEL_ARGUMENTS);
int cuLaunchKernel_ptsz(KERNEL_ARGUMENTS);
int cuLaunchKernelEx(const cu::LaunchConfig* config, cu::Function f, void** parameters, void** extra);
int cuLaunchKernelEx_ptsz(const cu::LaunchConfig* config, cu::Function f, void** parameters, void** extra);
}

namespace elbowroom::interposer::cuda {
namespace {

template <class T>
T numbered(std::uintptr_t number) {
  return reinterpret_cast<T>(number);
}

class LaunchEntries : public testing::Test {
 protected:
  using Known = std::array<std::atomic<std::uint64_t>, RestGate::kPlaces>;

  void TearDown() override {
    elbowroom_launch_gate.rest.known = nullptr;
    elbowroom_launch_gate.rest.launches = 0;
    for (std::atomic<void*>& real : elbowroom_launch_gate.real) { real = nullptr; }
  }

  void rest() {
    known_->at(RestGate::place(kCompute)) = kCompute;
    elbowroom_launch_gate.rest.known = known_->data();
  }
  static void tell_real() {
    int (*plain)(KERNEL_ARGUMENTS) = &driver_kernel;
    int (*ex)(const cu::LaunchConfig*, cu::Function, void**, void**) = &driver_kernel_ex;
    elbowroom_launch_gate.real[0] = elbowroom_launch_gate.real[1] = reinterpret_cast<void*>(plain);
    elbowroom_launch_gate.real[2] = elbowroom_launch_gate.real[3] = reinterpret_cast<void*>(ex);
  }
  int launch(std::uint64_t function, decltype(&cuLaunchKernel) entry = &cuLaunchKernel) {
    return entry(numbered<cu::Function>(function), 1, 2, 3, 4, 5, 6, 7, numbered<cu::Stream>(8), parameters_, extra_);
  }
  int launch_ex(std::uint64_t function, decltype(&cuLaunchKernelEx) entry = &cuLaunchKernelEx) {
    return entry(&config_, numbered<cu::Function>(function), parameters_, extra_);
  }
  Kernel arrived(const char* where, std::uint64_t function) {
    return {where, numbered<cu::Function>(function), 1, 2, 3, 4, 5, 6, 7, numbered<cu::Stream>(8), parameters_, extra_};
  }

  static constexpr std::uint64_t kCompute = 0x55d0c0ffee10, kOther = 0x55d0c0ffee20;
  void* parameters_[1]{};
  void* extra_[1]{};
  cu::LaunchConfig config_{};
  std::unique_ptr<Known> known_ = std::make_unique<Known>();
};

TEST_F(LaunchEntries, GoOnToTheHooksWhereTheProgramIsNotLeftAlone) {
  tell_real();
  EXPECT_EQ(launch(kCompute), 1);
  EXPECT_EQ(kernel, arrived("hook", kCompute));
  EXPECT_EQ(launch(kCompute, &cuLaunchKernel_ptsz), 2);
  EXPECT_EQ(kernel, arrived("hook of ptsz", kCompute));
  EXPECT_EQ(launch_ex(kCompute), 3);
  EXPECT_EQ(kernel_ex, (KernelEx{"hook", &config_, numbered<cu::Function>(kCompute), parameters_, extra_}));
  EXPECT_EQ(launch_ex(kCompute, &cuLaunchKernelEx_ptsz), 4);
  EXPECT_EQ(elbowroom_launch_gate.rest.launches, 0U);
}

TEST_F(LaunchEntries, GoOnToTheDriverAtRestWithAllArguments) {
  rest();
  tell_real();
  EXPECT_EQ(launch(kCompute), 7);
  EXPECT_EQ(kernel, arrived("driver", kCompute));
  EXPECT_EQ(launch(kCompute, &cuLaunchKernel_ptsz), 7);
  EXPECT_EQ(launch_ex(kCompute), 7);
  EXPECT_EQ(kernel_ex, (KernelEx{"driver", &config_, numbered<cu::Function>(kCompute), parameters_, extra_}));
  EXPECT_EQ(launch_ex(kCompute, &cuLaunchKernelEx_ptsz), 7);
  EXPECT_EQ(elbowroom_launch_gate.rest.launches, 4U);
}

TEST_F(LaunchEntries, AskTheHooksForWhatTheyDoNotKnow) {
  rest();
  EXPECT_EQ(launch(kCompute), 1) << "the driver's function is not known yet";
  tell_real();
  EXPECT_EQ(launch(kOther), 1);
  EXPECT_EQ(launch_ex(kOther), 3);
  EXPECT_EQ(elbowroom_launch_gate.rest.launches, 0U);
}

}  // namespace
}  // namespace elbowroom::interposer::cuda
