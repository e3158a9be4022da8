#include "preload/program_file.hpp"

#include <elf.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <fstream>

namespace elbowroom::preload {
namespace {

using Kind = ProgramFile::Kind;

/// A 64-bit ELF file of two program headers, the second of which is of this type, and the loader's name behind them.
std::string elf(std::uint32_t type, const std::string& loader) {
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 2;
  std::array<Elf64_Phdr, 2> segments = {};
  segments[0].p_type = PT_LOAD;
  segments[1].p_type = type;
  segments[1].p_offset = sizeof header + sizeof segments;
  segments[1].p_filesz = loader.size() + 1;
  std::string bytes(sizeof header + sizeof segments, '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, segments.data(), sizeof segments);
  return bytes + loader + '\0';
}

Kind kind_of(const std::string& bytes) { return program_file(bytes).kind; }

TEST(ProgramFile, IsToldByItsLoader) {
  EXPECT_EQ(kind_of(elf(PT_INTERP, "/lib64/ld-linux-x86-64.so.2")), Kind::loaded);
  EXPECT_EQ(kind_of(elf(PT_INTERP, "/nix/store/glibc/lib/ld-linux-aarch64.so.1")), Kind::loaded);
  EXPECT_EQ(kind_of(elf(PT_NOTE, "")), Kind::static_elf);
}

TEST(ProgramFile, OfAScriptNamesItsInterpreter) {
  EXPECT_EQ(program_file("#!/bin/sh\nexit").interpreter, "/bin/sh");
  EXPECT_EQ(program_file("#! \t/usr/bin/env python3\n").interpreter, "/usr/bin/env");
  EXPECT_EQ(program_file("#!/bin/sh").interpreter, "/bin/sh");
  EXPECT_EQ(program_file("#!\n").interpreter, "");
  EXPECT_EQ(kind_of("#!"), Kind::script);
}

// Each of the first bytes of a file may be all that there is, and any byte may be another.
TEST(ProgramFile, IsAnotherKindWhereItCannotBeTold) {
  EXPECT_EQ(kind_of(""), Kind::other);
  EXPECT_EQ(kind_of("MZ"), Kind::other);
  const std::string whole = elf(PT_INTERP, "/lib64/ld-linux-x86-64.so.2");
  const std::size_t headers = sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr);
  for (std::size_t length = 0; length < headers; ++length) { EXPECT_EQ(kind_of(whole.substr(0, length)), Kind::other) << length; }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char byte : {'\x00', '\x7f', '\xff'}) {
      std::string other = whole;
      other[at] = byte;
      kind_of(other);  // an address sanitizer looks on
    }
  }
  std::string narrow = whole;
  narrow[EI_CLASS] = ELFCLASS32;
  EXPECT_EQ(kind_of(narrow), Kind::other);
}

TEST(ProgramFile, OfThisTestIsLoaded) {
  std::ifstream self("/proc/self/exe", std::ios::binary);
  std::string begin(kProgramFileBegin, '\0');
  self.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(self.gcount()));
  EXPECT_EQ(kind_of(begin), Kind::loaded);
}

TEST(ProgramFile, SaysWhatCannotBeSeen) {
  EXPECT_EQ(why_unseen(Kind::static_elf), "is linked statically: no library can be preloaded into it");
  EXPECT_FALSE(why_unseen(Kind::loaded));
  EXPECT_FALSE(why_unseen(Kind::other));
}

}  // namespace
}  // namespace elbowroom::preload
