#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interposer/core/table.hpp"

namespace elbowroom::interposer {

/// How often events were recorded, and which are being recorded now: from before the driver is called until the core is told. The
/// driver does not say which record a thread has waited for while another thread made a new one. Lock-free. Events share places:
/// one may be taken for recorded because another was. Who records some event, and does not say which, may record any.
class EventRecords {
 public:
  using Count = std::uint64_t;

  [[nodiscard]] Count count(std::uint64_t event) const { return places_[place(event)].load() + of_some_.load(); }
  /// No thread records it.
  static bool is_settled(Count count) { return (count & kThreads) == 0; }
  /// Nor did any since count() said `before`.
  [[nodiscard]] bool stayed(std::uint64_t event, Count before) const { return is_settled(before) && count(event) == before; }
  Count begin(std::uint64_t event) { return places_[place(event)].fetch_add(kOne) + kOne + of_some_.load(); }
  /// `begun` is what begin() said. False: another thread recorded it meanwhile.
  bool end(std::uint64_t event, Count begun) {
    return places_[place(event)].fetch_sub(1) + of_some_.load() == begun && (begun & kThreads) == 1;
  }
  void begin_some() { of_some_.fetch_add(kOne); }
  void end_some() { of_some_.fetch_sub(1); }

 private:
  static constexpr Count kThreads = 0xffff;  ///< of a count: threads that record now; the rest says how often one began to
  static constexpr Count kOne = kThreads + 2;
  static constexpr std::size_t kPlaces = 4096;
  static std::size_t place(std::uint64_t event) { return mix(event) % kPlaces; }

  std::atomic<Count> of_some_{0};
  std::array<std::atomic<Count>, kPlaces> places_{};
};

}  // namespace elbowroom::interposer
