#include "explain/event.hpp"

// RapidJSON looks at 16 bytes of a string at a time where the compiler may.
#ifdef __SSE2__
#define RAPIDJSON_SSE2
#endif
#include <rapidjson/reader.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <system_error>

#include "base/number_of.hpp"
#include "explain/event_keys.hpp"

namespace elbowroom::explain {
namespace {

/// Fills an Event. Deeper members than those it looks for are passed over.
class EventHandler : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, EventHandler> {
 public:
  explicit EventHandler(Event& event) : event_(event) {}

  bool Default() { return value({}); }
  bool RawNumber(const char* text, rapidjson::SizeType length, bool /*copy*/) { return value({text, length}); }
  bool String(const char* text, rapidjson::SizeType length, bool /*copy*/) { return value({text, length}); }

  bool Key(const char* text, rapidjson::SizeType length, bool /*copy*/) {
    const std::string_view key(text, length);
    const bool is_argument = depth_ == 2 && in_arguments_;
    const EventKey* known = depth_ == 1 ? kEventMembers.find(key) : is_argument ? kEventArguments.find(key) : nullptr;
    target_ = known == nullptr ? nullptr : known->text;
    if (is_argument) { list_ = known == nullptr ? EventList::none : known->list; }
    if (depth_ == 1) { next_is_arguments_ = known == nullptr && key == "args"; }
    return true;
  }

  bool StartObject() {
    if (depth_ == 1) { in_arguments_ = next_is_arguments_; }
    return deeper();
  }
  bool StartArray() {
    at_ = 0;
    if (list_ == EventList::dims && depth_ == 3) { in_first_tensor_ = !event_.first_elements; }
    if (list_ == EventList::dims && depth_ == 3 && in_first_tensor_) { event_.first_elements = 1; }
    return deeper();
  }
  bool EndObject(rapidjson::SizeType /*members*/) { return shallower(); }
  bool EndArray(rapidjson::SizeType /*elements*/) { return shallower(); }

 private:
  bool deeper() {
    ++depth_;
    target_ = nullptr;
    // The parser calls itself once for each level.
    return depth_ < kDeepest;
  }
  bool shallower() {
    --depth_;
    if (depth_ == 3) { in_first_tensor_ = false; }
    if (depth_ <= 2) { list_ = EventList::none; }
    if (depth_ <= 1) { in_arguments_ = false; }
    return true;
  }

  bool value(std::string_view text) {
    if (target_ != nullptr) {
      event_.*target_ = text;
      target_ = nullptr;
    } else if (depth_ == 3 && at_ < 3 && (list_ == EventList::grid || list_ == EventList::block)) {
      (list_ == EventList::grid ? event_.grid : event_.block)[at_++] = text;
    } else if (depth_ == 3 && list_ == EventList::types && at_++ == 0) {
      event_.first_type = text;
    } else if (depth_ == 4 && list_ == EventList::dims && in_first_tensor_) {
      const std::int64_t elements = *event_.first_elements;
      const std::int64_t extent = detail::number_of<std::int64_t>(text).value_or(0);
      const bool fits = extent <= 0 || elements <= std::numeric_limits<std::int64_t>::max() / extent;
      event_.first_elements = fits && extent > 0 ? elements * extent : 0;
    }
    return true;
  }

  static constexpr int kDeepest = 64;

  Event& event_;
  std::string_view Event::* target_ = nullptr;
  int depth_ = 0;
  std::size_t at_ = 0;
  EventList list_ = EventList::none;
  bool next_is_arguments_ = false;
  bool in_arguments_ = false;
  bool in_first_tensor_ = false;
};

/// Mends what Kineto is known to write wrongly. Lengths stay.
void mend(std::vector<char>& text) {
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char& c = text[i];
    if (!in_string) {
      const std::string_view rest(&c, text.size() - i);
      if (c == '"') { in_string = true; }
      if (rest.starts_with("inf") || rest.starts_with("nan")) { std::memcpy(&c, "0  ", 3); }
      if (rest.starts_with("-inf") || rest.starts_with("-nan")) { std::memcpy(&c, "0   ", 4); }
      continue;
    }
    if (c == '"') {
      in_string = false;
    } else if (c == '\\') {
      const bool known = i + 1 < text.size() && text[i + 1] != '\0' && std::strchr("\"\\/bfnrtu", text[i + 1]) != nullptr;
      if (known) {
        ++i;
      } else {
        c = '/';
      }
    } else if (static_cast<unsigned char>(c) < 0x20) {
      c = ' ';
    }
  }
}

/// Behind a text: its end, and what is looked at beyond it.
constexpr std::size_t kZeroes = 32;
constexpr unsigned kFlags = rapidjson::kParseInsituFlag | rapidjson::kParseNumbersAsStringsFlag;

/// Texts and their paths, one behind the other.
class FlatHandler : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, FlatHandler> {
 public:
  std::vector<FlatMember> members;

