#include "engine/engine.h"

#include <algorithm>

#include "base/check.h"
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
}  // namespace

// While one exists, streams that become runnable on this thread are collected and run at its end
// (Delivery::kCaller).
class Engine::Landing {
 public:
  explicit Landing(Engine& engine)
      : engine_(engine),
        outermost_(engine.config_.policy.delivery() == Policy::Delivery::kCaller && current_ == nullptr) {
    if (outermost_) current_ = this;
  }
  ~Landing() {
    if (!outermost_) return;
    while (!ready_.empty()) {
      Stream* stream = ready_.back();
      ready_.pop_back();
      engine_.RunFromPool(*stream);
    }
    current_ = nullptr;
  }
  static void Add(Stream& stream) { current_->ready_.push_back(&stream); }

 private:
  static thread_local Landing* current_ __attribute__((tls_model("initial-exec")));
  Engine& engine_;
  const bool outermost_;
  std::vector<Stream*> ready_;
};

thread_local Engine::Landing* Engine::Landing::current_ = nullptr;

Engine::Engine(const Config& config, memory::NodeMemory& memory)
    : config_(config), memory_(memory), pool_(*this, config.workers) {}

Stream* Engine::CreateStream(int device, int32_t id) {
  Stream* stream = nullptr;
  {
    MutexLock lock(streams_);
    if (!unused_.empty()) {
      stream = unused_.back().release();
      unused_.pop_back();
    }
  }
  if (stream == nullptr) stream = new Stream;
  stream->earlier_ = stream->submitted();
  stream->device = device;
  stream->id = id;
  return stream;
}

void Engine::DestroyStream(Stream* stream) {
  Wait(*stream, stream->submitted());
  pool_.Forget(*stream);
  {
    MutexLock lock(stream->mutex_);
    BELAY_CHECK(stream->queue_.empty() && !stream->claimed_ && !stream->blocked_);
    stream->life.fetch_add(1, std::memory_order_relaxed);
    stream->failure_ = {};
    stream->ready_ = false;
    stream->failed_.store(false, std::memory_order_relaxed);
  }
  MutexLock lock(streams_);
  unused_.emplace_back(stream);
}

void Engine::NoteFailure(Stream& stream, const Op& op, uint64_t sequence, Status status) {
  if (status.ok() || stream.failure_.code != 0) return;
  stream.failure_ = {status.code(), op.task + uint64_t{1}, op.thread, op.site, op.api};
  stream.failed_sequence_ = sequence;
  stream.failed_.store(true, std::memory_order_release);
}

uint64_t Engine::Submit(Stream& stream, Op& op, uint64_t bytes) {
  Landing landing(*this);
  uint64_t sequence;
  bool run_here, ready = false;
  {
    MutexLock lock(stream.mutex_);
    sequence = stream.submitted_.load(std::memory_order_relaxed) + 1;
    stream.submitted_.store(sequence, std::memory_order_release);
    op.task = static_cast<uint32_t>(sequence - 1 - stream.earlier_);
    bool idle = !stream.claimed_ && !stream.blocked_ && stream.queue_.empty();
    bool passes = op.kind != OpKind::kWait || op.record->complete();
    run_here = idle && passes && config_.policy.MayRunInline(bytes);
    if (op.kind == OpKind::kRecord) op.record->sequence_.store(sequence, std::memory_order_relaxed);
    if (run_here) {
      stream.claimed_ = true;
    } else {
      stream.queue_.Append(op);
      ready = !stream.claimed_ && !stream.blocked_ && !stream.ready_;
      if (ready) stream.ready_ = true;
    }
  }
  if (run_here) {
    RunHere(stream, op, sequence);
  } else if (ready) {
    Ready(stream);
  }
  return sequence;
}

// The rest of a submission to an idle stream. What others append meanwhile is for the pool, not for this
// caller.
void Engine::RunHere(Stream& stream, const Op& op, uint64_t sequence) {
  Status status = Execute(op);
  Release(op);
  bool wake, leftover;
  {
    MutexLock lock(stream.mutex_);
    NoteFailure(stream, op, sequence, status);
    stream.done_.store(sequence, std::memory_order_release);
    stream.claimed_ = false;
    wake = stream.sleepers_ != 0;
    leftover = !stream.queue_.empty();
    if (leftover) stream.ready_ = true;
  }
  if (wake) WakeSleepers(stream);
  if (leftover) Ready(stream);
  WakeStranded();
}

