#include "interposer/nccl/environment.hpp"

#include <pwd.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "interposer/core/conf_text.hpp"
#include "interposer/process/pages.hpp"

namespace elbowroom::interposer::nccl {
namespace {

bool keep(std::string_view value, Variable& variable) {
  const std::size_t size = value.size() < variable.text.size() ? value.size() : variable.text.size() - 1;
  value.copy(variable.text.data(), size);
  variable.text[size] = '\0';
  return variable.set = true;
}

bool from_file(const char* path, const char* name, Variable& variable) {
  const process::ReadFile file(path);
  const process::Pages pages(file.size());
  const std::string_view value = conf_value(file.read_into(pages), name);
  return value.data() != nullptr && keep(value, variable);
}

bool from_users_file(const char* name, Variable& variable) {
  const char* named = std::getenv("NCCL_CONF_FILE");
  if (named != nullptr && *named != '\0') { return from_file(named, name, variable); }
  passwd user{};
  passwd* found = nullptr;
  std::array<char, 4096> text;
  if (getpwuid_r(getuid(), &user, text.data(), text.size(), &found) != 0 || found == nullptr) { return false; }
  std::array<char, 1024> path;
  std::snprintf(path.data(), path.size(), "%s/.nccl.conf", found->pw_dir);
  return from_file(path.data(), name, variable);
}

}  // namespace

Variable variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) { return variable_of_files(name); }
  Variable variable;
  keep(value, variable);
  return variable;
}

bool any_set(std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(), [](const char* name) { return variable(name).set; });
}

bool sets_blocks() {
  return any_set({"NCCL_MIN_CTAS", "NCCL_MAX_CTAS", "NCCL_MIN_NCHANNELS", "NCCL_MAX_NCHANNELS", "NCCL_MIN_NRINGS",
                  "NCCL_MAX_NRINGS", "NCCL_ENV_PLUGIN"});
}

Variable variable_of_files(const char* name) {
  Variable variable;
  if (!from_users_file(name, variable)) { from_file("/etc/nccl.conf", name, variable); }
  return variable;
}

}  // namespace elbowroom::interposer::nccl
