#include "model/device_names.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>
#include <vector>

namespace elbowroom::detail {

std::string plain_device_name(std::string_view text) {
  constexpr std::array<std::string_view, 6> makers{"nvidia", "amd", "instinct", "geforce", "tesla", "graphics"};
  std::string name;
  std::string word;
  const auto end_word = [&] {
    if (std::ranges::find(makers, word) == makers.end()) { name += word; }
    word.clear();
  };
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else {
      end_word();
    }
  }
  end_word();
  return name;
}

std::size_t letters_apart(std::string_view one, std::string_view other) {
  std::vector<std::size_t> row(other.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (const char c : one) {
    std::size_t diagonal = row.front()++;
    for (std::size_t at = 0; at < other.size(); ++at) {
      const std::size_t replaced = diagonal + (c == other[at] ? 0 : 1);
      diagonal = row[at + 1];
      row[at + 1] = std::min({replaced, row[at] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace elbowroom::detail
