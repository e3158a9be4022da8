#include "backend_cuda/launch_completion.hpp"

#include <cuda.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cstring>
#include <span>

#include "plan/control_name.hpp"

namespace elbowroom::cuda {
namespace {

// cuGetProcAddress has had this form since CUDA 12.0; the older one is handed out for older versions and left alone.
using GetProcAddress = CUresult(const char* symbol, void** function, int version, cuuint64_t flags,
                                CUdriverProcAddressQueryResult* found);
using Launch = CUresult(const CUlaunchConfig* config, CUfunction function, void** parameters, void** extra);
constexpr int kFiveArguments = 12'000;

/// A hook's form is the driver's: it is handed nothing of ours, so what it needs is found here. The functions are the same for the
/// whole process once known.
struct HookState {
  std::atomic<GetProcAddress*> get_proc_address{nullptr};
  std::atomic<Launch*> launch{nullptr};
};
HookState hooks;
thread_local LaunchCompletion* active = nullptr;

CUresult observed_launch(const CUlaunchConfig* config, CUfunction function, void** parameters, void** extra) {
  // More attributes than NCCL sets; a launch with more goes on unchanged and is missed by every_stream_launched().
  constexpr unsigned kRoom = 16;
  Launch* const real = hooks.launch.load();
  if (active == nullptr || config->numAttrs >= kRoom) { return real(config, function, parameters, extra); }
  const cudaEvent_t event = active->event_for(config->hStream);
  if (event == nullptr) { return real(config, function, parameters, extra); }

  std::array<CUlaunchAttribute, kRoom> attributes{};
  const std::span<const CUlaunchAttribute> asked(config->attrs, config->numAttrs);
  std::copy(asked.begin(), asked.end(), attributes.begin());
  CUlaunchAttribute& added = attributes[asked.size()];
  added.id = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT;
  added.value.launchCompletionEvent.event = event;
  added.value.launchCompletionEvent.flags = 0;
  CUlaunchConfig changed = *config;
  changed.attrs = attributes.data();
  changed.numAttrs = config->numAttrs + 1;
  return real(&changed, function, parameters, extra);
}

CUresult get_proc_address(const char* symbol, void** function, int version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult* found) {
  const CUresult answer = hooks.get_proc_address.load()(symbol, function, version, flags, found);
  if (answer != CUDA_SUCCESS || function == nullptr || *function == nullptr || symbol == nullptr) { return answer; }
  // The runtime asks for this very function again and uses the answer from then on.
  if (std::strcmp(symbol, "cuGetProcAddress") == 0 && version >= kFiveArguments) {
    *function = reinterpret_cast<void*>(&get_proc_address);
  } else if (std::strcmp(symbol, "cuLaunchKernelEx") == 0 && flags != CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) {
    hooks.launch.store(reinterpret_cast<Launch*>(*function));
    *function = reinterpret_cast<void*>(&observed_launch);
  }
  return answer;
}

void* find_symbol(void* handle, const char* name) {
  void* const found = dlsym(handle, name);
  if (found == nullptr || name == nullptr || std::strcmp(name, "cuGetProcAddress_v2") != 0) { return found; }
  hooks.get_proc_address.store(reinterpret_cast<GetProcAddress*>(found));
  return reinterpret_cast<void*>(&get_proc_address);
}

}  // namespace

Status observe_launches_of(const elbowroom::detail::DynamicLibrary& library) {
  return library.redirect_import("dlsym", &find_symbol);
}

LaunchCompletion::LaunchCompletion(const std::vector<gpu::StreamHandle>& streams, const std::vector<gpu::EventHandle>& events)
    : streams_(streams), events_(events), launched_(streams.size(), false) {
  active = this;
}

LaunchCompletion::~LaunchCompletion() { active = nullptr; }

Status LaunchCompletion::every_stream_launched() const {
  for (const bool launched : launched_) {
    if (launched) { continue; }
    return failed(elbowroom::detail::refusal_of<&OverlapPlan::launch_gate>(
        "the collective's launch was not seen, so nothing can wait for its blocks"));
  }
  return {};
}

cudaEvent_t LaunchCompletion::event_for(cudaStream_t stream) {
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    if (native(streams_[i]) != stream) { continue; }
    launched_[i] = true;
    return native(events_[i]);
  }
  return nullptr;
}

}  // namespace elbowroom::cuda
