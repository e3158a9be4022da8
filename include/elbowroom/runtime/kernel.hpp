#pragma once

#include <array>
#include <span>
#include <tuple>
#include <utility>

#include "elbowroom/backend/launcher.hpp"

namespace elbowroom {

/// A kernel of the application that takes `Parameters`, so that a launch with other arguments does not compile. Made by interop/.
template <class... Parameters>
class KernelOf {
 public:
  explicit KernelOf(Kernel kernel) : kernel_(kernel) {}

  [[nodiscard]] const Kernel& untyped() const { return kernel_; }

 private:
  Kernel kernel_;
};

/// The arguments of one launch, as a driver takes them: the address of each. Neither copied nor moved, since the addresses are of
/// its own members.
template <class... Parameters>
class KernelArguments {
 public:
  explicit KernelArguments(Parameters... arguments) : values_(std::move(arguments)...) {
    std::apply([this](auto&... value) { addresses_ = {static_cast<void*>(&value)...}; }, values_);
  }
  KernelArguments(const KernelArguments&) = delete;
  KernelArguments& operator=(const KernelArguments&) = delete;

  [[nodiscard]] std::span<void*> addresses() { return addresses_; }

 private:
  std::tuple<Parameters...> values_;
  std::array<void*, sizeof...(Parameters)> addresses_;
};

}  // namespace elbowroom
