// One record of an event: the generation that a wait binds to, so that recording again disturbs nobody.
//
// Guarantees: completes once, or is dropped once. Waiters bound to it go on exactly when it completes.
// Threading: the state may be read by anyone; transitions and the waiter list belong to the engine's edge
// lock. Lifetime: counted references: the event (its latest record), the queued record, every queued wait.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/id_pool.h"
#include "base/site.h"
#include "engine/signal.h"

namespace belay::engine {

class Event;
class Stream;

class EventRecord {
 public:
  explicit EventRecord(Event* event);  // takes a reference on the event
  EventRecord(const EventRecord&) = delete;
  EventRecord& operator=(const EventRecord&) = delete;

  void AddReference() { references_.fetch_add(1, std::memory_order_relaxed); }
  void Drop();

  bool complete() const { return state_.load(std::memory_order_acquire) == kComplete; }
  // Its stream was aborted before its turn came: it never completes.
  bool dropped() const { return state_.load(std::memory_order_acquire) == kDropped; }
  // Its stream was destroyed by force: it never completes, and who waits waits.
  bool forgotten() const { return state_.load(std::memory_order_acquire) == kForgotten; }
  bool pending() const {
    uint32_t state = state_.load(std::memory_order_acquire);
    return state == kPending || state == kForgotten;
  }
  // Whether an earlier record of the event had completed when this one was made.
  bool follows_complete() const { return follows_complete_; }
  // It covers a task whose failure nobody had reported when it completed.
  bool failed() const { return failed_.load(std::memory_order_relaxed); }
  // os::NowTicks; 0 unless the event takes times and the record is complete.
  int64_t completed_ticks() const { return completed_ticks_.load(std::memory_order_relaxed); }
  Event* event() const { return event_; }

  // The task that completes it. Atomic, because a record that is used again may still be looked at by a late
  // reader, who then finds the older task done and waits for the completion.
  Stream* stream() const { return stream_.load(std::memory_order_relaxed); }
  uint64_t sequence() const { return sequence_.load(std::memory_order_relaxed); }
  // Stream::life of then: a later stream in the same place is another one.
  uint32_t stream_life() const { return stream_life_.load(std::memory_order_relaxed); }

  // The event id that the record holds until it completed and every wait bound to it passed (SPEC 20 §4.1).
  bool HoldId();  // false when it was given back already
  void ReleaseId();

 private:
  friend class Engine;
  friend class Event;
  ~EventRecord();

  static constexpr uint32_t kPending = 0, kComplete = 1, kDropped = 2, kForgotten = 3;

  std::atomic<Stream*> stream_{nullptr};
  std::atomic<uint64_t> sequence_{0};
  std::atomic<uint32_t> stream_life_{0};
  std::atomic<uint32_t> state_{kPending};  // also the word that host threads sleep on
  std::atomic<uint32_t> sleepers_{0};
  std::atomic<uint32_t> references_{1};
  std::atomic<uint32_t> id_holders_{0};
  uint32_t id_ = IdPool::kNone;
  bool follows_complete_ = false;
  std::atomic<bool> failed_{false};
  std::atomic<int64_t> completed_ticks_{0};
  Event* const event_;
  Stream* waiters_ = nullptr;  // parked streams, linked by Stream::next_waiter; edge lock
};

// An event: who owns it and its latest record. The handle and every record hold a reference.
class Event {
 public:
  enum class Family : uint8_t { kPlain, kEx, kFlag };

  // What follows from how an event was created (SPEC 20 §4.1, §4.2).
  struct Traits {
    bool timed = false;     // completions take the time
    bool bit = false;       // streams wait for a bit that records set, not for one record
    IdPool* ids = nullptr;  // records hold an id of these; null when they hold none
  };

  Event(Family family, uint32_t flags, int device) : Event(family, flags, device, Traits()) {}
  Event(Family family, uint32_t flags, int device, const Traits& traits);
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  Family family() const { return family_; }
  uint32_t flags() const { return flags_; }
  int device() const { return device_; }
  bool timed() const { return traits_.timed; }
  IdPool* ids() const { return traits_.ids; }
  Signal* bit() const { return bit_; }  // null unless Traits::bit

  void AddReference() { references_.fetch_add(1, std::memory_order_relaxed); }
  void Drop();

  // A record for a new generation, with one reference for the caller; it holds an id if there is one. The
  // object of an older generation is used again when nobody looks at it any more.
  EventRecord* NewRecord();
  // The same for a record that is complete at once, and the latest one from now on.
  void RecordComplete(Stream& stream, uint32_t stream_life, uint64_t sequence);
  // The latest record with a reference for the caller; null when never recorded.
  EventRecord* Latest();
  // Takes over the caller's reference. Null also forgets the spare record: before the last Drop().
  void SetLatest(EventRecord* record);
  // As if the record had never been made, unless a later one was.
  void TakeBack(EventRecord* record);

  // Waits bound to any record of it that have not passed yet.
  std::atomic<uint32_t> pending_waits{0};
  // The id that its latest record holds or held; of a flag event, its own.
  std::atomic<uint32_t> id{IdPool::kNone};

 private:
  ~Event();

  const Family family_;
  const uint32_t flags_;
  const int device_;
  const Traits traits_;
  Signal* const bit_;
  std::atomic<uint32_t> references_{1};
  std::atomic_flag latest_lock_;  // held for a few instructions: swap a pointer, count a reference
  EventRecord* latest_ = nullptr;
  EventRecord* spare_ = nullptr;  // of an older generation, complete, with this reference only
};

}  // namespace belay::engine
