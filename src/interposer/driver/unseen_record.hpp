#pragma once

#include "interposer/core/core.hpp"

namespace elbowroom::interposer::driver {

/// The scope in which the driver is called by what records an event and is not followed.
class UnseenRecord {
 public:
  UnseenRecord(Core& core, EventId event) : core_(core), event_(event) { core.before_unseen_record(event); }
  ~UnseenRecord() { core_.after_unseen_record(event_); }
  UnseenRecord(const UnseenRecord&) = delete;
  UnseenRecord& operator=(const UnseenRecord&) = delete;

 private:
  Core& core_;
  EventId event_;
};

}  // namespace elbowroom::interposer::driver
