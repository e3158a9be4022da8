#include "preload/core/rules.hpp"

#include <charconv>
#include <string_view>

namespace headroom::preload {
namespace {

constexpr std::string_view kBlank = " \t\r";

struct PolicyWord {
  Policy policy;
  const char* word;
};
constexpr std::array<PolicyWord, 5> kPolicies = {{{Policy::observe, "observe"},
                                                  {Policy::priority, "priority"},
                                                  {Policy::gate, "gate"},
                                                  {Policy::shape, "shape"},
                                                  {Policy::automatic, "auto"}}};

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) { return {}; }
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

bool parse_positive(std::string_view text, std::uint32_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number > 0;
}

bool add_cap(std::string_view argument, Rules& rules) {
  // The last word is the number: a demangled kernel name may hold blanks.
  const std::size_t gap = argument.find_last_of(kBlank);
  if (gap == std::string_view::npos || rules.cap_count == Rules::kMaxCaps) { return false; }
  const std::string_view name = trimmed(argument.substr(0, gap));
  CapRule& rule = rules.caps[rules.cap_count];
  if (name.empty() || name.size() >= rule.name.size() || !parse_positive(argument.substr(gap + 1), rule.blocks_per_sm)) {
    return false;
  }
  name.copy(rule.name.data(), name.size());
  rule.name[name.size()] = '\0';
  ++rules.cap_count;
  return true;
}

bool parse_rule(std::string_view line, Rules& rules) {
  const std::size_t gap = line.find_first_of(kBlank);
  const std::string_view word = line.substr(0, gap);
  const std::string_view argument = gap == std::string_view::npos ? std::string_view() : trimmed(line.substr(gap));
  if (word == "cap") { return add_cap(argument, rules); }
  if (word == "sm_target") { return parse_positive(argument, rules.sm_target); }
  if (argument != "off") { return false; }
  if (word == "gate") { rules.gate = false; }
  if (word == "priority") { rules.priority = false; }
  if (word == "timing") { rules.timing = false; }
  if (word == "ab") { rules.trial = false; }
  return word == "gate" || word == "priority" || word == "timing" || word == "ab";
}

}  // namespace

bool parse_policy(const char* word, Policy& policy) {
  for (const PolicyWord& known : kPolicies) {
    if (std::string_view(known.word) == word) {
      policy = known.policy;
      return true;
    }
  }
  return false;
}

const char* text(Policy policy) { return kPolicies[static_cast<std::size_t>(policy)].word; }

std::size_t parse_rules(const char* text, std::size_t size, Rules& rules) {
  std::string_view rest(text, size);
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = trimmed(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    if (line.empty() || line.front() == '#') { continue; }
    if (!parse_rule(line, rules)) { return number; }
  }
  return 0;
}

}  // namespace headroom::preload
