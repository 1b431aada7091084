#include "engine/event_record.h"

#include <utility>

#include "engine/stream.h"
#include "os/futex.h"
#include "os/ticks.h"

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

bool EventRecord::HoldId() {
  uint32_t holders = id_holders_.load(std::memory_order_relaxed);
  while (holders != 0 &&
         !id_holders_.compare_exchange_weak(holders, holders + 1, std::memory_order_relaxed)) {
  }
  return holders != 0;
}

void EventRecord::ReleaseId() {
  if (id_holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) event_->ids()->Return(id_);
}

Event::Event(Family family, uint32_t flags, int device, const Traits& traits)
    : family_(family),
      flags_(flags),
      device_(device),
      traits_(traits),
      bit_(traits.bit ? new Signal : nullptr) {}

Event::~Event() {
  if (bit_ != nullptr) bit_->Drop();
}

void Event::Drop() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

// Never the latest record itself: until the new one is submitted, a wait must find the older one.
EventRecord* Event::NewRecord() {
  EventRecord* record;
  bool follows_complete;
  {
    SpinLock lock(latest_lock_);
    record = std::exchange(spare_, nullptr);
    follows_complete = latest_ != nullptr && (latest_->complete() || latest_->follows_complete_);
  }
  if (record == nullptr) {
    record = new EventRecord(this);
  } else {
    record->state_.store(EventRecord::kPending, std::memory_order_relaxed);
  }
  record->follows_complete_ = follows_complete;
  record->failed_.store(false, std::memory_order_relaxed);
  record->id_ = traits_.ids != nullptr ? traits_.ids->Take() : IdPool::kNone;
  if (record->id_ != IdPool::kNone) {
    record->id_holders_.store(1, std::memory_order_relaxed);
    id.store(record->id_, std::memory_order_relaxed);
  }
  return record;
}

void Event::RecordComplete(Stream& stream, uint32_t stream_life, uint64_t sequence) {
  // The id is given back as soon as it is taken, so the one that the event had last will do.
  if (traits_.ids != nullptr && id.load(std::memory_order_relaxed) == IdPool::kNone) {
    uint32_t taken = traits_.ids->Take();
    if (taken != IdPool::kNone) {
      id.store(taken, std::memory_order_relaxed);
      traits_.ids->Return(taken);
    }
  }
  auto fill = [&](EventRecord& record) {
    record.stream_.store(&stream, std::memory_order_relaxed);
    record.sequence_.store(sequence, std::memory_order_relaxed);
    record.stream_life_.store(stream_life, std::memory_order_relaxed);
    record.failed_.store(stream.failed(), std::memory_order_relaxed);
    record.id_ = IdPool::kNone;
    if (traits_.timed) record.completed_ticks_.store(os::NowTicks(), std::memory_order_relaxed);
  };
  {
    SpinLock lock(latest_lock_);
    EventRecord* latest = latest_;
    if (latest != nullptr && latest->references_.load(std::memory_order_acquire) == 1 && latest->complete()) {
      fill(*latest);
      return;
    }
  }
  auto* record = new EventRecord(this);
  fill(*record);
  record->state_.store(EventRecord::kComplete, std::memory_order_relaxed);
  SetLatest(record);
}

EventRecord* Event::Latest() {
  SpinLock lock(latest_lock_);
  if (latest_ != nullptr) latest_->AddReference();
  return latest_;
}

void Event::TakeBack(EventRecord* record) {
  {
    SpinLock lock(latest_lock_);
    if (record == nullptr || latest_ != record) return;
    latest_ = nullptr;
  }
  record->Drop();
}

void Event::SetLatest(EventRecord* record) {
  EventRecord *before, *spare = nullptr;
  {
    SpinLock lock(latest_lock_);
    before = std::exchange(latest_, record);
    if (record == nullptr) {
      spare = std::exchange(spare_, nullptr);
    } else if (before != nullptr && spare_ == nullptr && before->complete() &&
               before->references_.load(std::memory_order_acquire) == 1) {
      spare_ = std::exchange(before, nullptr);  // nobody else looks at it
    }
  }
  if (before != nullptr) before->Drop();
  if (spare != nullptr) spare->Drop();
}

}  // namespace belay::engine
