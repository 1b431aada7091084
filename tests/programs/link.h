#pragma once
// The four ways in which one stream waits for another, with one face.
//
// A snapshot event binds to what was recorded before the wait was submitted; the others may be waited for
// first.

#include "program.h"

namespace program {

enum class LinkKind { kEvent, kFlagEvent, kNotify, kValue };
constexpr LinkKind kLinkKinds[] = {LinkKind::kEvent, LinkKind::kFlagEvent, LinkKind::kNotify,
                                   LinkKind::kValue};

class Link {
 public:
  explicit Link(LinkKind kind) : kind_(kind) {
    switch (kind) {
      case LinkKind::kEvent:
        OK(aclrtCreateEventExWithFlag(&event_, ACL_EVENT_SYNC));
        break;
      case LinkKind::kFlagEvent:
        OK(aclrtCreateEventWithFlag(&event_, ACL_EVENT_SYNC));
        break;
      case LinkKind::kNotify:
        OK(aclrtCreateNotify(&notify_, ACL_NOTIFY_DEFAULT));
        break;
      case LinkKind::kValue:
        word_ = OnDevice(sizeof(uint64_t), 0);
        break;
    }
  }
  ~Link() {
    if (event_ != nullptr) OK(aclrtDestroyEvent(event_));
    if (notify_ != nullptr) OK(aclrtDestroyNotify(notify_));
    if (word_ != nullptr) OK(aclrtFree(word_));
  }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  bool may_wait_first() const { return kind_ != LinkKind::kEvent; }
  void Record(aclrtStream stream) {
    if (event_ != nullptr) OK(aclrtRecordEvent(event_, stream));
    if (notify_ != nullptr) OK(aclrtRecordNotify(notify_, stream));
    if (word_ != nullptr) OK(aclrtValueWrite(word_, 7, 0, stream));
  }
  void Wait(aclrtStream stream) {
    if (event_ != nullptr) OK(aclrtStreamWaitEvent(stream, event_));
    if (notify_ != nullptr) OK(aclrtWaitAndResetNotify(notify_, stream, 0));
    if (word_ != nullptr) OK(aclrtValueWait(word_, 7, ACL_VALUE_WAIT_EQ, stream));
  }

 private:
  const LinkKind kind_;
  aclrtEvent event_ = nullptr;
  aclrtNotify notify_ = nullptr;
  void* word_ = nullptr;
};

}  // namespace program
