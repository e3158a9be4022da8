#include "byte_sources.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.hpp"

#if ELBOWROOM_BUILD_HAS_ZLIB
#include <zlib.h>
#endif
#if ELBOWROOM_BUILD_HAS_ZSTD
#include <zstd.h>
#endif

namespace elbowroom {
namespace {

using explain::ByteSource;
using explain::TextSource;

constexpr std::size_t kSourcePiece = std::size_t{1} << 18;

class FileSource final : public ByteSource {
 public:
  FileSource(int descriptor, bool own) : descriptor_(descriptor), own_(own) {}
  ~FileSource() override {
    if (own_) { close(descriptor_); }
  }

  Result<std::size_t> read(std::span<char> into) override {
    for (;;) {
      const ssize_t got = ::read(descriptor_, into.data(), into.size());
      if (got >= 0) { return static_cast<std::size_t>(got); }
      if (errno != EINTR) { return invalid_input(std::string("it cannot be read: ") + std::strerror(errno)); }
    }
  }

 private:
  int descriptor_;
  bool own_;
};

/// First bytes that were looked at, and what follows them.
class WithFirst final : public ByteSource {
 public:
  WithFirst(std::string first, std::unique_ptr<ByteSource> rest) : rest_(std::move(rest)), whole_(std::move(first), rest_.get()) {}

  Result<std::size_t> read(std::span<char> into) override { return whole_.read(into); }

 private:
  std::unique_ptr<ByteSource> rest_;
  TextSource whole_;
};

#if ELBOWROOM_BUILD_HAS_ZLIB

class GzipSource final : public ByteSource {
 public:
  explicit GzipSource(std::unique_ptr<ByteSource> packed) : packed_(std::move(packed)), input_(kSourcePiece) {
    good_ = inflateInit2(&stream_, 15 + 32) == Z_OK;  // gzip's header or zlib's
  }
  ~GzipSource() override { inflateEnd(&stream_); }

  Result<std::size_t> read(std::span<char> into) override {
    stream_.next_out = reinterpret_cast<Bytef*>(into.data());
    stream_.avail_out = static_cast<uInt>(into.size());
    while (good_ && stream_.avail_out == into.size()) {
      if (stream_.avail_in == 0) {
        Result<std::size_t> got = packed_->read(input_);
        if (!got) { return got; }
        if (*got == 0) {
          return inside_ ? Result<std::size_t>(invalid_input("packed by gzip and cut off")) : Result<std::size_t>(0);
        }
        stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
        stream_.avail_in = static_cast<uInt>(*got);
      }
      inside_ = true;
      const int code = inflate(&stream_, Z_NO_FLUSH);
      if (code == Z_STREAM_END) {
        inside_ = false;  // another member may follow
        good_ = inflateReset(&stream_) == Z_OK;
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        good_ = false;
      }
    }
    const std::size_t unpacked = into.size() - stream_.avail_out;
    if (unpacked == 0 && !good_) { return invalid_input("packed by gzip and damaged"); }
    return unpacked;
  }

 private:
  std::unique_ptr<ByteSource> packed_;
  std::vector<char> input_;
  z_stream stream_{};
  bool good_ = false;
  bool inside_ = false;
};

#endif

#if ELBOWROOM_BUILD_HAS_ZSTD

struct FreeStream {
  void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
};

class ZstdSource final : public ByteSource {
 public:
  explicit ZstdSource(std::unique_ptr<ByteSource> packed)
      : packed_(std::move(packed)), input_(kSourcePiece), stream_(ZSTD_createDStream()) {}

  Result<std::size_t> read(std::span<char> into) override {
    ZSTD_outBuffer out{into.data(), into.size(), 0};
    while (out.pos == 0) {
      if (in_.pos == in_.size && !full_) {
        Result<std::size_t> got = packed_->read(input_);
        if (!got) { return got; }
        if (*got == 0) {
          return inside_ ? Result<std::size_t>(invalid_input("packed by zstd and cut off")) : Result<std::size_t>(0);
        }
        in_ = {input_.data(), *got, 0};
      }
      const std::size_t left = ZSTD_decompressStream(stream_.get(), &out, &in_);
      if (ZSTD_isError(left) != 0) { return invalid_input("packed by zstd and damaged"); }
      inside_ = left != 0;
      full_ = out.pos == out.size;
    }
    return out.pos;
  }

 private:
  std::unique_ptr<ByteSource> packed_;
  std::vector<char> input_;
  std::unique_ptr<ZSTD_DStream, FreeStream> stream_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  bool inside_ = false;
  bool full_ = false;  ///< the last output was: more may come without input
};

#endif

}  // namespace

Result<std::unique_ptr<ByteSource>> open_bytes(const std::string& path) {
  if (path == "-") { return std::unique_ptr<ByteSource>(std::make_unique<FileSource>(STDIN_FILENO, false)); }
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) { return invalid_input(detail::cannot("read", path)); }
  return std::unique_ptr<ByteSource>(std::make_unique<FileSource>(descriptor, true));
}

Result<std::unique_ptr<ByteSource>> unpacked(std::unique_ptr<ByteSource> packed) {
  Result<std::string> first = TextSource::first_of(*packed, 4);
  if (!first) { return first.error(); }
  const bool gzip = first->starts_with("\x1f\x8b");
  const bool zstd = *first == "\x28\xb5\x2f\xfd";
  if (first->starts_with("PK\x03\x04")) {
    return invalid_input("a zip archive, expected a tar archive or one trace packed by gzip or zstd");
  }
  std::unique_ptr<ByteSource> whole = std::make_unique<WithFirst>(*std::move(first), std::move(packed));
  if (gzip) {
#if ELBOWROOM_BUILD_HAS_ZLIB
    return std::unique_ptr<ByteSource>(std::make_unique<GzipSource>(std::move(whole)));
#else
    return invalid_input("packed by gzip, expected plain text: this program was built without zlib");
#endif
  }
  if (zstd) {
#if ELBOWROOM_BUILD_HAS_ZSTD
    return std::unique_ptr<ByteSource>(std::make_unique<ZstdSource>(std::move(whole)));
#else
    return invalid_input("packed by zstd, expected gzip or plain text: this program was built without zstd");
#endif
  }
  return whole;
}

}  // namespace elbowroom
