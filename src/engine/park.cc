// Streams that may not go on: tied to an event record, a signal, a word of device memory, or away in user
// code.
#include "engine/engine.h"
#include "engine/landing.h"
#include "engine/planted_fault.h"
#include "os/futex.h"
#include "os/thread.h"
#include "os/ticks.h"

namespace belay::engine {
namespace {
constexpr int32_t kTaskTimeout = 107020;  // SPEC 20 §8
constexpr int64_t kPollNs = 1'000'000;    // SPEC 34 §5
}  // namespace

// --- Parking. Each gives the claim back, unless what it waits for happened meanwhile.

// Gives the claim back with the front unfinished.
Engine::Tied Engine::Tie(Stream& stream, Stream::Parked parked) {
  stream.parked_ = parked;
  stream.claimed_ = false;
  return {stream.done_.load(std::memory_order_relaxed) + 1, Awaited(stream)};
}

Engine::Step Engine::ParkOnRecord(Stream& stream, EventRecord& record, int64_t timeout_ns) {
  Tied tied;
  {
    MutexLock edges(edges_);
    if (record.complete()) return Step::kRun;
    MutexLock lock(stream.mutex_);
    if (stream.drop_front_) return Step::kDropped;
    stream.next_waiter_ = record.waiters_;
    record.waiters_ = &stream;
    stream.parked_record_ = &record;
    tied = Tie(stream, Stream::Parked::kRecord);
  }
  if (tied.wake) WakeSleepers(stream);
  SetAlarm(stream, tied.sequence, timeout_ns);
  return Step::kGone;
}

Engine::Step Engine::ParkOnSignal(Stream& stream, const AwaitTask& await) {
  Signal& signal = *await.signal;
  int64_t timeout_ns = await.timeout_ns;
  Tied tied;
  {
    MutexLock edges(edges_);
    MutexLock lock(stream.mutex_);
    if (stream.drop_front_) return Step::kDropped;
    // SPEC 20 §5: the oldest waiter first; who comes later does not overtake it.
    if (signal.Holds(await.condition, await.value) && !(await.clear && signal.first_waiter_ != nullptr)) {
      if (await.clear && !BELAY_FAULT(10)) signal.value_.store(0, std::memory_order_release);
      return Step::kRun;
    }
    stream.next_waiter_ = nullptr;
    (signal.last_waiter_ != nullptr ? signal.last_waiter_->next_waiter_ : signal.first_waiter_) = &stream;
    signal.last_waiter_ = &stream;
    stream.parked_signal_ = &signal;
    tied = Tie(stream, Stream::Parked::kSignal);
  }
  if (tied.wake) WakeSleepers(stream);
  SetAlarm(stream, tied.sequence, timeout_ns);
  return Step::kGone;
}

Engine::Step Engine::ParkOnWord(Stream& stream, const ValueTask& value) {
  bool polls = value.polls;
  Tied tied;
  {
    MutexLock edges(edges_);
    parked_words_.fetch_add(1, std::memory_order_seq_cst);
    os::HeavyFence();  // who writes the word from now on sees the count
    MutexLock lock(stream.mutex_);
    if (stream.drop_front_ || WordHolds(value)) {
      parked_words_.fetch_sub(1, std::memory_order_relaxed);
      return stream.drop_front_ ? Step::kDropped : Step::kRun;
    }
    stream.next_waiter_ = word_waiters_;
    word_waiters_ = &stream;
    tied = Tie(stream, Stream::Parked::kWord);
  }
  if (tied.wake) WakeSleepers(stream);
  if (polls) SetAlarm(stream, tied.sequence, kPollNs);
  return Step::kGone;
}

Engine::Step Engine::GoAway(Stream& stream) {
  MutexLock lock(stream.mutex_);
  if (stream.drop_front_) return Step::kDropped;
  stream.parked_ = Stream::Parked::kAway;
  stream.claimed_ = false;
  return Step::kGone;
}

// Nobody took the front after all. False if its tasks were dropped meanwhile.
bool Engine::ComeBack(Stream& stream) {
  MutexLock lock(stream.mutex_);
  stream.parked_ = Stream::Parked::kNo;
  stream.claimed_ = true;
  return !stream.drop_front_;
}

// --- Going on

// Takes a parked stream out of the list it stands in. The caller makes it ready, or drops its tasks.
void Engine::Unpark(Stream& stream) {
  auto unlink = [&stream](Stream** link) {
    Stream* before = nullptr;
    while (*link != &stream) {
      before = *link;
      link = &(*link)->next_waiter_;
    }
    *link = stream.next_waiter_;
    return before;
  };
  switch (stream.parked_) {
    case Stream::Parked::kRecord:
      unlink(&stream.parked_record_->waiters_);
      stream.parked_record_ = nullptr;
      break;
    case Stream::Parked::kSignal: {
      Signal& signal = *stream.parked_signal_;
      Stream* before = unlink(&signal.first_waiter_);
      if (signal.last_waiter_ == &stream) signal.last_waiter_ = before;
      stream.parked_signal_ = nullptr;
      break;
    }
    case Stream::Parked::kWord:
      unlink(&word_waiters_);
      parked_words_.fetch_sub(1, std::memory_order_relaxed);
      break;
    case Stream::Parked::kNo:
    case Stream::Parked::kAway:
      return;
  }
  stream.parked_ = Stream::Parked::kNo;
}

// The waiters go one by one: as soon as one is free, whoever runs it may park it on another record.
void Engine::Complete(EventRecord& record) {
  if (record.event()->timed()) record.completed_ticks_.store(os::NowTicks(), std::memory_order_relaxed);
  bool first = true, more = true;
  while (more) {
    Stream* waiter;
    {
      MutexLock edges(edges_);
      if (first) record.state_.store(EventRecord::kComplete, std::memory_order_seq_cst);
      waiter = record.waiters_;
      if (waiter != nullptr) {
        MutexLock lock(waiter->mutex_);
        Unpark(*waiter);
        waiter->ready_ = true;
      }
      more = record.waiters_ != nullptr && !BELAY_FAULT(6);
    }
    if (first && record.sleepers_.load(std::memory_order_seq_cst) != 0) os::FutexWakeAll(record.state_);
    first = false;
    if (waiter != nullptr) Ready(*waiter);
  }
}

// Its task was dropped: it never completes. Streams that wait for it stay where they are (SPEC 20 §3.3).
void Engine::Drop(EventRecord& record, Fate fate) {
  {
    MutexLock edges(edges_);
    record.state_.store(fate == Fate::kForgotten ? EventRecord::kForgotten : EventRecord::kDropped,
                        std::memory_order_seq_cst);
  }
  if (record.sleepers_.load(std::memory_order_seq_cst) != 0) os::FutexWakeAll(record.state_);
}

void Engine::Change(Signal& signal, Signal::Change change, uint32_t value, const Op* by) {
  for (bool first = true;; first = false) {
    Stream* released = nullptr;
    {
      MutexLock edges(edges_);
      if (first) {
        signal.Apply(change, value);
        if (by != nullptr) {
          signal.last_api_ = by->api;
          signal.last_thread_ = by->thread;
          signal.last_site_ = by->site;
        }
      }
      for (Stream* waiter = signal.first_waiter_; waiter != nullptr && released == nullptr;) {
        Stream* next = waiter->next_waiter_;
        MutexLock lock(waiter->mutex_);
        const AwaitTask& await = waiter->queue_.Front().await;
        if (signal.Holds(await.condition, await.value)) {
          if (await.clear && !BELAY_FAULT(10)) signal.value_.store(0, std::memory_order_release);
          Unpark(*waiter);
          waiter->granted_ = waiter->ready_ = true;
          released = waiter;
        }
        waiter = next;
      }
    }
    if (released == nullptr) return;
    Ready(*released);
  }
}

void Engine::ChangeNow(Signal& signal, Signal::Change change, uint32_t value) {
  Landing landing(*this);
  if (watched_) observer_->SignalChanged(signal, change, value);
  Change(signal, change, value, nullptr);
}

void Engine::LookAtWords() {
  Landing landing(*this);
  for (;;) {
    Stream* released = nullptr;
    {
      MutexLock edges(edges_);
      for (Stream* waiter = word_waiters_; waiter != nullptr && released == nullptr;) {
        Stream* next = waiter->next_waiter_;
        MutexLock lock(waiter->mutex_);
        if (WordHolds(waiter->queue_.Front().value)) {
          Unpark(*waiter);
          waiter->granted_ = waiter->ready_ = true;
          released = waiter;
        }
        waiter = next;
      }
    }
    if (released == nullptr) return;
    Ready(*released);
  }
}

// --- Time-outs

void Engine::SetAlarm(Stream& stream, uint64_t sequence, int64_t timeout_ns) {
  if (timeout_ns != 0) timer_.Set(os::MonotonicNs() + timeout_ns, stream, sequence);
}

void Engine::Expire(Stream& stream, uint64_t sequence) {
  Landing landing(*this);
  {
    MutexLock edges(edges_);
    MutexLock lock(stream.mutex_);
    if (stream.done_.load(std::memory_order_relaxed) + 1 != sequence) return;
    switch (stream.parked_) {
      case Stream::Parked::kRecord:
      case Stream::Parked::kSignal:
        stream.queue_.Front().code = kTaskTimeout;
        break;
      case Stream::Parked::kWord:
        if (!WordHolds(stream.queue_.Front().value)) {
          SetAlarm(stream, sequence, kPollNs);
          return;
        }
        stream.granted_ = true;
        break;
      default:
        return;
    }
    Unpark(stream);
    stream.ready_ = true;
  }
  Ready(stream);
}

}  // namespace belay::engine
