#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "elbowroom/base/result.hpp"
#include "explain/byte_source.hpp"

namespace elbowroom::explain {

/// How much of a source tells whether it is an archive.
inline constexpr std::size_t kTarBlock = 512;

/// Whether these first bytes begin a tar archive, POSIX's or GNU's.
bool is_tar(std::string_view first);

/// What stands before a regular file in an archive of POSIX's; the file is filled up with zeroes to whole blocks, and two blocks of
/// zeroes end the archive. `name` has at most 100 characters.
std::string tar_header(std::string_view name, std::uint64_t size);

/// The regular files of a tar archive, one behind the other: the current one is what it reads.
class TarFiles final : public ByteSource {
 public:
  explicit TarFiles(ByteSource& archive) : archive_(archive) {}

  /// Moves to the next regular file and gives its name; absent at the end.
  Result<std::optional<std::string>> next();
  Result<std::size_t> read(std::span<char> into) override;

 private:
  Status skip(std::uint64_t bytes);
  /// The whole of the current entry, which is a long name.
  Result<std::string> rest_of_entry();

  ByteSource& archive_;
  std::uint64_t left_ = 0;     ///< of the current file
  std::uint64_t padding_ = 0;  ///< behind it, up to the next block
};

}  // namespace elbowroom::explain
