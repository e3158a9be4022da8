#pragma once

#include <span>
#include <string>
#include <string_view>

#include "elbowroom/base/result.hpp"
#include "page/model.hpp"

namespace elbowroom::page {

/// Makes what the page shows of one kind of document. `text` says that it is of the schema. Whether it is whole is for `read` to
/// find: its errors are one line that begins with `source`. Nothing that a text can hold makes it throw.
struct Reader {
  std::string_view schema;
  std::string_view kind;  ///< in a word: "result"
  Result<Document> (*read)(std::string_view text, const std::string& source);
};

/// Another schema is one more row.
std::span<const Reader> readers();

/// The document in `text`, by the reader of its schema. `source` is the file's name.
Result<Document> read_document(std::string_view text, const std::string& source);

Result<Document> read_result(std::string_view text, const std::string& source);
Result<Document> read_tune(std::string_view text, const std::string& source);
Result<Document> read_run(std::string_view text, const std::string& source);
Result<Document> read_validation(std::string_view text, const std::string& source);
Result<Document> read_sweep(std::string_view text, const std::string& source);
Result<Document> read_transfer(std::string_view text, const std::string& source);
Result<Document> read_explain(std::string_view text, const std::string& source);
/// Traces may be large: the text is walked, not built.
Result<Document> read_trace(std::string_view text, const std::string& source);

}  // namespace elbowroom::page
