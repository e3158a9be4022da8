#include <optional>

#include "interposer/cuda/hooked_functions.hpp"
#include "interposer/cuda/interposer.hpp"
#include "interposer/driver/host_hooks.hpp"
#include "interposer/driver/stream_hooks.hpp"
#include "interposer/process/symbol_routes.hpp"

// What orders devices among each other, and events that nobody here records.

namespace elbowroom::interposer::cuda {
namespace {

using HostHooks = driver::HostHooks<Driver>;

// A copy between two devices on the legacy stream, or without a stream, comes after what the blocking streams of both hold. What
// follows on those comes after it. Other threads may launch meanwhile, so the core is told before the driver and after it.
template <auto Ours, class... Arguments>
int devices_wait(Arguments... arguments) {
  Interposer* state = interposer();
  if (state == nullptr) { return process::call_real<Ours>(arguments...); }
  state->core->on_devices_wait();
  const int result = process::call_real<Ours>(arguments...);
  state->core->on_devices_wait();
  return result;
}

/// Tells of a copy that may be between two devices. The driver is asked whether it is, at most once and where that matters.
template <class Between>
class PerhapsBetweenDevices {
 public:
  PerhapsBetweenDevices(std::size_t bytes, cu::Stream stream, Between between)
      : state_(bytes == 0 || reinterpret_cast<std::uintptr_t>(stream) > Driver::kStreamLegacy ? nullptr : interposer()),
        between_(between) {
    tell();
  }
  ~PerhapsBetweenDevices() { tell(); }
  PerhapsBetweenDevices(const PerhapsBetweenDevices&) = delete;
  PerhapsBetweenDevices& operator=(const PerhapsBetweenDevices&) = delete;

 private:
  void tell() {
    if (state_ == nullptr || !state_->core->may_be_waited_for()) { return; }
    if (!is_.has_value()) { is_ = between_(*state_); }
    if (*is_) { state_->core->on_devices_wait(); }
  }

  Interposer* state_;
  Between between_;
  std::optional<bool> is_;
};

auto between_contexts(cu::Context to, cu::Context from) {
  return [=](Interposer& state) { return state.driver.are_of_two_devices(to, from); };
}

auto between_memory(cu::DevicePointer to, cu::DevicePointer from) {
  return [=](Interposer& state) { return state.driver.are_of_two_devices(to, from); };
}

template <auto Ours>
int copy(cu::DevicePointer to, cu::DevicePointer from, std::size_t bytes, cu::Stream stream) {
  const PerhapsBetweenDevices copy(bytes, stream, between_memory(to, from));
  return HostHooks::sized_operation<Ours>(bytes, stream, to, from, bytes);
}

template <auto Ours>
int copy_without_stream(cu::DevicePointer to, cu::DevicePointer from, std::size_t bytes) {
  const PerhapsBetweenDevices copy(bytes, nullptr, between_memory(to, from));
  return bytes == 0 ? process::call_real<Ours>(to, from, bytes) : HostHooks::legacy_operation<Ours>(to, from, bytes);
}

}  // namespace
}  // namespace elbowroom::interposer::cuda

using namespace elbowroom::interposer::cuda;
using namespace elbowroom::interposer::process;

int cuMemcpyPeer(cu::DevicePointer to, cu::Context to_context, cu::DevicePointer from, cu::Context from_context,
                 std::size_t bytes) {
  const PerhapsBetweenDevices copy(bytes, nullptr, between_contexts(to_context, from_context));
  return bytes == 0 ? call_real<&cuMemcpyPeer>(to, to_context, from, from_context, bytes)
                    : HostHooks::legacy_operation<&cuMemcpyPeer>(to, to_context, from, from_context, bytes);
}
// On the thread's own stream such a copy is no operation of the legacy one. Whether it orders two devices was not measured.
int cuMemcpyPeer_ptds(cu::DevicePointer to, cu::Context to_context, cu::DevicePointer from, cu::Context from_context,
                      std::size_t bytes) {
  const PerhapsBetweenDevices copy(bytes, nullptr, between_contexts(to_context, from_context));
  return call_real<&cuMemcpyPeer_ptds>(to, to_context, from, from_context, bytes);
}
int cuMemcpy3DPeer(const void* copy) { return devices_wait<&cuMemcpy3DPeer>(copy); }
int cuMemcpy3DPeer_ptds(const void* copy) { return devices_wait<&cuMemcpy3DPeer_ptds>(copy); }
int cuMemcpyPeerAsync(cu::DevicePointer to, cu::Context to_context, cu::DevicePointer from, cu::Context from_context,
                      std::size_t bytes, cu::Stream stream) {
  const PerhapsBetweenDevices copy(bytes, stream, between_contexts(to_context, from_context));
  return HostHooks::sized_operation<&cuMemcpyPeerAsync>(bytes, stream, to, to_context, from, from_context, bytes);
}
int cuMemcpy3DPeerAsync(const void* copy, cu::Stream stream) {
  const PerhapsBetweenDevices some(1, stream, [](Interposer& /*state*/) { return true; });
  return HostHooks::stream_operation<&cuMemcpy3DPeerAsync>(stream, copy);
}
int cuMemcpyAsync(cu::DevicePointer to, cu::DevicePointer from, std::size_t bytes, cu::Stream stream) {
  return copy<&cuMemcpyAsync>(to, from, bytes, stream);
}
int cuMemcpyDtoDAsync_v2(cu::DevicePointer to, cu::DevicePointer from, std::size_t bytes, cu::Stream stream) {
  return copy<&cuMemcpyDtoDAsync_v2>(to, from, bytes, stream);
}
int cuMemcpy(cu::DevicePointer to, cu::DevicePointer from, std::size_t bytes) {
  return copy_without_stream<&cuMemcpy>(to, from, bytes);
}
int cuMemcpyDtoD_v2(cu::DevicePointer to, cu::DevicePointer from, std::size_t bytes) {
  return copy_without_stream<&cuMemcpyDtoD_v2>(to, from, bytes);
}

// Its kernels begin when all that their streams hold is over, and each stream goes on when all of them are. They may communicate.
int cuLaunchCooperativeKernelMultiDevice(void* launches, unsigned devices, unsigned flags) {
  note_unfollowed();
  return call_real<&cuLaunchCooperativeKernelMultiDevice>(launches, devices, flags);
}

// What it waits for is done by who draws.
int cuEventCreateFromEGLSync(cu::Event* event, void* sync, unsigned flags) {
  const int result = call_real<&cuEventCreateFromEGLSync>(event, sync, flags);
  elbowroom::interposer::driver::StreamHooks<Driver>::tell_foreign(result, event);
  return result;
}
