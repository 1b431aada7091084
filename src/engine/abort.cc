// Streams that are held, emptied or stopped: SPEC 20 §3.3, 21 §§6.3 and 7, and belay/control.h.
#include "engine/callback_scope.h"
#include "engine/engine.h"
#include "engine/landing.h"
#include "os/futex.h"
#include "os/thread.h"

namespace belay::engine {

// Takes the queued tasks away; a running one stays and ends.
void Engine::DropQueued(Stream& stream, Fate fate) {
  std::vector<Op> dropped;
  uint64_t submitted;
  bool wake;
  {
    MutexLock edges(edges_);
    MutexLock lock(stream.mutex_);
    submitted = stream.submitted_.load(std::memory_order_relaxed);
    Unpark(stream);
    bool away = stream.parked_ == Stream::Parked::kAway;
    bool front_runs = away || (stream.claimed_ && !stream.inline_);
    dropped = stream.queue_.TakeAll(front_runs && !stream.queue_.empty());
    if (front_runs) stream.drop_front_ = true;
    if (away || stream.claimed_) {
      stream.dropped_ += dropped.size();
    } else {
      stream.granted_ = stream.drop_front_ = false;
      stream.dropped_ = 0;
      stream.done_.store(stream.submitted_.load(std::memory_order_relaxed), std::memory_order_release);
    }
    wake = Awaited(stream);
  }
  // Before they are released: who keeps a record or a signal in mind may forget it.
  if (watched_) observer_->Dropped(stream, submitted);
  for (const Op& op : dropped) Release(op, fate);
  if (wake) WakeSleepers(stream);
  WakeStranded();
}

// Until nothing of the stream runs, its user code included or not; false at the deadline.
bool Engine::AwaitQuiet(Stream& stream, int64_t deadline_ns, bool user_code) {
  Landing::RunAll();
  for (;;) {
    uint32_t seen;
    {
      MutexLock lock(stream.mutex_);
      bool away = user_code && stream.parked_ == Stream::Parked::kAway;
      if (!stream.claimed_ && !away) return true;
      ++stream.sleepers_;
      stream.awaited_ = 0;
      seen = stream.progress_.load(std::memory_order_acquire);
    }
    int64_t left = deadline_ns == kNoDeadline ? os::kForever : deadline_ns - os::MonotonicNs();
    bool late = deadline_ns != kNoDeadline && left <= 0;
    if (!late) os::FutexWait(stream.progress_, seen, left);
    MutexLock lock(stream.mutex_);
    --stream.sleepers_;
    if (late) return false;
  }
}

bool Engine::Abort(const std::vector<Stream*>& streams, int32_t code, int64_t deadline_ns, Fate fate) {
  Landing landing(*this);
  for (Stream* stream : streams) {
    MutexLock lock(stream->mutex_);
    ++stream->freezers_;
    stream->trouble_.fetch_or(Stream::kFrozen, std::memory_order_relaxed);
  }
  bool quiet = true;
  for (Stream* stream : streams) quiet = quiet && AwaitQuiet(*stream, deadline_ns);
  for (Stream* stream : streams) {
    if (quiet) {
      stream->abort_code_.store(code, std::memory_order_release);
      stream->aborts_.fetch_add(1, std::memory_order_seq_cst);
      DropQueued(*stream, fate);
      HostKnows(*stream, stream->submitted());
    }
    bool ready;
    {
      MutexLock lock(stream->mutex_);
      if (stream->freezers_ != 0 && --stream->freezers_ == 0) {
        stream->trouble_.fetch_and(static_cast<uint8_t>(~Stream::kFrozen), std::memory_order_relaxed);
      }
      if (quiet) {
        stream->failure_ = {};
        stream->failed_.store(false, std::memory_order_release);
        stream->fail_next_ = 0;
      }
      ready = stream->Runnable();
      if (ready) stream->ready_ = true;
    }
    if (ready) Ready(*stream);
  }
  return quiet;
}

void Engine::Stop(Domain& domain, const Failure& failure) {
  std::vector<Stream*> streams;
  {
    MutexLock lock(domain.mutex_);
    if (domain.stopped()) return;
    domain.first_ = failure;
    domain.stopped_.store(true, std::memory_order_release);
    streams = domain.streams_;
  }
  for (Stream* stream : streams) {
    {
      MutexLock lock(stream->mutex_);
      stream->trouble_.fetch_or(Stream::kStopped, std::memory_order_relaxed);
    }
    DropQueued(*stream);
  }
}

void Engine::Restart(Domain& domain) {
  std::vector<Stream*> streams;
  {
    MutexLock lock(domain.mutex_);
    domain.first_ = {};
    domain.stopped_.store(false, std::memory_order_release);
    streams = domain.streams_;
  }
  for (Stream* stream : streams) {
    MutexLock lock(stream->mutex_);
    stream->trouble_.fetch_and(static_cast<uint8_t>(~Stream::kStopped), std::memory_order_relaxed);
  }
}

// --- By hand

void Engine::Hold(Stream& stream, Holder holder) {
  {
    MutexLock lock(stream.mutex_);
    stream.held_ |= static_cast<uint8_t>(holder);
  }
  // A function that holds the stream which waits for it must not wait for itself.
  const CallbackScope* scope = CallbackScope::Current();
  AwaitQuiet(stream, kNoDeadline, scope == nullptr || scope->stream != &stream);
}

void Engine::Resume(Stream& stream, Holder holder) {
  Landing landing(*this);
  bool ready;
  {
    MutexLock lock(stream.mutex_);
    stream.held_ &= static_cast<uint8_t>(~static_cast<uint8_t>(holder));
    ready = stream.Runnable();
    if (ready) stream.ready_ = true;
  }
  if (ready) Ready(stream);
  WakeStranded();
}

bool Engine::held(Stream& stream) {
  MutexLock lock(stream.mutex_);
  return (stream.held_ & static_cast<uint8_t>(Holder::kTest)) != 0;
}

bool Engine::Land(Stream& stream) {
  Landing landing(*this);
  uint64_t sequence;
  if (!AwaitQuiet(stream, kNoDeadline)) return false;
  {
    MutexLock lock(stream.mutex_);
    bool runs = stream.claimed_ || stream.parked_ != Stream::Parked::kNo;
    if (runs || stream.frozen() || stream.queue_.empty()) return false;
    sequence = stream.done_.load(std::memory_order_relaxed) + 1;
    stream.claimed_ = true;
  }
  Drain(stream, sequence, true);
  AwaitQuiet(stream, kNoDeadline);
  return stream.done() >= sequence;
}

void Engine::FailNext(Stream& stream, int32_t code) {
  MutexLock lock(stream.mutex_);
  stream.fail_next_ = code;
}

std::vector<Engine::PendingTask> Engine::Pending(Stream& stream, size_t most, size_t* count) {
  std::vector<PendingTask> tasks;
  size_t total = 0;
  MutexLock lock(stream.mutex_);
  bool waits = stream.parked_ != Stream::Parked::kNo;
  stream.queue_.ForEach([&](const Op& op) {
    if (total++ < most) tasks.push_back({op, waits && total == 1});
  });
  *count = total;
  return tasks;
}

// --- What stands in the way

Engine::Blockage Engine::WhyBlocked(Stream& stream) {
  Blockage blockage;
  MutexLock edges(edges_);
  MutexLock lock(stream.mutex_);
  if (stream.queue_.empty()) return blockage;
  blockage.op = stream.queue_.Front();
  switch (stream.parked_) {
    case Stream::Parked::kNo:
      blockage.by = stream.held_ != 0 ? Blockage::By::kHeld : Blockage::By::kRunning;
      break;
    case Stream::Parked::kRecord: {
      const EventRecord& record = *stream.parked_record_;
      blockage.by = Blockage::By::kRecord;
      blockage.recorder = record.stream();
      blockage.record_dropped = record.dropped() || record.forgotten();
      break;
    }
    case Stream::Parked::kSignal: {
      const Signal& signal = *stream.parked_signal_;
      blockage.by = Blockage::By::kSignal;
      blockage.signal = &signal;
      blockage.orphan = signal.orphan.load(std::memory_order_relaxed);
      blockage.last_api = signal.last_api_;
      blockage.last_thread = signal.last_thread_;
      blockage.last_site = signal.last_site_;
      break;
    }
    case Stream::Parked::kWord:
      blockage.by = Blockage::By::kWord;
      break;
    case Stream::Parked::kAway:
      blockage.by = Blockage::By::kUserCode;
      break;
  }
  return blockage;
}

Engine::Activity Engine::LookAround(const Signal* signal) {
  std::vector<Stream*> streams;
  {
    MutexLock lock(streams_);
    streams = live_;
  }
  Activity activity;
  for (Stream* stream : streams) {
    MutexLock lock(stream->mutex_);
    activity.running = activity.running || stream->claimed_ || stream->Runnable() ||
                       stream->parked_ == Stream::Parked::kAway;
    activity.held = activity.held || (stream->held_ != 0 && !stream->queue_.empty());
    if (signal == nullptr || activity.changer != nullptr) continue;
    stream->ForEachQueued([&](const Op& op) {
      bool changes = (op.kind == OpKind::kSignal && op.signal.signal == signal) ||
                     (op.kind == OpKind::kRecord && op.record->event()->bit() == signal);
      if (!changes || activity.changer != nullptr) return;
      activity.changer = stream;
      activity.change = op;
    });
  }
  return activity;
}

}  // namespace belay::engine
