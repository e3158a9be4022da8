#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

/// Launches the kernel of a collective; each vendor's has its own.
void launch_echo(void* stream);

/// What the last call of a stand-in was given, argument by argument.
class Echo {
 public:
  template <class... Arguments>
  void keep(Arguments... arguments) {
    count_ = 0;
    ((words_[count_++] = word(arguments)), ...);
  }
  /// Whether the arguments were 1, 2, 3 and so on, but for those at places with a value of their own (not 0).
  [[nodiscard]] bool counts(std::size_t arguments, const std::uint64_t* own) const {
    bool all = count_ == arguments;
    for (std::size_t i = 0; all && i < count_; ++i) { all = words_[i] == (own[i] != 0 ? own[i] : i + 1); }
    return all;
  }

 private:
  template <class Pointer>
  static std::uint64_t word(Pointer* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer);
  }
  template <class Number>
  static std::uint64_t word(Number number) {
    return static_cast<std::uint64_t>(number);
  }

  std::array<std::uint64_t, 32> words_{};
  std::size_t count_ = 0;
};
