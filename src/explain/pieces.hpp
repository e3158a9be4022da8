#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace elbowroom::explain {

/// Takes the pieces of a trace. Texts live until the call returns.
class PieceSink {
 public:
  PieceSink() = default;
  PieceSink(const PieceSink&) = delete;
  PieceSink& operator=(const PieceSink&) = delete;
  virtual ~PieceSink() = default;

  /// One event, "{...}". False: it is no JSON, and the next event is looked for behind its first brace.
  virtual bool event(std::string_view text) = 0;
  /// A member of the document beside its events: "[...]", "{...}" or a text.
  virtual void member(std::string_view key, std::string_view value) = 0;
};

/// Cuts the text of a trace into events, whatever pieces it comes in, and keeps no more than one event and one piece. The document
/// is an object with the member "traceEvents", or an array of events.
class Pieces {
 public:
  explicit Pieces(PieceSink& sink) : sink_(sink) {}

  void feed(std::string_view text);
  /// No more text comes: events behind one whose end is missing are looked for.
  void finish();

  /// Whether the text has come to the end of its document.
  [[nodiscard]] bool complete() const { return place_ == Place::behind; }
  /// Whether it holds events at all.
  [[nodiscard]] bool has_events() const { return has_events_; }
  /// Bytes that belong to no event that could be cut out.
  [[nodiscard]] std::uint64_t skipped() const { return skipped_; }

 private:
  enum class Place : std::uint8_t { before, members, key, value, events, behind };

  /// One step at the cursor; false where more text is needed.
  bool advance();
  bool advance_members();
  bool advance_key();
  bool advance_value();
  bool advance_events();
  void take_event(std::size_t end);
  /// Moves to the next text that looks like an event's begin, behind the one at `begin_`.
  void find_next_event();
  /// The index behind the string whose quote is at `at`; npos where its end is not there yet.
  [[nodiscard]] std::size_t behind_string(std::size_t at) const;
  /// Behind the object, array, string or word at `begin_`; npos where its end is not there yet. Goes on at `cursor_`, `depth_`
  /// deep.
  std::size_t behind_value();
  void drop(std::size_t end);

  PieceSink& sink_;
  std::string buffer_;
  std::size_t begin_ = 0;   ///< of what is not taken yet
  std::size_t cursor_ = 0;  ///< how far it was looked at
  std::size_t depth_ = 0;
  std::uint64_t skipped_ = 0;
  std::string key_;
  Place place_ = Place::before;
  bool in_object_ = false;
  bool looking_ = false;  ///< for an event's begin, behind damage
  bool has_events_ = false;
};

}  // namespace elbowroom::explain