void Engine::SubmitRecord(Stream& stream, Event& event, Op& op) {
  EventRecord* record = event.NewRecord();
  record->stream_.store(&stream, std::memory_order_relaxed);
  record->stream_life_.store(stream.life.load(std::memory_order_relaxed), std::memory_order_relaxed);
  op.kind = OpKind::kRecord;
  op.record = record;
  record->AddReference();  // the event's; the first one goes with the op
  Submit(stream, op, 0);
  event.SetLatest(record);
}

void Engine::SubmitWait(Stream& stream, EventRecord& record, Op& op) {
  op.kind = OpKind::kWait;
  op.record = &record;
  record.AddReference();
  record.event()->pending_waits.fetch_add(1, std::memory_order_relaxed);
  Submit(stream, op, 0);
}

// Runs a stream whose claim the caller holds until it is empty, blocked, or task `until` is done.
void Engine::Drain(Stream& stream, uint64_t until) {
  stream.mutex_.lock();
  uint64_t done = stream.done_.load(std::memory_order_relaxed);
  bool wake = false;
  while (!stream.queue_.empty() && done < until) {
    Op& op = stream.queue_.Front();
    stream.mutex_.unlock();
    if (wake) WakeSleepers(stream);
    WakeStranded();  // for each task: somebody may wait for this one, and the next may take long or park
    if (op.kind == OpKind::kWait && !op.record->complete() && Park(stream, *op.record)) return;
    Status status = Execute(op);
    Release(op);
    stream.mutex_.lock();
    NoteFailure(stream, op, ++done, status);
    stream.queue_.Pop();
    stream.done_.store(done, std::memory_order_release);
    wake = stream.sleepers_ != 0;
  }
  stream.claimed_ = false;  // together with the last `done`: who saw that one may destroy the stream
  bool leftover = !stream.queue_.empty();
  if (leftover) stream.ready_ = true;
  stream.mutex_.unlock();
  if (wake) WakeSleepers(stream);
  if (leftover) Ready(stream);
  WakeStranded();
}

void Engine::WakeSleepers(Stream& stream) {
  stream.progress_.fetch_add(1, std::memory_order_release);
  os::FutexWakeAll(stream.progress_);
}

// Gives the claim back and ties the stream to the record; false if the record completed meanwhile.
bool Engine::Park(Stream& stream, EventRecord& record) {
  MutexLock edges(edges_);
  if (record.complete()) return false;
  stream.next_waiter_ = record.waiters_;
  record.waiters_ = &stream;
  MutexLock lock(stream.mutex_);
  stream.blocked_ = true;
  stream.blocked_on_ = &record;
  stream.claimed_ = false;
  return true;
}

// The waiters go one by one: as soon as one is free, whoever runs it may park it on another record.
void Engine::Complete(EventRecord& record) {
  bool first = true, more = true;
  while (more) {
    Stream* waiter;
    {
      MutexLock edges(edges_);
      if (first) record.complete_.store(1, std::memory_order_seq_cst);
      waiter = record.waiters_;
      if (waiter != nullptr) {
        record.waiters_ = waiter->next_waiter_;
        MutexLock lock(waiter->mutex_);
        waiter->blocked_ = false;
        waiter->blocked_on_ = nullptr;
        waiter->ready_ = true;
      }
      more = record.waiters_ != nullptr;
    }
    if (first && record.sleepers_.load(std::memory_order_seq_cst) != 0) os::FutexWakeAll(record.complete_);
    first = false;
    if (waiter != nullptr) Ready(*waiter);
  }
}

void Engine::Ready(Stream& stream) {
  if (config_.policy.delivery() == Policy::Delivery::kCaller) {
    Landing::Add(stream);
  } else if (pool_.workers() != 0) {
    if (!pool_.Post(stream)) RunFromPool(stream);
  } else {
    WakeStranded();
  }
}

void Engine::WakeStranded() {
  if (pool_.workers() != 0 && config_.policy.delivery() == Policy::Delivery::kPool) return;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (stranded_sleepers_.load(std::memory_order_relaxed) == 0) return;
  stranded_.fetch_add(1, std::memory_order_seq_cst);
  os::FutexWakeAll(stranded_);
}

