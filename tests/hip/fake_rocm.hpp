#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "elbowroom/backend/registry.hpp"
#include "elbowroom/model/scenario.hpp"
#include "fake_hip.hpp"

extern "C" {
int fake_rccl_latest_budget();
// LeakSanitizer's, where a build has it.
__attribute__((weak)) void __lsan_disable();
__attribute__((weak)) void __lsan_enable();
}

namespace elbowroom::testing {

/// Two devices like GCDs of an MI250X that run everything on the host. What a test sets ends with it.
class FakeRocm : public ::testing::Test {
 protected:
  FakeRocm() {
    set("ELBOWROOM_HIP_LIBRARY", ELBOWROOM_FAKE_HIP);
    set("ELBOWROOM_HIPRTC_LIBRARY", ELBOWROOM_FAKE_HIPRTC);
    set("ELBOWROOM_RCCL_LIBRARY", ELBOWROOM_FAKE_RCCL);
    set("ELBOWROOM_ROCBLAS_LIBRARY", ELBOWROOM_FAKE_ROCBLAS);
    fake_hip_reset();
  }
  ~FakeRocm() override {
    for (const std::string& name : set_) { unsetenv(name.c_str()); }
    fake_hip_reset();
  }

  void set(const std::string& name, const std::string& value) {
    setenv(name.c_str(), value.c_str(), 1);
    set_.push_back(name);
  }

  static std::unique_ptr<Backend> open(const BackendOptions& options = {}) {
    Result<std::unique_ptr<Backend>> backend = open_backend("hip", options);
    EXPECT_TRUE(backend) << backend.error().message;
    return backend ? std::move(*backend) : nullptr;
  }

  /// Calls of a HIP function since the log was last forgotten.
  static std::vector<FakeHipCall> calls(const std::string& name) {
    std::vector<FakeHipCall> found;
    for (std::size_t i = 0; i < fake_hip_call_count(); ++i) {
      if (fake_hip_call(i)->name == name) { found.push_back(*fake_hip_call(i)); }
    }
    return found;
  }

 private:
  std::vector<std::string> set_;
};

/// What is allocated while one lives may be left behind: a workload whose schedule did not end is not freed, and with it what it
/// stands on.
class MayBeGivenUp {
 public:
  MayBeGivenUp() {
    if (__lsan_disable != nullptr) { __lsan_disable(); }
  }
  ~MayBeGivenUp() {
    if (__lsan_enable != nullptr) { __lsan_enable(); }
  }
  MayBeGivenUp(const MayBeGivenUp&) = delete;
  MayBeGivenUp& operator=(const MayBeGivenUp&) = delete;
};

/// Short of everything: the host computes it.
inline Scenario small(const Compute& compute, CollectiveOp op = CollectiveOp::all_reduce) {
  Scenario scenario;
  scenario.name = "small";
  scenario.gpus = 2;
  scenario.iterations = 3;
  scenario.compute = compute;
  scenario.collective.op = op;
  scenario.collective.bytes = kibibytes(16);
  return scenario;
}

inline const Compute kSmallGelu = Elementwise{ElementwiseOp::gelu, DataType::f32, kibibytes(64)};

}  // namespace elbowroom::testing
