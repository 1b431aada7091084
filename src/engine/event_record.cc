#include "engine/event_record.h"

#include <utility>

#include "os/futex.h"

namespace belay::engine {
namespace {
class SpinLock {
 public:
  explicit SpinLock(std::atomic_flag& flag) : flag_(flag) {
    while (flag_.test_and_set(std::memory_order_acquire)) os::Pause();
  }
  ~SpinLock() { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag& flag_;
};
}  // namespace

EventRecord::EventRecord(Event* event) : event_(event) {
  event_->AddReference();
}
EventRecord::~EventRecord() {
  event_->Drop();
}

void EventRecord::Drop() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

Event::~Event() = default;

void Event::Drop() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

EventRecord* Event::NewRecord() {
  {
    SpinLock lock(latest_lock_);
    EventRecord* latest = latest_;
    if (latest != nullptr && latest->references_.load(std::memory_order_acquire) == 1 && latest->complete()) {
      latest->complete_.store(0, std::memory_order_relaxed);
      latest->AddReference();
      return latest;
    }
  }
  return new EventRecord(this);
}

EventRecord* Event::Latest() {
  SpinLock lock(latest_lock_);
  if (latest_ != nullptr) latest_->AddReference();
  return latest_;
}

void Event::SetLatest(EventRecord* record) {
  EventRecord* before;
  {
    SpinLock lock(latest_lock_);
    before = std::exchange(latest_, record);
  }
  if (before != nullptr) before->Drop();
}

}  // namespace belay::engine
