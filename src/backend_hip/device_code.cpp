#include "backend_hip/device_code.hpp"

#include <fmt/format.h>

#include "backend_hip/kernels/kernel_source.hpp"

namespace elbowroom::hip {

Result<gpu::Function> DeviceCode::function(const std::string& kernel, int device) {
  if (Status used = hip_->runtime().use_device(device); !used) { return used.error(); }
  const Result<HipModule> module = module_on(device);
  if (!module) { return module.error(); }
  gpu::Function function = nullptr;
  if (Status found = hip_->runtime().check(hip_->functions.module_get_function(&function, *module, kernel.c_str()),
                                           fmt::format("hipModuleGetFunction({})", kernel));
      !found) {
    return found.error();
  }
  return function;
}

Result<HipModule> DeviceCode::module_on(int device) {
  if (const auto known = modules_.find(device); known != modules_.end()) { return known->second.get(); }
  const Result<const std::string*> code = code_for(targets_[static_cast<std::size_t>(device)]);
  if (!code) { return code.error(); }
  HipModule module = nullptr;
  if (Status loaded = hip_->runtime().check(hip_->functions.module_load_data(&module, (*code)->data()), "hipModuleLoadData");
      !loaded) {
    return loaded.error();
  }
  return modules_.emplace(device, Module(module, {hip_->functions.module_unload})).first->second.get();
}

Result<const std::string*> DeviceCode::code_for(const std::string& target) {
  if (const auto known = code_.find(target); known != code_.end()) { return &known->second; }
  if (!compiler_) {
    Result<HiprtcLibrary> loaded = HiprtcLibrary::load(hip_->generation());
    if (!loaded) { return loaded.error(); }
    compiler_ = std::move(*loaded);
  }
  Result<std::string> code = compiler_->compile("elbowroom_kernels.hip", kernel_source(), target);
  if (!code) { return code.error(); }
  return &code_.emplace(target, std::move(*code)).first->second;
}

}  // namespace elbowroom::hip
