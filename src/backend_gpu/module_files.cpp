#include "backend_gpu/module_files.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <ios>

namespace elbowroom::gpu {
namespace {

constexpr std::size_t kGreatestModule = std::size_t{1} << 30;
constexpr std::size_t kPieceOfFile = std::size_t{1} << 20;

}  // namespace

Result<std::string> read_module_file(const std::string& path) {
  const auto wrong = [&](std::string_view why) { return invalid_input(fmt::format("compute.file: {}: {}", path, why)); };
  std::ifstream file(path, std::ios::binary);
  if (!file) { return wrong(std::strerror(errno)); }
  std::string image;
  std::string piece(kPieceOfFile, '\0');
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) || file.gcount() > 0) {
    image.append(piece, 0, static_cast<std::size_t>(file.gcount()));
    if (image.size() > kGreatestModule) { return wrong("more than 1 GiB, expected a cubin, fatbin, PTX or code object"); }
  }
  if (file.bad() || image.empty()) { return wrong("nothing could be read, expected a cubin, fatbin, PTX or code object"); }
  return image;
}

Result<ModuleFiles::Module> ModuleFiles::module_of(const std::string& file, int device) {
  const std::pair key(file, device);
  if (const auto known = modules_.find(key); known != modules_.end()) { return known->second; }
  const Result<std::string> image = read_module_file(file);
  if (!image) { return image.error(); }
  Result<Module> module = load_(*image);
  if (!module) { return invalid_input(fmt::format("compute.file: {}: {}", file, module.error().message)); }
  return modules_.emplace(key, std::move(*module)).first->second;
}

Result<Function> ModuleFiles::function(const std::string& file, const std::string& name, int device) {
  const Result<Module> module = module_of(file, device);
  if (!module) { return module.error(); }
  const Result<Function> found = find_(module->get(), name);
  if (found) { return *found; }
  return invalid_input(
      fmt::format("compute.function: {}, expected a kernel of {} as it is named there ({})", name, file, found.error().message));
}

}  // namespace elbowroom::gpu
