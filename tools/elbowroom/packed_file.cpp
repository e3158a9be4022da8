#include "packed_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstddef>
#include <memory>

#include "base/files.hpp"

#if ELBOWROOM_BUILD_HAS_ZLIB
#include <zlib.h>
#else
#include <fstream>
#endif

namespace elbowroom {
namespace {

constexpr std::size_t kMostText = std::size_t{1} << 30;
constexpr std::size_t kPiece = std::size_t{1} << 20;

Error too_long(const std::string& path) { return invalid_input(fmt::format("{}: over 1 GiB of text, expected less", path)); }

#if ELBOWROOM_BUILD_HAS_ZLIB

struct Close {
  void operator()(gzFile file) const { gzclose(file); }
};

/// A small file may unpack to any size. Documents and traces take a tenth to a thirtieth of their text.
bool is_bomb(std::size_t text, gzFile file) {
  constexpr std::size_t harmless = std::size_t{64} << 20;
  constexpr std::size_t most_times = 200;
  const auto packed = gzoffset(file);
  return text > harmless && packed > 0 && text / most_times > static_cast<std::size_t>(packed);
}

/// Why zlib cannot unpack a file.
Error not_read(const std::string& path, gzFile file) {
  int code = Z_OK;
  gzerror(file, &code);
  if (code == Z_ERRNO) { return invalid_input(detail::cannot("read", path)); }
  return invalid_input(fmt::format("{}: packed by gzip and damaged, expected a whole file", path));
}

#endif

}  // namespace

#if ELBOWROOM_BUILD_HAS_ZLIB

Result<std::string> read_packed_file(const std::string& path) {
  errno = 0;
  const std::unique_ptr<gzFile_s, Close> file(gzopen(path.c_str(), "rb"));
  if (!file) { return invalid_input(detail::cannot("read", path)); }
  std::string text;
  for (int got = 1; got > 0;) {
    const std::size_t filled = text.size();
    if (filled > kMostText) { return too_long(path); }
    if (is_bomb(filled, file.get())) {
      return invalid_input(fmt::format("{}: over 200 times as much text as the packed file, expected a document or trace", path));
    }
    text.resize(filled + kPiece);
    got = gzread(file.get(), text.data() + filled, static_cast<unsigned>(kPiece));
    text.resize(filled + static_cast<std::size_t>(got > 0 ? got : 0));
    // A file that was cut off ends without an error of the read.
    int code = Z_OK;
    gzerror(file.get(), &code);
    if (got < 0 || code < 0) { return not_read(path, file.get()); }
  }
  return text;
}

#else

Result<std::string> read_packed_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::string piece(kPiece, '\0');
  while (file) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    text.append(piece, 0, static_cast<std::size_t>(file.gcount()));
    if (text.size() > kMostText) { return too_long(path); }
  }
  if (!file.eof()) { return invalid_input(detail::cannot("read", path)); }
  const bool packed = text.starts_with("\x1f\x8b");
  return packed ? Result<std::string>(invalid_input(
                      fmt::format("{}: packed by gzip, expected plain text: this program was built without zlib", path)))
                : Result<std::string>(std::move(text));
}

#endif

bool unpacks_gzip() { return ELBOWROOM_BUILD_HAS_ZLIB != 0; }

}  // namespace elbowroom
