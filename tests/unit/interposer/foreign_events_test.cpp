#include "interposer/process/foreign_events.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace elbowroom::interposer::process {
namespace {

const void* event(std::uintptr_t value) { return reinterpret_cast<const void*>(value); }

// The handle of an event that was destroyed may be that of a new one, which no other process records.
TEST(ForeignEvents, ARemovedEventIsForeignNoMore) {
  ForeignEvents events;
  EXPECT_FALSE(events.contains(event(0x100)));
  events.add(event(0x100));
  events.add(event(0x200));
  EXPECT_TRUE(events.contains(event(0x100)));
  events.remove(event(0x100));
  EXPECT_FALSE(events.contains(event(0x100)));
  EXPECT_TRUE(events.contains(event(0x200)));
}

// What does not fit is not forgotten: every event may be one of those.
TEST(ForeignEvents, MoreThanFitMakeEveryEventForeign) {
  ForeignEvents events;
  for (std::uintptr_t each = 1; each <= 2'000; ++each) { events.add(event(each * 8)); }
  EXPECT_TRUE(events.contains(event(0x100000)));
  for (std::uintptr_t each = 1; each <= 1'000; ++each) { events.remove(event(each * 8)); }
  EXPECT_TRUE(events.contains(event(2'000 * 8))) << "which did not fit, and outlives those that did";
}

}  // namespace
}  // namespace elbowroom::interposer::process
