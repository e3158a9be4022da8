#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace elbowroom::preload {

/// What the begin of a program's file says of how it is started.
struct ProgramFile {
  enum class Kind : std::uint8_t {
    other,       ///< of another kind, or its loader is not among these bytes
    loaded,      ///< a dynamic loader starts it
    static_elf,  ///< no loader: nothing can be preloaded
    script       ///< another program reads it
  };
  Kind kind = Kind::other;
  std::string interpreter = {};  ///< of a script; else empty
};

/// Bytes that are enough for what linkers make: they write the program headers and the loader's name first.
inline constexpr std::size_t kProgramFileBegin = 64 << 10;

/// Of the first bytes of a file, whatever they are.
ProgramFile program_file(std::string_view begin);

/// Why a process of this program cannot be seen, in words that follow its name; absent where it can be, or where that is not known.
std::optional<std::string> why_unseen(ProgramFile::Kind kind);

}  // namespace elbowroom::preload
