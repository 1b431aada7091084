// Host threads that wait: they run what they wait for, and sleep only when nothing of it can run here.
#include <algorithm>

#include "engine/engine.h"
#include "engine/landing.h"
#include "engine/planted_fault.h"
#include "os/futex.h"
#include "os/thread.h"

namespace belay::engine {
namespace {
constexpr int kSpins = 60;  // about a microsecond and a half

int64_t TimeLeft(int64_t deadline_ns) {
  if (deadline_ns == Engine::kNoDeadline) return os::kForever;
  return std::max<int64_t>(deadline_ns - os::MonotonicNs(), 0);
}

bool Expired(int64_t deadline_ns) {
  return deadline_ns != Engine::kNoDeadline && TimeLeft(deadline_ns) == 0;
}

int64_t Shorter(int64_t a, int64_t b) {
  if (a == os::kForever) return b;
  if (b == os::kForever) return a;
  return std::min(a, b);
}

}  // namespace

// Asks the observer before each sleep how long it may last.
class Engine::Nap {
 public:
  Nap(Engine& engine, Stream& stream, uint64_t sequence, int64_t deadline_ns)
      : engine_(engine), stream_(stream), sequence_(sequence), deadline_ns_(deadline_ns) {}

  void Sleep(const std::atomic<uint32_t>& word, uint32_t seen) {
    Landing::HandOn();
    int64_t slept_ns = started_ns_ == 0 ? 0 : os::MonotonicNs() - started_ns_;
    if (started_ns_ == 0) started_ns_ = os::MonotonicNs();
    HostSleeps sleeps(engine_, deadline_ns_ == kNoDeadline);
    int64_t most = engine_.observer().Waiting(stream_, sequence_, slept_ns);
    os::FutexWait(word, seen, Shorter(TimeLeft(deadline_ns_), most));
  }

