#include "preload/program_file.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace elbowroom::preload {
namespace {

using Kind = ProgramFile::Kind;

/// A structure of the file at `offset`; absent where it is not all there.
template <class Structure>
std::optional<Structure> read_at(std::string_view bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(Structure)) { return std::nullopt; }
  Structure read;
  std::memcpy(&read, bytes.data() + offset, sizeof read);
  return read;
}

Kind kind_of_elf(std::string_view bytes) {
  const auto header = read_at<Elf64_Ehdr>(bytes, 0);
  if (!header || header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_phentsize != sizeof(Elf64_Phdr)) { return Kind::other; }
  for (std::uint64_t i = 0; i < header->e_phnum; ++i) {
    if (header->e_phoff > bytes.size()) { return Kind::other; }
    const auto segment = read_at<Elf64_Phdr>(bytes, header->e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment) { return Kind::other; }
    if (segment->p_type == PT_INTERP) { return Kind::loaded; }
  }
  return Kind::static_elf;
}

/// "#! /usr/bin/env python3" -> "/usr/bin/env"; the kernel takes blanks and tabs between.
std::string interpreter_of(std::string_view line) {
  constexpr const char* blanks = " \t";
  line = line.substr(0, line.find('\n'));
  line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
  return std::string(line.substr(0, line.find_first_of(blanks)));
}

}  // namespace

ProgramFile program_file(std::string_view begin) {
  if (begin.starts_with("#!")) { return {Kind::script, interpreter_of(begin.substr(2))}; }
  return {begin.starts_with(std::string_view(ELFMAG, SELFMAG)) ? kind_of_elf(begin) : Kind::other};
}

std::optional<std::string> why_unseen(ProgramFile::Kind kind) {
  if (kind == Kind::static_elf) { return "is linked statically: no library can be preloaded into it"; }
  return std::nullopt;
}

}  // namespace elbowroom::preload
