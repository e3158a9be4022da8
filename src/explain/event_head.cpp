#include "explain/event_head.hpp"

#include <cstddef>

namespace elbowroom::explain {

std::optional<HeadMember> EventHead::next() {
  if (!take(before_)) { return std::nullopt; }
  before_ = ',';
  const std::optional<std::string_view> key = take_text();
  if (!key || !take(':')) { return std::nullopt; }
  const std::optional<std::string_view> value = take_text();
  return value ? std::optional(HeadMember{*key, *value}) : std::nullopt;
}

void EventHead::skip_spaces() {
  std::size_t count = 0;
  while (count < rest_.size() && (rest_[count] == ' ' || rest_[count] == '\n' || rest_[count] == '\r' || rest_[count] == '\t')) {
    ++count;
  }
  rest_.remove_prefix(count);
}

bool EventHead::take(char c) {
  skip_spaces();
  if (rest_.empty() || rest_.front() != c) { return false; }
  rest_.remove_prefix(1);
  return true;
}

std::optional<std::string_view> EventHead::take_text() {
  if (!take('"')) { return std::nullopt; }
  // Keys, phases and categories are short: a search by the library costs more than it saves.
  std::size_t end = 0;
  while (end < rest_.size() && rest_[end] != '"' && rest_[end] != '\\') { ++end; }
  if (end == rest_.size() || rest_[end] == '\\') { return std::nullopt; }
  const std::string_view text = rest_.substr(0, end);
  rest_.remove_prefix(end + 1);
  return text;
}

}  // namespace elbowroom::explain