 private:
  Engine& engine_;
  Stream& stream_;
  const uint64_t sequence_;
  const int64_t deadline_ns_;
  int64_t started_ns_ = 0;
};

void Engine::WakeSleepers(Stream& stream) {
  stream.progress_.fetch_add(1, std::memory_order_release);
  os::FutexWakeAll(stream.progress_);
}

void Engine::WakeStranded() {
  if (pooled_) return;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (stranded_sleepers_.load(std::memory_order_relaxed) == 0) return;
  stranded_.fetch_add(1, std::memory_order_seq_cst);
  os::FutexWakeAll(stranded_);
}

// Runs tasks that `sequence` of the stream depends on, if any can run here. False when it is done or must be
// waited for. A wait binds to a record that was submitted before it, so following the waits comes to an end.
bool Engine::RunSomethingFor(Stream* stream, uint64_t sequence) {
  for (;;) {
    Stream* next;
    uint64_t next_sequence;
    {
      MutexLock lock(stream->mutex_);
      if (stream->done_.load(std::memory_order_relaxed) >= sequence || stream->claimed_) return false;
      if (stream->parked_ == Stream::Parked::kRecord) {
        next = stream->parked_record_->stream();
        next_sequence = stream->parked_record_->sequence();
      } else if (stream->Runnable()) {
        stream->claimed_ = true;
        stream->ready_ = false;
        next = nullptr;
      } else {
        return false;
      }
    }
    if (next == nullptr) {
      Drain(*stream, sequence);
      return true;
    }
    stream = next;
    sequence = next_sequence;
  }
}

bool Engine::WaitUnseen(Stream& stream, uint64_t sequence, int64_t deadline_ns) {
  if (BELAY_FAULT(5) && sequence != 0) --sequence;
  if (stream.done() >= sequence) return true;
  Landing landing(*this, Landing::Pooled::kKeepsOne);
  Nap nap(*this, stream, sequence, deadline_ns);
  for (;;) {
    while (RunSomethingFor(&stream, sequence)) {
    }
    Landing::RunAll();
    Landing::HandOn();
    for (int spin = 0; spin < kSpins && stream.done() < sequence; ++spin) os::Pause();
    if (stream.done() >= sequence) return true;
    if (Expired(deadline_ns)) return false;
    if (!pooled_) {
      stranded_sleepers_.fetch_add(1, std::memory_order_seq_cst);
      uint32_t seen = stranded_.load(std::memory_order_seq_cst);
      if (!RunSomethingFor(&stream, sequence) && stream.done_.load(std::memory_order_seq_cst) < sequence) {
        nap.Sleep(stranded_, seen);
      }
      stranded_sleepers_.fetch_sub(1, std::memory_order_seq_cst);
      continue;
    }
    uint32_t seen;
    {
      MutexLock lock(stream.mutex_);
      if (stream.done_.load(std::memory_order_relaxed) >= sequence) return true;
      ++stream.sleepers_;
      stream.awaited_ = std::min(stream.awaited_, sequence);
      seen = stream.progress_.load(std::memory_order_acquire);
    }
    nap.Sleep(stream.progress_, seen);
    MutexLock lock(stream.mutex_);
    --stream.sleepers_;
  }
}

bool Engine::WaitRecord(EventRecord& record, int64_t deadline_ns) {
  const bool ended = WaitRecordUnseen(record, deadline_ns);
  HostKnows(record);
  return ended;
}

bool Engine::WaitRecordUnseen(EventRecord& record, int64_t deadline_ns) {
  if (!record.pending()) return true;
  Landing landing(*this, Landing::Pooled::kKeepsOne);
  Nap nap(*this, *record.stream(), record.sequence(), deadline_ns);
  for (;;) {
    while (record.pending() && RunSomethingFor(record.stream(), record.sequence())) {
    }
    Landing::RunAll();
    Landing::HandOn();
    for (int spin = 0; spin < kSpins && record.pending(); ++spin) os::Pause();
    if (!record.pending()) return true;
    if (Expired(deadline_ns)) return false;
    std::atomic<uint32_t>& sleepers = pooled_ ? record.sleepers_ : stranded_sleepers_;
    std::atomic<uint32_t>& word = pooled_ ? record.state_ : stranded_;
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    uint32_t seen = word.load(std::memory_order_seq_cst);
    bool ran = RunSomethingFor(record.stream(), record.sequence());
    if (!ran && record.pending()) nap.Sleep(word, seen);
    sleepers.fetch_sub(1, std::memory_order_seq_cst);
  }
}

bool Engine::Query(Stream& stream) {
  const uint64_t asked = stream.submitted();
  const bool complete = QueryUnseen(stream);
  if (complete) HostKnows(stream, asked);
  return complete;
}

bool Engine::QueryUnseen(Stream& stream) {
  if (BELAY_FAULT(4) && stream.done() + 1 == stream.submitted()) return true;
  if (stream.Idle()) return true;
  if (pooled_) return false;
  Landing landing(*this);
  RunSomethingFor(&stream, stream.done() + 1);
  return stream.Idle();
}

bool Engine::QueryRecord(EventRecord& record) {
  const bool complete = QueryRecordUnseen(record);
  if (watched_ && complete) observer_->LearnedRecord(record);
  return complete;
}

bool Engine::QueryRecordUnseen(EventRecord& record) {
  if (record.complete()) return true;
  if (record.dropped()) return false;
  Landing landing(*this);
  Stream& stream = *record.stream();
  uint64_t next = stream.done() + 1;
  if (!pooled_ || next == record.sequence()) RunSomethingFor(&stream, std::min(record.sequence(), next));
  if (record.complete()) return true;
  // SPEC 20 §4.3: complete when what it captured has ended; somebody is at the record itself.
  MutexLock lock(stream.mutex_);
  return record.sequence() <= stream.done_.load(std::memory_order_relaxed) + 1 && stream.claimed_ &&
         record.state_.load(std::memory_order_relaxed) == EventRecord::kPending;
}

bool Engine::QueryWaits(Event& event) {
  std::atomic<uint32_t>& waits = event.bit() != nullptr ? event.bit()->pending_waits : event.pending_waits;
  if (waits.load(std::memory_order_acquire) == 0) return true;
  if (pooled_) return false;
  Landing landing(*this);
  std::vector<Stream*> streams;
  {
    MutexLock lock(streams_);
    streams = live_;
  }
  for (Stream* stream : streams) {
    bool has_wait = false;
    {
      MutexLock lock(stream->mutex_);
      stream->ForEachQueued([&](const Op& op) {
        has_wait =
            has_wait ||
            (op.kind == OpKind::kWait && op.wait.record != nullptr && op.wait.record->event() == &event) ||
            (op.kind == OpKind::kAwait && op.await.signal == event.bit());
      });
    }
    if (has_wait) RunSomethingFor(stream, stream->done() + 1);
  }
  Landing::RunAll();
  return waits.load(std::memory_order_acquire) == 0;
}

bool Engine::FindTask(Stream& stream, const memory::Allocation* block, Op* found) {
  MutexLock lock(stream.mutex_);
  bool touches = false;
  stream.queue_.ForEach([&](const Op& op) {
    if (touches) return;
    touches = (op.kind == OpKind::kCopy && (op.copy.dst.block == block || op.copy.src.block == block)) ||
              (op.kind == OpKind::kFill && op.fill.dst.block == block) ||
              (op.kind == OpKind::kReduce &&
               (op.reduce.dst_side.block == block || op.reduce.src_side.block == block)) ||
              (op.kind == OpKind::kPrefetch && op.prefetch.side.block == block);
    if (touches) *found = op;
  });
  return touches;
}

}  // namespace belay::engine
