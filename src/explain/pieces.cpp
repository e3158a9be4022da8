#include "explain/pieces.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "explain/brackets.hpp"

namespace elbowroom::explain {
namespace {

constexpr std::size_t kAbsent = std::string::npos;
/// Longer events are damaged ones whose end was lost. Kineto's own stay below a tenth of it.
constexpr std::size_t kLongestEvent = std::size_t{1} << 20;
/// Members beside the events are a few kB: devices, groups of ranks.
constexpr std::size_t kLongestMember = std::size_t{1} << 24;

/// How far it goes byte by byte where 64 at a time are no way: behind a backslash, and at the end of what is there.
constexpr std::size_t kSlowly = 256;

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

/// What a byte outside of strings does to the depth.
enum class Mark : std::uint8_t { none, quote, open, close };

constexpr std::array<Mark, 256> marks() {
  std::array<Mark, 256> table{};
  table['"'] = Mark::quote;
  table['{'] = table['['] = Mark::open;
  table['}'] = table[']'] = Mark::close;
  return table;
}
constexpr std::array<Mark, 256> kMarks = marks();

enum class Begins : std::uint8_t { no, yes, unknown };

/// Whether a text that begins with a brace is an event: the name of a member that events have follows. Unknown where the text ends.
Begins begins_event(std::string_view text) {
  text.remove_prefix(1);
  while (!text.empty() && is_space(text.front())) { text.remove_prefix(1); }
  for (const std::string_view name : {"\"ph\"", "\"name\"", "\"cat\""}) {
    if (text.starts_with(name)) { return Begins::yes; }
    if (name.starts_with(text)) { return Begins::unknown; }
  }
  return Begins::no;
}

}  // namespace

void Pieces::feed(std::string_view text) {
  buffer_.append(text);
  while (advance()) {}
  buffer_.erase(0, begin_);
  cursor_ -= begin_;
  begin_ = 0;
}

void Pieces::finish() {
  const bool broken = place_ == Place::events && begin_ < buffer_.size();
  while (place_ == Place::events && begin_ + 1 < buffer_.size()) {
    const std::size_t before = begin_;
    looking_ = true;
    while (advance()) {}
    if (begin_ == before) { break; }
  }
  if (broken) { skipped_ += buffer_.size() - begin_; }
}

bool Pieces::advance() {
  switch (place_) {
    case Place::before:
    case Place::members:
      return advance_members();
    case Place::key:
      return advance_key();
    case Place::value:
      return advance_value();
    case Place::events:
      return advance_events();
    case Place::behind:
      drop(buffer_.size());
      return false;
  }
  return false;
}

void Pieces::drop(std::size_t end) {
  begin_ = cursor_ = end;
  depth_ = 0;
}

bool Pieces::advance_members() {
  if (begin_ == buffer_.size()) { return false; }
  const char c = buffer_[begin_];
  if (place_ == Place::before && (c == '{' || c == '[')) {
    in_object_ = c == '{';
    place_ = in_object_ ? Place::members : Place::events;
    has_events_ = !in_object_;
  } else if (place_ == Place::members && c == '"') {
    const std::size_t end = behind_string(begin_);
    if (end == kAbsent) {
      if (buffer_.size() - begin_ < kLongestEvent) { return false; }
      ++skipped_;
    } else {
      key_.assign(buffer_, begin_ + 1, end - begin_ - 2);
      place_ = Place::key;
      drop(end);
      return true;
    }
  } else if (place_ == Place::members && c == '}') {
    place_ = Place::behind;
  } else if (!is_space(c) && c != ',') {
    ++skipped_;
  }
  drop(begin_ + 1);
  return true;
}

bool Pieces::advance_key() {
  if (begin_ == buffer_.size()) { return false; }
  const char c = buffer_[begin_];
  if (is_space(c) || c == ':') {
    drop(begin_ + 1);
  } else if (c == '[' && key_ == "traceEvents") {
    has_events_ = true;
    place_ = Place::events;
    drop(begin_ + 1);
  } else {
    place_ = Place::value;
  }
  return true;
}

bool Pieces::advance_value() {
  const std::size_t end = behind_value();
  if (end == kAbsent) {
    if (buffer_.size() - begin_ < kLongestMember) { return false; }
    skipped_ += buffer_.size() - begin_;
    drop(buffer_.size());
  } else {
    sink_.member(key_, std::string_view(buffer_).substr(begin_, end - begin_));
    drop(end);
  }
  place_ = Place::members;
  return true;
}

bool Pieces::advance_events() {
  if (begin_ == buffer_.size()) { return false; }
  if (looking_) {
    find_next_event();
    return !looking_;
  }
  const char c = buffer_[begin_];
  if (c == '{') {
    const std::size_t end = behind_value();
    if (end != kAbsent) {
      take_event(end);
      return true;
    }
    if (buffer_.size() - begin_ < kLongestEvent) { return false; }
    looking_ = true;
    return true;
  }
  if (c == ']') {
    place_ = in_object_ ? Place::members : Place::behind;
  } else if (!is_space(c) && c != ',') {
    ++skipped_;
    looking_ = true;
    return true;
  }
  drop(begin_ + 1);
  return true;
}

void Pieces::take_event(std::size_t end) {
  if (sink_.event(std::string_view(buffer_).substr(begin_, end - begin_))) {
    drop(end);
  } else {
    looking_ = true;
  }
}

void Pieces::find_next_event() {
  for (std::size_t at = begin_ + 1;; ++at) {
    at = buffer_.find('{', at);
    if (at == kAbsent) {
      // The last byte stays, so that the search goes on behind it.
      skipped_ += buffer_.size() - 1 - begin_;
      drop(buffer_.size() - 1);
      return;
    }
    const Begins begins = begins_event(std::string_view(buffer_).substr(at));
    if (begins == Begins::no) { continue; }
    looking_ = begins == Begins::unknown;
    const std::size_t end = looking_ ? at - 1 : at;
    skipped_ += end - begin_;
    drop(end);
    return;
  }
}

std::size_t Pieces::behind_string(std::size_t at) const {
  const std::string_view text = buffer_;
  for (std::size_t from = at + 1;;) {
    // Names and words end within a few bytes, where a call costs more than it saves.
    const std::size_t near = std::min(text.size(), from + 16);
    std::size_t quote = from;
    while (quote < near && text[quote] != '"') { ++quote; }
    if (quote == near) { quote = text.find('"', quote); }
    if (quote == kAbsent) { return kAbsent; }
    std::size_t slashes = 0;
    while (quote - slashes > at + 1 && text[quote - slashes - 1] == '\\') { ++slashes; }
    if (slashes % 2 == 0) { return quote + 1; }
    from = quote + 1;
  }
}

std::size_t Pieces::behind_value() {
  const std::string_view text = buffer_;
  std::size_t at = cursor_;
  std::size_t depth = depth_;
  const auto pause = [&] {
    cursor_ = at;
    depth_ = depth;
    return kAbsent;
  };
  for (std::size_t slowly_to = 0; at < text.size();) {
    if (depth > 0 && at >= slowly_to) {
      Bracketed here{at, depth};
      if (const std::optional<std::size_t> end = behind_brackets(text, here)) { return *end; }
      at = here.at;
      depth = here.depth;
      slowly_to = at + kSlowly;
      if (at == text.size()) { break; }
    }
    const Mark mark = kMarks[static_cast<unsigned char>(text[at])];
    if (depth == 0 && at > begin_ && mark != Mark::open) {
      // A word or a number ends where its document goes on.
      if (is_space(text[at]) || text[at] == ',' || mark == Mark::close) { return at; }
    }
    if (mark == Mark::none) {
      ++at;
      continue;
    }
    if (mark == Mark::quote) {
      const std::size_t end = behind_string(at);
      if (end == kAbsent) { return pause(); }
      at = end;
      if (depth == 0) { return at; }
      continue;
    }
    ++at;
    if (mark == Mark::open) {
      ++depth;
    } else if (depth <= 1) {
      return at;
    } else {
      --depth;
    }
  }
  return pause();
}

}  // namespace elbowroom::explain
