#pragma once

#include <string>
#include <string_view>

#include "elbowroom/base/notice.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom {

/// Occupies the standard streams that are closed, so that no file that is opened later takes their place and what is printed goes
/// there. Writing to them still fails; a command that `run` starts finds them closed.
void occupy_standard_streams();

/// To standard output, at once.
Status print(std::string_view text);

/// A table that goes along with documents: a reader that has gone is no reason to lose those. Lines that are longer than a terminal
/// go on in the next one; `wide` leaves them.
Status print_table(std::string_view text, bool wide = false);

/// To standard error. What cannot be written there is lost: no outcome depends on it.
void print_error(std::string_view text);

/// Lines that move no cursor: other control characters are replaced.
std::string printable(std::string text);

/// A line of `who`, "elbowroom run", to standard error. Whatever names and values it repeats, it stays one line of some length and
/// moves no cursor.
void print_notice(std::string_view who, std::string_view line);

/// The same of the library.
void print_notice(std::string_view line);

/// What the library says goes there.
NoticeSink notices();

/// The error as such a line; its exit code.
int complain(std::string_view who, const Error& error);

}  // namespace elbowroom
