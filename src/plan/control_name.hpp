#pragma once

#include <string>
#include <string_view>

#include "plan/member_access.hpp"

namespace elbowroom::detail {

/// The name in the row that reads a plan's member this way, which must be one of controls() or follow one.
std::string_view name_of_row(MemberValue (*get)(const OverlapPlan& plan));

/// The name of a member of a plan, as its row has it: name_of<&OverlapPlan::launch_gate>().
template <auto member>
std::string_view name_of() {
  return name_of_row(get_member<member>);
}

/// Why a launch cannot have what a member of its plan says. Like what check_launch() says, it begins with the member's name.
template <auto member>
std::string refusal_of(std::string_view why) {
  return std::string(name_of<member>()).append(": ").append(why);
}

}  // namespace elbowroom::detail
