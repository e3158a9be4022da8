#pragma once

#include "hook_cases.hpp"

inline constexpr cu::DevicePointer kHere = 8;
inline constexpr cu::DevicePointer kThere = (cu::DevicePointer{1} << 40U) + 8;  // on device 1
inline constexpr cu::DevicePointer kHost = cu::DevicePointer{1} << 63U;

// On the legacy stream a copy between two devices waits for both, and both for it, as two H100 do (scripts/gpu/peer_copies.py). One
// within a device, from the host, of nothing or on another stream does not, and none does where nothing is under way.
template <class Copy>
void copies_between_devices(Copy copy) {
  const Lanes lanes;
  const auto goes_on = [&](cu::DevicePointer from, std::size_t bytes, cu::Stream stream) {
    lanes.collective(lanes.comm);
    EXPECT(copy(from, bytes, stream) == 0);
    Lanes::settle();
    EXPECT(lanes.waits_for(lanes.comm));
  };
  goes_on(kHere, 8, nullptr);
  goes_on(kHost, 8, nullptr);
  goes_on(kThere, 0, nullptr);
  goes_on(kThere, 8, lanes.comm);
  Lanes::settle();
  EXPECT(copy(kThere, 8, nullptr) == 0 && lanes.waits_for(lanes.comm));
  lanes.collective(lanes.comm);
  EXPECT(copy(kThere, 8, nullptr) == 0);
  Lanes::settle();
  EXPECT(!lanes.waits_for(lanes.comm));
}
