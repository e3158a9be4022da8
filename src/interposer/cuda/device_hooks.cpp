#include "interposer/cuda/hooked_functions.hpp"
#include "interposer/cuda/interposer.hpp"
#include "interposer/driver/host_hooks.hpp"
#include "interposer/driver/stream_hooks.hpp"
#include "interposer/process/routes.hpp"

// What orders devices among each other, and events that nobody here records.

namespace elbowroom::interposer::cuda {
namespace {

using HostHooks = driver::HostHooks<Driver>;

/// The scope of a copy that may be between two devices, on the legacy stream or without a stream. It comes after what the blocking
/// streams of both hold, and what follows on those comes after it. The driver is asked whether it is, once and where that matters.
template <class Between>
class PerhapsBetweenDevices {
 public:
  PerhapsBetweenDevices(std::size_t bytes, cu::Stream stream, Between between)
      : state_(bytes == 0 || reinterpret_cast<std::uintptr_t>(stream) > Driver::kStreamLegacy ? nullptr : interposer()),
        between_(between),
        told_(state_ != nullptr && !state_->core->at_rest()) {
    if (told_) { state_->core->begin_unplaced(); }
  }
  ~PerhapsBetweenDevices() {
    if (state_ == nullptr) { return; }
    Core& core = *state_->core;
    if (core.may_be_waited_for() && between_(*state_)) { core.on_devices_wait(); }
    if (told_) { core.end_unplaced(); }
  }
  PerhapsBetweenDevices(const PerhapsBetweenDevices&) = delete;
  PerhapsBetweenDevices& operator=(const PerhapsBetweenDevices&) = delete;

 private:
  Interposer* state_;
  Between between_;
  const bool told_;
};

// Whose devices these are stands in what the program hands over, and is not read.
bool perhaps(Interposer& /*state*/) { return true; }

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
int cuMemcpy3DPeer(const void* copy) {
  const PerhapsBetweenDevices some(1, nullptr, &perhaps);
  return call_real<&cuMemcpy3DPeer>(copy);
}
int cuMemcpy3DPeer_ptds(const void* copy) {
  const PerhapsBetweenDevices some(1, nullptr, &perhaps);
  return call_real<&cuMemcpy3DPeer_ptds>(copy);
}
int cuMemcpyPeerAsync(cu::DevicePointer to, cu::Context to_context, cu::DevicePointer from, cu::Context from_context,
                      std::size_t bytes, cu::Stream stream) {
  const PerhapsBetweenDevices copy(bytes, stream, between_contexts(to_context, from_context));
  return HostHooks::sized_operation<&cuMemcpyPeerAsync>(bytes, stream, to, to_context, from, from_context, bytes);
}
int cuMemcpy3DPeerAsync(const void* copy, cu::Stream stream) {
  const PerhapsBetweenDevices some(1, stream, &perhaps);
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
  elbowroom::interposer::stand_aside(elbowroom::interposer::Unusual::multi_device_launch);
  return call_real<&cuLaunchCooperativeKernelMultiDevice>(launches, devices, flags);
}

// What it waits for is done by who draws.
int cuEventCreateFromEGLSync(cu::Event* event, void* sync, unsigned flags) {
  const int result = call_real<&cuEventCreateFromEGLSync>(event, sync, flags);
  elbowroom::interposer::driver::StreamHooks<Driver>::tell_foreign(result, event);
  return result;
}
