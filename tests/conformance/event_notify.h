#pragma once
// Events of the three kinds and notifies, destroyed at the end of the scope, and what their queries say.
//
// Guarantees: a query helper fails the test when the call fails.

#include "support.h"

namespace conformance {

class Event {
 public:
  explicit Event(aclrtEvent event) : event_(event) {}
  ~Event() {
    if (event_ == nullptr) return;
    EXPECT_OK(aclrtDestroyEvent(event_));
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  aclrtEvent get() const { return event_; }
  aclrtEvent release() { return std::exchange(event_, nullptr); }

 private:
  aclrtEvent event_ = nullptr;
};

inline Event PlainEvent() {
  aclrtEvent event = nullptr;
  EXPECT_OK(aclrtCreateEvent(&event));
  return Event(event);
}

inline Event ExEvent(uint32_t flags = ACL_EVENT_SYNC) {
  aclrtEvent event = nullptr;
  EXPECT_OK(aclrtCreateEventExWithFlag(&event, flags)) << flags;
  return Event(event);
}

inline Event FlagEvent(uint32_t flags = ACL_EVENT_SYNC) {
  aclrtEvent event = nullptr;
  EXPECT_OK(aclrtCreateEventWithFlag(&event, flags)) << flags;
  return Event(event);
}

inline aclrtEvent DeadEvent() {
  Event event = PlainEvent();
  aclrtEvent dead = event.release();
  EXPECT_OK(aclrtDestroyEvent(dead));
  return dead;
}

inline aclrtEventRecordedStatus Recorded(aclrtEvent event) {
  auto status = static_cast<aclrtEventRecordedStatus>(77);
  EXPECT_OK(aclrtQueryEventStatus(event, &status));
  return status;
}
inline bool IsComplete(aclrtEvent event) {
  return Recorded(event) == ACL_EVENT_RECORDED_STATUS_COMPLETE;
}

inline aclrtEventWaitStatus WaitsFor(aclrtEvent event) {
  auto status = ACL_EVENT_WAIT_STATUS_RESERVED;
  EXPECT_OK(aclrtQueryEventWaitStatus(event, &status));
  return status;
}

inline aclrtEventStatus Queried(aclrtEvent event) {
  auto status = ACL_EVENT_STATUS_RESERVED;
  EXPECT_OK(aclrtQueryEvent(event, &status));
  return status;
}

class Notify {
 public:
  explicit Notify(uint64_t flag = ACL_NOTIFY_DEFAULT) { EXPECT_OK(aclrtCreateNotify(&notify_, flag)); }
  ~Notify() {
    if (notify_ == nullptr) return;
    EXPECT_OK(aclrtDestroyNotify(notify_));
  }
  Notify(const Notify&) = delete;
  Notify& operator=(const Notify&) = delete;
  aclrtNotify get() const { return notify_; }
  aclrtNotify release() { return std::exchange(notify_, nullptr); }

 private:
  aclrtNotify notify_ = nullptr;
};

}  // namespace conformance
