// One record of an event: the generation that a wait binds to, so that recording again disturbs nobody.
//
// Guarantees: completes once. Waiters bound to it go on exactly then.
// Threading: `state` may be read by anyone; transitions and the waiter list belong to the engine's edge lock.
// Lifetime: counted references: the event (its latest record), the queued record, every queued wait.
#pragma once

#include <atomic>
#include <cstdint>

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

  bool complete() const { return complete_.load(std::memory_order_acquire) != 0; }
  Event* event() const { return event_; }

  // The task that completes it. Atomic, because a record that is used again may still be looked at by a late
  // reader, who then finds the older task done and waits for the completion.
  Stream* stream() const { return stream_.load(std::memory_order_relaxed); }
  uint64_t sequence() const { return sequence_.load(std::memory_order_relaxed); }
  // Stream::life of then: a later stream in the same place is another one.
  uint32_t stream_life() const { return stream_life_.load(std::memory_order_relaxed); }

 private:
  friend class Engine;
  friend class Event;
  ~EventRecord();

  std::atomic<Stream*> stream_{nullptr};
  std::atomic<uint64_t> sequence_{0};
  std::atomic<uint32_t> stream_life_{0};
  std::atomic<uint32_t> complete_{0};  // also the word that host threads sleep on
  std::atomic<uint32_t> sleepers_{0};
  std::atomic<uint32_t> references_{1};
  Event* const event_;
  Stream* waiters_ = nullptr;  // parked streams, linked by Stream::next_waiter; edge lock
};

// An event: who owns it and its latest record. The handle and every record hold a reference.
class Event {
 public:
  enum class Family : uint8_t { kPlain, kEx };

  Event(Family family, uint32_t flags, int device) : family_(family), flags_(flags), device_(device) {}
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  Family family() const { return family_; }
  uint32_t flags() const { return flags_; }
  int device() const { return device_; }

  void AddReference() { references_.fetch_add(1, std::memory_order_relaxed); }
  void Drop();

  // A record for a new generation, with one reference for the caller: the latest one if it is complete and
  // nobody else looks at it, which saves an allocation for events that are recorded again and again.
  EventRecord* NewRecord();
  // The latest record with a reference for the caller; null when never recorded.
  EventRecord* Latest();
  // Takes over the caller's reference.
  void SetLatest(EventRecord* record);

  // Waits bound to any record of it that have not passed yet.
  std::atomic<uint32_t> pending_waits{0};

 private:
  ~Event();

  const Family family_;
  const uint32_t flags_;
  const int device_;
  std::atomic<uint32_t> references_{1};
  std::atomic_flag latest_lock_;  // held for a few instructions: swap a pointer, count a reference
  EventRecord* latest_ = nullptr;
};

}  // namespace belay::engine
