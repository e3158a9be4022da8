#pragma once

#include <array>
#include <initializer_list>

namespace elbowroom::interposer::nccl {

/// The value of a variable of NCCL's.
struct Variable {
  std::array<char, 1024> text{};  ///< zero-terminated
  bool set = false;
};

/// As NCCL will see it: the environment, then the file of NCCL_CONF_FILE or ~/.nccl.conf, then /etc/nccl.conf. NCCL puts what the
/// files say into the environment at its first call. Ranks would differ in when they see it; this does not. Reads files: not for a
/// hot path.
Variable variable(const char* name);
bool any_set(std::initializer_list<const char*> names);
/// Some variable speaks of how many blocks a ring has.
bool sets_blocks();
/// Of the files alone, where this library has put its own value into the environment.
Variable variable_of_files(const char* name);

}  // namespace elbowroom::interposer::nccl
