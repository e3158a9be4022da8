#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "backend_gpu/calls.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::gpu {

/// A file of at most 1 GiB. `invalid_input` that begins with "compute.file".
Result<std::string> read_module_file(const std::string& path);

/// Users' modules, loaded once on each device and kept. Used by one thread at a time.
class ModuleFiles {
 public:
  using Module = std::shared_ptr<void>;
  /// Loads an image on the current device.
  using Load = std::function<Result<Module>(const std::string& image)>;
  using Find = std::function<Result<Function>(void* module, const std::string& name)>;

  ModuleFiles(Load load, Find find) : load_(std::move(load)), find_(std::move(find)) {}

  /// `device` is current. `invalid_input` that names the member of the scenario.
  Result<Function> function(const std::string& file, const std::string& name, int device);

 private:
  Result<Module> module_of(const std::string& file, int device);

  Load load_;
  Find find_;
  std::map<std::pair<std::string, int>, Module> modules_;
};

}  // namespace elbowroom::gpu
