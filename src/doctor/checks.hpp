#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doctor/facts.hpp"

namespace elbowroom::doctor {

enum class State {
  ok,
  to_do,   ///< something is in the way, and `to_do` says what to do about it
  absent,  ///< not here; nothing depends on it, or `to_do` says what it would take
};

std::string_view text(State state);

struct Check {
  std::string name;
  State state = State::ok;
  std::string found;
  std::string to_do = {};
};

/// One check a subject, in the order in which they are read. Only the facts are looked at.
std::vector<Check> checks_of(const Facts& facts);

/// Lines of at most `width` columns, the summary first.
std::string to_table(const Facts& facts, const std::vector<Check>& checks, std::size_t width);

/// elbowroom.doctor/1
std::string to_json(const Facts& facts, const std::vector<Check>& checks);

/// Whether any check asks for something to be done.
bool has_work(const std::vector<Check>& checks);

}  // namespace elbowroom::doctor
