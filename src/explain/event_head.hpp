#pragma once

#include <optional>
#include <string_view>

namespace elbowroom::explain {

/// A member of an event whose value is a text.
struct HeadMember {
  std::string_view key, value;
};

/// Reads the members that stand first in the text of an event, one by one, without parsing the event: Kineto begins with "ph",
/// "cat" and "name". It ends at the first member that is no text without backslashes. The text outlives this.
class EventHead {
 public:
  explicit EventHead(std::string_view text) : rest_(text) {}

  std::optional<HeadMember> next();

 private:
  void skip_spaces();
  bool take(char c);
  std::optional<std::string_view> take_text();

  std::string_view rest_;
  char before_ = '{';  ///< of the next member
};

}  // namespace elbowroom::explain
