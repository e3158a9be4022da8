#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "explain/event.hpp"

namespace elbowroom::explain {

/// Arrays whose first elements an event keeps.
enum class EventList : std::uint8_t { none, grid, block, dims, types };

/// A name in an event's text, and where its value goes.
struct EventKey {
  std::string_view name;
  std::string_view Event::* text = nullptr;
  EventList list = EventList::none;
};

/// Finds a name by its length and three of its letters, and then compares it once: a trace has some twenty names for each event.
template <std::size_t count>
class EventKeys {
 public:
  /// No two names may have one slot; two that have do not compile.
  consteval explicit EventKeys(const std::array<EventKey, count>& keys) {
    for (std::size_t i = 0; i < count; ++i) {
      keys_[i] = keys[i];
      std::uint8_t& slot = slots_[slot_of(keys[i].name)];
      if (slot != 0) { throw "two names have one slot"; }
      slot = static_cast<std::uint8_t>(i + 1);
    }
  }

  /// nullptr for any other name.
  [[nodiscard]] const EventKey* find(std::string_view name) const {
    if (name.empty()) { return nullptr; }
    const std::uint8_t slot = slots_[slot_of(name)];
    if (slot == 0) { return nullptr; }
    const EventKey& key = keys_[slot - 1U];
    const bool same = key.name.size() == name.size() && std::memcmp(key.name.data(), name.data(), name.size()) == 0;
    return same ? &key : nullptr;
  }

 private:
  static constexpr std::size_t kSlots = 512;

  static constexpr std::size_t slot_of(std::string_view name) {
    const auto letter = [&](std::size_t at) { return static_cast<std::size_t>(static_cast<unsigned char>(name[at])); };
    return (name.size() * 61 + letter(0) * 7 + letter(name.size() / 2) * 29 + letter(name.size() - 1) * 3) % kSlots;
  }

  std::array<EventKey, count> keys_{};
  std::array<std::uint8_t, kSlots> slots_{};  ///< one more than an index; 0: none
};

/// Members of an event.
inline constexpr EventKeys kEventMembers(std::array<EventKey, 7>{{{"ph", &Event::phase},
                                                                  {"cat", &Event::category},
                                                                  {"name", &Event::name},
                                                                  {"pid", &Event::process},
                                                                  {"tid", &Event::thread},
                                                                  {"ts", &Event::ts},
                                                                  {"dur", &Event::duration}}});

/// Members of its "args".
inline constexpr EventKeys kEventArguments(std::array<EventKey, 24>{
    {{"correlation", &Event::correlation},
     {"device", &Event::device},
     {"stream", &Event::stream},
     {"bytes", &Event::bytes},
     {"registers per thread", &Event::registers},
     {"shared memory", &Event::shared},
     {"Collective name", &Event::collective},
     {"In msg nelems", &Event::in_elements},
     {"Out msg nelems", &Event::out_elements},
     {"dtype", &Event::dtype},
     {"Group size", &Event::group_size},
     {"Process Group Name", &Event::group},
     {"Process Group Ranks", &Event::ranks},
     {"In split size", &Event::in_split},
     {"Seq", &Event::sequence},
     {"wait_on_stream", &Event::wait_on_stream},
     {"wait_on_cuda_event_record_corr_id", &Event::wait_on_correlation},
     {"sm_mhz", &Event::sm_mhz},
     {"most_mhz", &Event::most_mhz},
     {"at_power_limit", &Event::at_power_limit},
     {"grid", nullptr, EventList::grid},
     {"block", nullptr, EventList::block},
     {"Input Dims", nullptr, EventList::dims},
     {"Input type", nullptr, EventList::types}}});

}  // namespace elbowroom::explain
