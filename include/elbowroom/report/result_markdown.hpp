#pragma once

#include <string>
#include <string_view>

#include "elbowroom/base/export.hpp"

namespace elbowroom {

struct ResultDocument;

/// What the comment in the first line says, which no viewer shows: later tables may replace these.
inline constexpr std::string_view kMarkdownSchema = "elbowroom.markdown/1";

/// The tables of a run for docs/results: the origin of the figures, then a heading, a table, notes and refusals for each case.
/// The best row of a case is bold. Headings are of level 3.
ELBOWROOM_API std::string to_markdown(const ResultDocument& document);

}  // namespace elbowroom
