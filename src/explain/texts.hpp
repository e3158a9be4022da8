#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace elbowroom::explain {

/// An index into Texts.
using TextId = std::uint32_t;

/// Keeps each text once. A trace repeats a few hundred names of kernels a million times.
class Texts {
 public:
  Texts() { static_cast<void>(id_of("")); }
  Texts(Texts&&) = default;
  Texts& operator=(Texts&&) = default;
  Texts(const Texts& other) : Texts() {
    for (const std::string& text : other.texts_) { static_cast<void>(id_of(text)); }
  }
  Texts& operator=(const Texts&) = delete;
  ~Texts() = default;

  /// The empty text is 0.
  TextId id_of(std::string_view text) {
    if (const auto found = ids_.find(text); found != ids_.end()) { return found->second; }
    const auto id = static_cast<TextId>(texts_.size());
    ids_.emplace(texts_.emplace_back(text), id);
    return id;
  }

  [[nodiscard]] const std::string& text(TextId id) const { return texts_[id]; }
  [[nodiscard]] std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  // a text never moves: the keys below are views of them
  std::unordered_map<std::string_view, TextId> ids_;
};

}  // namespace elbowroom::explain