void Engine::RunFromPool(Stream& stream) {
  {
    MutexLock lock(stream.mutex_);
    stream.ready_ = false;
    if (stream.claimed_ || stream.blocked_ || stream.queue_.empty()) return;
    stream.claimed_ = true;
  }
  Drain(stream, ~uint64_t{0});
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
      if (stream->blocked_) {
        next = stream->blocked_on_->stream();
        next_sequence = stream->blocked_on_->sequence();
      } else if (!stream->queue_.empty()) {
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

bool Engine::Wait(Stream& stream, uint64_t sequence, int64_t deadline_ns) {
  if (stream.done() >= sequence) return true;
  Landing landing(*this);
  bool alone = pool_.workers() == 0 || config_.policy.delivery() == Policy::Delivery::kCaller;
  for (;;) {
    while (RunSomethingFor(&stream, sequence)) {
    }
    for (int spin = 0; spin < kSpins && stream.done() < sequence; ++spin) os::Pause();
    if (stream.done() >= sequence) return true;
    if (Expired(deadline_ns)) return false;
    if (alone) {
      stranded_sleepers_.fetch_add(1, std::memory_order_seq_cst);
      uint32_t seen = stranded_.load(std::memory_order_seq_cst);
      if (!RunSomethingFor(&stream, sequence) && stream.done_.load(std::memory_order_seq_cst) < sequence) {
        os::FutexWait(stranded_, seen, TimeLeft(deadline_ns));
      }
      stranded_sleepers_.fetch_sub(1, std::memory_order_seq_cst);
      continue;
    }
    uint32_t seen;
    {
      MutexLock lock(stream.mutex_);
      if (stream.done_.load(std::memory_order_relaxed) >= sequence) return true;
      ++stream.sleepers_;
      seen = stream.progress_.load(std::memory_order_acquire);
    }
    os::FutexWait(stream.progress_, seen, TimeLeft(deadline_ns));
    MutexLock lock(stream.mutex_);
    --stream.sleepers_;
  }
}

bool Engine::WaitRecord(EventRecord& record, int64_t deadline_ns) {
  if (record.complete()) return true;
  Landing landing(*this);
  bool alone = pool_.workers() == 0 || config_.policy.delivery() == Policy::Delivery::kCaller;
  for (;;) {
    while (!record.complete() && RunSomethingFor(record.stream(), record.sequence())) {
    }
    for (int spin = 0; spin < kSpins && !record.complete(); ++spin) os::Pause();
    if (record.complete()) return true;
    if (Expired(deadline_ns)) return false;
    std::atomic<uint32_t>& sleepers = alone ? stranded_sleepers_ : record.sleepers_;
    std::atomic<uint32_t>& word = alone ? stranded_ : record.complete_;
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    uint32_t seen = word.load(std::memory_order_seq_cst);
    bool ran = RunSomethingFor(record.stream(), record.sequence());
    if (!ran && record.complete_.load(std::memory_order_seq_cst) == 0) {
      os::FutexWait(word, seen, TimeLeft(deadline_ns));
    }
    sleepers.fetch_sub(1, std::memory_order_seq_cst);
  }
}

bool Engine::Query(Stream& stream) {
  if (stream.Idle()) return true;
  if (pool_.workers() != 0 && config_.policy.delivery() == Policy::Delivery::kPool) return false;
  Landing landing(*this);
  RunSomethingFor(&stream, stream.done() + 1);
  return stream.Idle();
}

bool Engine::QueryRecord(EventRecord& record) {
  if (record.complete()) return true;
  if (pool_.workers() != 0 && config_.policy.delivery() == Policy::Delivery::kPool) return false;
  Landing landing(*this);
  RunSomethingFor(record.stream(), std::min(record.sequence(), record.stream()->done() + 1));
  return record.complete();
}

Failure Engine::TakeFailure(Stream& stream, uint64_t sequence) {
  if (!stream.failed()) return {};
  MutexLock lock(stream.mutex_);
  Failure failure = stream.failure_;
  if (failure.code == 0 || stream.failed_sequence_ > sequence) return {};
  stream.failure_ = {};
  stream.failed_.store(false, std::memory_order_release);
  return failure;
}

bool Engine::FindTask(Stream& stream, const memory::Allocation* block, Op* found) {
  MutexLock lock(stream.mutex_);
  bool touches = false;
  stream.queue_.ForEach([&](const Op& op) {
    if (touches) return;
    touches = (op.kind == OpKind::kCopy && (op.copy.dst.block == block || op.copy.src.block == block)) ||
              (op.kind == OpKind::kFill && op.fill.dst.block == block);
    if (touches) *found = op;
  });
  return touches;
}

}  // namespace belay::engine