  bool Default() { return value(""); }
  bool RawNumber(const char* text, rapidjson::SizeType length, bool /*copy*/) { return value({text, length}); }
  bool String(const char* text, rapidjson::SizeType length, bool /*copy*/) { return value({text, length}); }
  bool Key(const char* text, rapidjson::SizeType length, bool /*copy*/) {
    levels_.back().key.assign(text, length);
    return true;
  }
  bool StartObject() { return start(false); }
  bool StartArray() { return start(true); }
  bool EndObject(rapidjson::SizeType /*members*/) { return end(); }
  bool EndArray(rapidjson::SizeType /*elements*/) { return end(); }

 private:
  struct Level {
    bool is_array = false;
    std::size_t index = 0;
    std::string key;
  };

  bool start(bool is_array) {
    levels_.push_back({is_array, 0, ""});
    return levels_.size() < 16;
  }
  bool end() {
    levels_.pop_back();
    if (!levels_.empty()) { ++levels_.back().index; }
    return true;
  }
  bool value(std::string_view text) {
    constexpr std::size_t kMostMembers = 100'000;
    std::string path;
    for (const Level& level : levels_) {
      path += level.is_array ? "[" + std::to_string(level.index) + "]" : (path.empty() ? "" : ".") + level.key;
    }
    members.push_back({std::move(path), std::string(text)});
    if (!levels_.empty()) { ++levels_.back().index; }
    return members.size() < kMostMembers;
  }

  std::vector<Level> levels_;
};

}  // namespace

std::optional<Time> time_of(std::string_view text) {
  const char* const end = text.data() + text.size();
  std::int64_t whole = 0;
  const auto [rest, error] = std::from_chars(text.data(), end, whole);
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 4000;  // sums and differences of two still fit
  if (error == std::errc() && (rest == end || *rest == '.') && whole < kMost && whole > -kMost) {
    Time time = whole * 1000;
    Time unit = 100;
    const Time sign = text.starts_with('-') ? -1 : 1;
    const char* digit = rest == end ? end : rest + 1;
    for (; digit != end && *digit >= '0' && *digit <= '9'; ++digit, unit /= 10) { time += sign * unit * (*digit - '0'); }
    if (digit == end) { return time; }
  }
  const std::optional<double> number = detail::number_of<double>(text);  // with an exponent
  if (!number || !(std::abs(*number) < static_cast<double>(kMost))) { return std::nullopt; }
  return static_cast<Time>(std::llround(*number * 1000));
}

std::optional<std::int64_t> whole_of(std::string_view text) {
  if (const auto dot = text.find('.');
      dot != std::string_view::npos && text.find_first_not_of('0', dot + 1) == std::string_view::npos) {
    text = text.substr(0, dot);
  }
  return detail::number_of<std::int64_t>(text);
}

const Event* EventParser::parse(std::string_view text) {
  buffer_.assign(text.begin(), text.end());
  if (parse_buffer()) { return &event_; }
  buffer_.assign(text.begin(), text.end());
  mend(buffer_);
  return parse_buffer() ? &event_ : nullptr;
}

bool EventParser::parse_buffer() {
  const std::size_t length = buffer_.size();
  buffer_.resize(length + kZeroes);
  event_ = {};
  EventHandler handler(event_);
  rapidjson::InsituStringStream stream(buffer_.data());
  rapidjson::GenericReader<rapidjson::UTF8<>, rapidjson::UTF8<>> parser;
  return !parser.Parse<kFlags>(stream, handler).IsError() && stream.Tell() == length;
}

std::vector<FlatMember> flat_members(std::string_view text) {
  std::vector<char> buffer(text.begin(), text.end());
  buffer.resize(text.size() + kZeroes);
  FlatHandler handler;
  rapidjson::InsituStringStream stream(buffer.data());
  rapidjson::GenericReader<rapidjson::UTF8<>, rapidjson::UTF8<>> parser;
  static_cast<void>(parser.Parse<kFlags>(stream, handler).IsError());  // what stands before damage counts
  return std::move(handler.members);
}

}  // namespace elbowroom::explain
