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

  // The stream and the number of the task that completes it.
  Stream* stream = nullptr;
  uint64_t sequence = 0;
  uint32_t stream_life = 0;  // Stream::life: a later stream in the same place is another one

 private:
  friend class Engine;
  ~EventRecord();

  std::atomic<uint32_t> complete_{0};    // also the word that host threads sleep on
  std::atomic<uint32_t> sleepers_{0};
  std::atomic<uint32_t> references_{1};
  Event* const event_;
  Stream* waiters_ = nullptr;            // parked streams, linked by Stream::next_waiter; edge lock
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
