#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "elbowroom/base/result.hpp"

namespace elbowroom::explain {

/// Bytes that come in order: a file, what a packed file holds, an entry of an archive.
class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;

  /// At least one byte into `into`, which is not empty, or 0 at the end. An error is one line without the name of the source.
  virtual Result<std::size_t> read(std::span<char> into) = 0;
};

/// A text as a source, in front of another one if there is any.
class TextSource final : public ByteSource {
 public:
  explicit TextSource(std::string text, ByteSource* rest = nullptr) : text_(std::move(text)), rest_(rest) {}

  Result<std::size_t> read(std::span<char> into) override {
    if (at_ == text_.size()) { return rest_ != nullptr ? rest_->read(into) : Result<std::size_t>(0); }
    const std::size_t count = std::min(into.size(), text_.size() - at_);
    std::memcpy(into.data(), text_.data() + at_, count);
    at_ += count;
    return count;
  }

  /// The first bytes of `source`, up to `most`, which stay to be read from what is returned.
  static Result<std::string> first_of(ByteSource& source, std::size_t most) {
    std::string text(most, '\0');
    std::size_t filled = 0;
    while (filled < most) {
      const Result<std::size_t> got = source.read(std::span(text).subspan(filled));
      if (!got) { return got.error(); }
      if (*got == 0) { break; }
      filled += *got;
    }
    text.resize(filled);
    return text;
  }

 private:
  std::string text_;
  std::size_t at_ = 0;
  ByteSource* rest_;
};

}  // namespace elbowroom::explain
