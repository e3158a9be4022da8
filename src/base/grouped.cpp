#include "elbowroom/base/grouped.hpp"

#include <cstddef>

namespace elbowroom {

std::string grouped(std::int64_t number) {
  std::string text = std::to_string(number);
  const std::size_t first_digit = number < 0 ? 1 : 0;
  for (std::size_t from_end = 3; from_end + first_digit < text.size(); from_end += 4) {
    text.insert(text.size() - from_end, 1, ',');
  }
  return text;
}

}  // namespace elbowroom
