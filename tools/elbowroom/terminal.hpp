#pragma once

#include <cstddef>
#include <optional>

namespace elbowroom {

/// Of the terminal that a stream goes to, now; absent: it goes elsewhere, or the terminal does not say.
std::optional<std::size_t> terminal_columns(int stream);

/// What a table on standard output may have: the terminal's columns; all where it goes elsewhere, or for `--wide`.
std::size_t table_columns(bool wide);

/// Whether colours are shown there: on a terminal that is not "dumb", unless NO_COLOR is set to something.
bool shows_colors(int stream);

}  // namespace elbowroom
