#include "run_program.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

namespace elbowroom {
namespace {

namespace fs = std::filesystem;

/// As the kernel follows scripts whose interpreter is a script.
constexpr int kMostScripts = 4;

bool can_be_run(const std::string& file) {
  std::error_code unknown;
  return fs::is_regular_file(file, unknown) && access(file.c_str(), X_OK) == 0;
}

std::string begin_of(const std::string& file) {
  std::string bytes(can_be_run(file) ? preload::kProgramFileBegin : 0, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(stream.gcount()));
  return bytes;
}

}  // namespace

std::string found_in_path(const std::string& program) {
  if (program.find('/') != std::string::npos) { return program; }
  const char* const path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "/bin:/usr/bin" : path;
  while (true) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    std::string file = (fs::path(folder.empty() ? "." : folder) / program).string();
    if (can_be_run(file)) { return file; }
    if (folder.size() == rest.size()) { return {}; }
    rest.remove_prefix(folder.size() + 1);
  }
}

preload::ProgramFile::Kind program_kind(const std::string& program) {
  std::string file = found_in_path(program);
  for (int scripts = 0; scripts <= kMostScripts; ++scripts) {
    preload::ProgramFile read = preload::program_file(begin_of(file));
    if (read.kind != preload::ProgramFile::Kind::script) { return read.kind; }
    file = std::move(read.interpreter);
  }
  return preload::ProgramFile::Kind::other;
}

std::string interpreter_of_script(const std::string& program) {
  return preload::program_file(begin_of(found_in_path(program))).interpreter;
}

}  // namespace elbowroom
