#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "elbowroom/base/notice.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::detail {

/// A document of ours that many processes read and add to.
struct StoredDocument {
  std::string path;  ///< no link
  std::string_view schema;
  std::string_view what;  ///< in messages: "profile"
};
inline constexpr std::size_t kGreatestStored = std::size_t{64} << 20;

/// Absent where there is no such file. `invalid_input`, one line, for what cannot be read, is no regular file or over
/// kGreatestStored.
Result<std::optional<std::string>> read_stored(const StoredDocument& document);

/// Whether it can be kept there: asked before what would be lost otherwise. `invalid_input` where the folder or a lock that
/// is there cannot be written, where something other than a regular file is, and for another document by its own word.
Status can_store(const StoredDocument& document);

/// Makes the next text of the last one, which is empty where there is none; fails where the last one is damaged.
using Rewriting = std::function<Result<std::string>(const std::string& text)>;

/// Replaces the document by what `rewriting` makes of it. Several writers at once, in one process or many, lose nothing. Each holds
/// a lock on `path`.lock while it reads and replaces the file, and waits five seconds at most for a holder that writes nothing:
/// then it is `failed`. The lock is open to those alone who may replace the document. Where the file system has no locks the
/// document is stored without, with a notice. The file is complete and on disk before it gets its name. A damaged file, not one
/// that cannot be read just now, is kept as `path`.damaged (.damaged.2, ...), with one warning, and begun anew. The lock file
/// stays. `invalid_input` as can_store says.
Status rewrite_stored(const StoredDocument& document, const Rewriting& rewriting, const NoticeSink& notice);

}  // namespace elbowroom::detail
