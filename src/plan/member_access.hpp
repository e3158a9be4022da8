#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include "elbowroom/base/quantities.hpp"
#include "elbowroom/plan/overlap_plan.hpp"
#include "elbowroom/plan/plan_member.hpp"

// Reads and writes a member of a plan as a count, whatever its type is.
namespace elbowroom::detail {

using MemberValue = std::optional<std::int64_t>;

inline MemberValue count_of(bool set) { return set ? MemberValue(1) : std::nullopt; }
inline MemberValue count_of(Bytes bytes) { return bytes.count(); }
inline MemberValue count_of(std::optional<int> number) { return number ? MemberValue(*number) : std::nullopt; }
template <class Unit>
MemberValue count_of(const std::optional<Quantity<Unit>>& amount) {
  return amount ? MemberValue(amount->count()) : std::nullopt;
}

inline void take_count(bool& set, MemberValue value) { set = value.has_value(); }
inline void take_count(Bytes& bytes, MemberValue value) { bytes = Bytes(value.value_or(0)); }
inline void take_count(std::optional<int>& number, MemberValue value) {
  number = value ? std::optional(static_cast<int>(*value)) : std::nullopt;
}
template <class Unit>
void take_count(std::optional<Quantity<Unit>>& amount, MemberValue value) {
  amount = value ? std::optional(Quantity<Unit>(*value)) : std::nullopt;
}

template <auto member>
MemberValue get_member(const OverlapPlan& plan) {
  return count_of(plan.*member);
}

template <auto member>
void put_member(OverlapPlan& plan, MemberValue value) {
  take_count(plan.*member, value);
}

constexpr std::int64_t kGreatestMember = 4096;

template <auto member>
constexpr PlanMember number(std::string_view name, std::string_view unit, std::string_view words, PlanColumn column,
                            std::int64_t least = 1, std::int64_t greatest = kGreatestMember) {
  return {name, unit, words, column, false, least, greatest, get_member<member>, put_member<member>};
}

template <auto member>
constexpr PlanMember toggle(std::string_view name, std::string_view words, PlanColumn column) {
  return {name, "", words, column, true, 1, 1, get_member<member>, put_member<member>};
}

}  // namespace elbowroom::detail
