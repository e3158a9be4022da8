#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "elbowroom/base/export.hpp"

namespace elbowroom {

/// What an SM can run out of. `threads` are warp slots.
enum class Resource : std::uint8_t { threads, blocks, registers, shared_memory };

inline constexpr std::array kResources{Resource::threads, Resource::blocks, Resource::registers, Resource::shared_memory};

/// The name in JSON and tables.
constexpr std::string_view to_string(Resource resource) {
  switch (resource) {
    case Resource::threads:
      return "threads";
    case Resource::blocks:
      return "blocks";
    case Resource::registers:
      return "registers";
    case Resource::shared_memory:
      return "shared_memory";
  }
  return "";
}

/// A set that fits a byte, so that an occupancy query allocates nothing.
class ResourceSet {
 public:
  constexpr ResourceSet() = default;
  constexpr ResourceSet(std::initializer_list<Resource> resources) {
    for (const Resource resource : resources) { insert(resource); }
  }

  constexpr void insert(Resource resource) { bits_ = static_cast<std::uint8_t>(bits_ | bit(resource)); }
  [[nodiscard]] constexpr bool contains(Resource resource) const { return (bits_ & bit(resource)) != 0; }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }

  constexpr bool operator==(const ResourceSet&) const = default;

 private:
  static constexpr std::uint8_t bit(Resource resource) { return static_cast<std::uint8_t>(1U << static_cast<unsigned>(resource)); }

  std::uint8_t bits_ = 0;
};

/// The members for a sentence or a table cell: "registers, shared memory"; empty for the empty set.
ELBOWROOM_API std::string in_words(ResourceSet set);

}  // namespace elbowroom
