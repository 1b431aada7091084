#include "engine/engine.h"

#include <algorithm>
#include <cstdlib>

#include "base/check.h"
#include "engine/landing.h"
#include "engine/planted_fault.h"
#include "os/futex.h"
#include "os/thread.h"
#include "os/ticks.h"

namespace belay::engine {
namespace {

// Tasks whose turn the program can notice without a call (Policy::Delivery::kWaiter).
bool Observable(const Op& op) {
  switch (op.kind) {
    case OpKind::kSignal:
    case OpKind::kValueWrite:
    case OpKind::kHostFunc:
    case OpKind::kCallback:
      return true;
    case OpKind::kRecord:
      return op.record->event()->bit() != nullptr;
    default:
      return false;
  }
}

// Tasks longer than handing a stream to another thread.
bool TakesLong(const Op& op) {
  constexpr uint64_t kLong = Policy::kSmall / 4;
  return (op.kind == OpKind::kCopy && op.copy.shape.Bytes() > kLong) ||
         (op.kind == OpKind::kFill && op.fill.bytes > kLong) ||
         (op.kind == OpKind::kReduce && op.reduce.bytes > kLong);
}

// Tasks that need no place in the queue when the stream is idle.
bool Immediate(const Op& op) {
  switch (op.kind) {
    case OpKind::kCopy:
    case OpKind::kFill:
    case OpKind::kReduce:
    case OpKind::kRecord:
      return true;
    case OpKind::kWait:
      return op.wait.record == nullptr || op.wait.record->complete();
    default:
      return false;
  }
}
}  // namespace

constinit thread_local Engine::Landing* Engine::Landing::current_ = nullptr;

Engine::Engine(const Config& config, memory::NodeMemory& memory)
    : config_(config),
      lazy_(config.policy.delivery() == Policy::Delivery::kWaiter ||
            (config.policy.delivery() == Policy::Delivery::kPool && config.workers == 0)),
      pooled_(config.policy.delivery() == Policy::Delivery::kPool && config.workers != 0),
      at_once_(config.policy.MayRunInline(kAtOnceBytes)),
      watched_(config.watched),
      guard_(config.guard),
      observer_(config.observer != nullptr ? config.observer : &nobody_),
      memory_(memory),
      timer_(*this),
      host_pool_(*this),
      pool_(*this, config.workers) {
  os::NowTicks();  // the clock's base
}

// --- Streams

Stream* Engine::CreateStream(int device, int32_t id, Domain* domain, bool persistent) {
  Stream* stream = nullptr;
  {
    MutexLock lock(streams_);
    if (!unused_.empty()) {
      stream = unused_.back().release();
      unused_.pop_back();
    }
  }
  if (stream == nullptr) stream = new Stream;
  {
    MutexLock lock(stream->mutex_);  // a late reader of its earlier life may look
    stream->earlier_ = stream->submitted();
    stream->device = device;
    stream->id = id;
    stream->domain = domain;
    stream->persistent_ = persistent;
  }
  if (domain != nullptr) {
    MutexLock lock(domain->mutex_);
    domain->streams_.push_back(stream);
    if (domain->stopped()) stream->trouble_.store(Stream::kStopped, std::memory_order_relaxed);
  }
  MutexLock lock(streams_);
  stream->live_index_ = live_.size();
  live_.push_back(stream);
  return stream;
}

void Engine::DestroyStream(Stream* stream) {
  if (stream->persistent_) DropQueued(*stream);
  Wait(*stream, stream->submitted());
  pool_.Forget(*stream);
  if (Domain* domain = stream->domain; domain != nullptr) {
    MutexLock lock(domain->mutex_);
    std::erase(domain->streams_, stream);
  }
  {
    MutexLock lock(stream->mutex_);
    BELAY_CHECK(stream->queue_.empty() && !stream->claimed_ && stream->parked_ == Stream::Parked::kNo);
    stream->life.fetch_add(1, std::memory_order_relaxed);
    stream->domain = nullptr;
    stream->failure_ = {};
    stream->ready_ = false;
    stream->held_ = stream->freezers_ = 0;
    stream->granted_ = stream->drop_front_ = false;
    stream->dropped_ = 0;
    stream->trouble_.store(0, std::memory_order_relaxed);
    stream->fail_next_ = 0;
    stream->failed_.store(false, std::memory_order_relaxed);
  }
  MutexLock lock(streams_);
  live_[stream->live_index_] = live_.back();
  live_[stream->live_index_]->live_index_ = stream->live_index_;
  live_.pop_back();
  unused_.emplace_back(stream);
}

// --- Submitting

// A small task on an idle stream takes effect under the stream's lock: nobody can see it pending, so nothing
// is queued, pinned or claimed. 0, and nothing happened, when it cannot be done so.
uint64_t Engine::LandAtOnce(Stream& stream, Op& op) {
  uint64_t sequence;
  {
    MutexLock lock(stream.mutex_);
    if (!stream.Plain()) return 0;
    switch (op.kind) {
      case OpKind::kCopy:
        if (!ExecuteCopy(op.copy).ok()) return 0;  // the longer way meets it again, and tells
        break;
      case OpKind::kFill:
        if (!FillNow(op.fill)) return 0;
        break;
      default:  // a record, or a wait that passes: the caller does the rest
        break;
    }
    sequence = stream.submitted_.load(std::memory_order_relaxed) + 1;
    stream.submitted_.store(sequence, std::memory_order_relaxed);
    stream.done_.store(sequence, std::memory_order_release);
    op.task = static_cast<uint32_t>(sequence - 1 - stream.earlier_);
    if (watched_) [[unlikely]]
      ShowSubmission(stream, op, sequence);
  }
  return sequence;
}

void Engine::ShowSubmission(const Stream& stream, const Op& op, uint64_t sequence) const {
  const Signal* bit = nullptr;
  if (op.kind == OpKind::kRecord) bit = op.record->event()->bit();
  if (op.kind == OpKind::kReset) bit = op.reset.event->bit();
  observer_->Submitted({&stream, stream.device, stream.id, sequence, op, bit, stream.persistent_});
}

uint64_t Engine::Submit(Stream& stream, Op& op, uint64_t bytes) {
  if (bytes <= kAtOnceBytes && at_once_ && (op.kind == OpKind::kCopy || op.kind == OpKind::kFill)) {
    if (uint64_t sequence = LandAtOnce(stream, op); sequence != 0) [[likely]] {
      if (op.owns_source) free(const_cast<uint8_t*>(op.copy.shape.src));
      WordsChanged();
      return sequence;
    }
  }
  return SubmitSlowly(stream, op, bytes);
}

uint64_t Engine::SubmitSlowly(Stream& stream, Op& op, uint64_t bytes) {
  Landing landing(*this);
  uint64_t sequence;
  bool run_here = false, drain_here = false, ready = false, refused = false;
  bool word_wait = op.kind == OpKind::kValueWait;
  bool observable = lazy_ && Observable(op);  // asked now: the task may be gone when it is needed
  {
    MutexLock lock(stream.mutex_);
    sequence = stream.submitted_.load(std::memory_order_relaxed);
    op.code = std::exchange(stream.fail_next_, 0);
    refused = stream.troubled();
    if (!refused && !stream.persistent_) [[likely]] {
      stream.submitted_.store(++sequence, std::memory_order_release);
    }
    op.task = static_cast<uint32_t>(sequence - 1 - stream.earlier_);
    if (op.kind == OpKind::kRecord) op.record->sequence_.store(sequence, std::memory_order_relaxed);
    if (!refused) [[likely]] {
      bool idle = !stream.claimed_ && stream.parked_ == Stream::Parked::kNo && stream.queue_.empty() &&
                  !stream.Stays();
      bool may_run = idle && config_.policy.MayRunInline(bytes);
      run_here = may_run && op.code == 0 && Immediate(op);
      drain_here = may_run && !run_here;
      if (word_wait) queued_word_waits_.fetch_add(1, std::memory_order_relaxed);
      Pin(op);
      if (watched_) [[unlikely]]
        ShowSubmission(stream, op, sequence);
      if (run_here) {
        stream.claimed_ = stream.inline_ = true;
      } else {
        Op& last = stream.queue_.Append(op);
        if (BELAY_FAULT(3) && !stream.claimed_ &&
            sequence == stream.done_.load(std::memory_order_relaxed) + 2) {
          std::swap(stream.queue_.Front(), last);
        }
        if (drain_here) {
          stream.claimed_ = true;
        } else {
          ready = stream.Runnable() && !stream.ready_;
          if (ready) stream.ready_ = true;
        }
      }
    }
  }
  if (run_here) {
    RunHere(stream, op, sequence);
    return sequence;
  }
  if (refused) [[unlikely]] {
    Pin(op);
    if (word_wait) queued_word_waits_.fetch_add(1, std::memory_order_relaxed);
    Release(op, Fate::kDropped);
    return sequence;
  }
  if (drain_here) {
    Drain(stream, sequence);
  } else if (ready) {
    Ready(stream);
  }
  if (lazy_) {
    if (word_wait) UrgeAll();
    if (observable || queued_word_waits_.load(std::memory_order_relaxed) != 0) Urge(stream, sequence);
  }
  return sequence;
}

void Engine::SubmitRecord(Stream& stream, Event& event, Op& op) {
  op.kind = OpKind::kRecord;
  if (at_once_ && !watched_ && event.bit() == nullptr) {
    if (uint64_t sequence = LandAtOnce(stream, op); sequence != 0) [[likely]] {
      event.RecordComplete(stream, stream.life.load(std::memory_order_relaxed), sequence);
      return;
    }
  }
  EventRecord* record = event.NewRecord();
  record->stream_.store(&stream, std::memory_order_relaxed);
  record->stream_life_.store(stream.life.load(std::memory_order_relaxed), std::memory_order_relaxed);
  op.record = record;
  record->AddReference();  // the event's; the first one goes with the op
  SubmitSlowly(stream, op, 0);
  event.SetLatest(record);
}

void Engine::SubmitWait(Stream& stream, EventRecord& record, Op& op, int64_t timeout_ns) {
  op.kind = OpKind::kWait;
  if (at_once_ && !watched_ && record.complete() && LandAtOnce(stream, op) != 0) return;
  op.wait = {&record, timeout_ns, record.HoldId()};
  record.AddReference();
  record.event()->pending_waits.fetch_add(1, std::memory_order_relaxed);
  SubmitSlowly(stream, op, 0);
}

void Engine::SubmitPass(Stream& stream, Op& op) {
  op.kind = OpKind::kWait;
  op.wait = {nullptr, 0, false};
  SubmitSlowly(stream, op, 0);
}

void Engine::SubmitReset(Stream& stream, Event& event, Op& op) {
  op.kind = OpKind::kReset;
  op.reset = {&event, event.Latest()};
  event.AddReference();
  SubmitSlowly(stream, op, 0);
}

void Engine::SubmitSignal(Stream& stream, Signal& signal, Signal::Change change, uint32_t value, Op& op) {
  op.kind = OpKind::kSignal;
  op.signal = {&signal, change, value};
  signal.AddReference();
  SubmitSlowly(stream, op, 0);
}

void Engine::SubmitAwait(Stream& stream, Signal& signal, Signal::Condition condition, uint32_t value,
                         bool clear, int64_t timeout_ns, Op& op) {
  op.kind = OpKind::kAwait;
  op.await = {&signal, condition, clear, value, timeout_ns};
  signal.AddReference();
  signal.pending_waits.fetch_add(1, std::memory_order_relaxed);
  SubmitSlowly(stream, op, 0);
}

// The rest of a submission to an idle stream. What others append meanwhile is for the pool, not for this
// caller.
void Engine::RunHere(Stream& stream, const Op& op, uint64_t sequence) {
  Status status = Execute(op);
  if (!status.ok()) [[unlikely]] {
    Failure failure = FailureOf(stream, op, status);
    TellAndWait(failure);
    if (StopsDomain(stream)) Stop(*stream.domain, failure);
  }
  Release(op);
  bool wake, leftover;
  {
    MutexLock lock(stream.mutex_);
    NoteFailure(stream, op, sequence, status);
    stream.done_.store(sequence + std::exchange(stream.dropped_, 0), std::memory_order_release);
    stream.claimed_ = stream.inline_ = false;
    wake = Awaited(stream);
    leftover = stream.Runnable();
    if (leftover) stream.ready_ = true;
  }
  if (wake) WakeSleepers(stream);
  if (leftover) Ready(stream);
  WakeStranded();
}

// --- Running

// Runs a stream whose claim the caller holds until it is empty, parked, held, or task `until` is done.
void Engine::Drain(Stream& stream, uint64_t until, bool held_too) {
  constexpr int kTasksBeforeHandingOn = 64;
  stream.mutex_.lock();
  bool wake = false;
  int tasks = 0;
  while (!stream.queue_.empty() && (held_too || !stream.Stays()) &&
         stream.done_.load(std::memory_order_relaxed) < until) {
    Op& op = stream.queue_.Front();
    bool granted = std::exchange(stream.granted_, false);
    stream.mutex_.unlock();
    if (wake) WakeSleepers(stream);
    WakeStranded();  // for each task: somebody may wait for this one, and the next may take long or park
    if (TakesLong(op) || ++tasks % kTasksBeforeHandingOn == 0) Landing::HandOn();
    Status status(op.code);
    Step step = op.code == 0 ? Begin(stream, op, granted, &status) : Step::kRun;
    if (step == Step::kGone) {
      WakeStranded();  // who found the stream claimed may look at what it waits for
      return;
    }
    if (step == Step::kRun && status.ok()) status = Execute(op);
    if (!status.ok() && Tell(stream, op, status)) return;
    Release(op, step == Step::kDropped ? Fate::kDropped : Fate::kDone);
    stream.mutex_.lock();
    wake = Finish(stream, op, status);
  }
  stream.claimed_ = false;  // together with the last `done`: who saw that one may destroy the stream
  wake = Awaited(stream) || wake;
  bool leftover = stream.Runnable();
  if (leftover) stream.ready_ = true;
  stream.mutex_.unlock();
  if (wake) WakeSleepers(stream);
  if (leftover) Ready(stream);
  WakeStranded();
}

// What comes before a task takes effect: its wait, or the way to where user code runs.
Engine::Step Engine::Begin(Stream& stream, const Op& op, bool granted, Status* status) {
  switch (op.kind) {
    case OpKind::kWait:
      if (BELAY_FAULT(1)) return Step::kRun;
      if (BELAY_FAULT(2) && op.wait.record != nullptr) {
        return ParkOnRecord(stream, *op.wait.record->event()->Latest(), op.wait.timeout_ns);
      }
      return op.wait.record == nullptr || op.wait.record->complete()
                 ? Step::kRun
                 : ParkOnRecord(stream, *op.wait.record, op.wait.timeout_ns);
    case OpKind::kAwait:
      return granted ? Step::kRun : ParkOnSignal(stream, op.await);
    case OpKind::kValueWait:
      return granted ? Step::kRun : ParkOnWord(stream, op.value);
    case OpKind::kHostFunc:
    case OpKind::kCallback:
      return CallOut(stream, op, status);
    default:
      return Step::kRun;
  }
}

Engine::Step Engine::CallOut(Stream& stream, const Op& op, Status* status) {
  constexpr Status kNoThread{207005};
  Op out = op;  // once the stream went away, its front may be finished and popped at any time
  if (BELAY_FAULT(9) && op.kind == OpKind::kCallback) out.host.blocks = false;
  bool leaves = out.kind == OpKind::kHostFunc || out.host.blocks;
  if (leaves) {
    if (Step step = GoAway(stream); step != Step::kGone) return step;
  }
  bool out_there =
      out.kind == OpKind::kHostFunc ? host_pool_.Add(stream, out) : observer_->HandOver(stream, out);
  if (out_there) return leaves ? Step::kGone : Step::kRun;
  if (leaves) ComeBack(stream);
  if (out.kind == OpKind::kHostFunc) *status = kNoThread;
  return Step::kRun;
}

// The end of a task that was the front; whether somebody sleeps on the stream.
bool Engine::Finish(Stream& stream, const Op& op, Status status) {
  uint64_t done = stream.done_.load(std::memory_order_relaxed) + 1;
  NoteFailure(stream, op, done, status);
  stream.queue_.Pop();
  stream.drop_front_ = false;
  stream.done_.store(done + std::exchange(stream.dropped_, 0), std::memory_order_release);
  return Awaited(stream);
}

// Whether a sleeping host thread should look again; all of them do then.
bool Engine::Awaited(Stream& stream) {
  if (stream.awaited_ > stream.done_.load(std::memory_order_relaxed)) [[likely]]
    return false;
  stream.awaited_ = ~uint64_t{0};
  return true;
}

void Engine::FinishAway(Stream& stream, Status status) {
  Landing landing(*this);
  bool wake, ready;
  Op op;
  {
    MutexLock lock(stream.mutex_);
    op = stream.queue_.Front();
  }
  const bool function = op.kind == OpKind::kHostFunc || op.kind == OpKind::kCallback;
  if (watched_ && function) observer_->Returned(stream, op);
  Release(op);
  {
    MutexLock lock(stream.mutex_);
    stream.parked_ = Stream::Parked::kNo;
    wake = Finish(stream, op, status);
    ready = stream.Runnable();
    if (ready) stream.ready_ = true;
  }
  if (wake) WakeSleepers(stream);
  if (ready) Ready(stream);
  WakeStranded();
}

// --- Failures

Failure Engine::FailureOf(const Stream& stream, const Op& op, Status status) {
  return {status.code(),
          op.task + uint64_t{1},
          op.thread,
          op.site,
          op.api,
          stream.device,
          stream.id,
          0,
          const_cast<Stream*>(&stream)};
}

void Engine::NoteFailure(Stream& stream, const Op& op, uint64_t sequence, Status status) {
  static std::atomic<uint64_t> failures{0};
  if (status.ok() || stream.failure_.code != 0) return;
  stream.failure_ = FailureOf(stream, op, status);
  stream.failure_.order = failures.fetch_add(1, std::memory_order_relaxed) + 1;
  stream.failed_sequence_ = sequence;
  stream.failed_.store(true, std::memory_order_release);
}

namespace {
struct Told {
  Engine* engine;
  Stream* stream;
  Failure failure;
};
}  // namespace

bool Engine::StopsDomain(const Stream& stream) {
  return stream.domain != nullptr && stream.domain->stops_on_failure.load(std::memory_order_relaxed);
}

// Tells the observer of a failure before anybody can see it, and stops what the mode stops. True when the
// stream went away for that.
bool Engine::Tell(Stream& stream, const Op& op, Status status) {
  Failure failure = FailureOf(stream, op, status);
  if (GoAway(stream) != Step::kGone) {  // it was dropped meanwhile
    TellAndWait(failure);
    return false;
  }
  auto* told = new Told{this, &stream, failure};
  auto done = [](void* argument) {
    std::unique_ptr<Told> it(static_cast<Told*>(argument));
    if (StopsDomain(*it->stream)) it->engine->Stop(*it->stream->domain, it->failure);
    it->engine->FinishAway(*it->stream, Status(it->failure.code));
  };
  if (observer_->TaskFailed(failure, done, told)) return true;
  delete told;
  if (StopsDomain(stream)) Stop(*stream.domain, failure);
  ComeBack(stream);
  return false;
}

void Engine::TellAndWait(const Failure& failure) {
  std::atomic<uint32_t> done{0};
  auto set = [](void* argument) {
    auto& word = *static_cast<std::atomic<uint32_t>*>(argument);
    word.store(1, std::memory_order_seq_cst);
    os::FutexWakeAll(word);
  };
  if (!observer_->TaskFailed(failure, set, &done)) return;
  while (done.load(std::memory_order_seq_cst) == 0) os::FutexWait(done, 0);
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

Failure Engine::PeekFailure(Stream& stream, uint64_t sequence) {
  if (!stream.failed()) return {};
  MutexLock lock(stream.mutex_);
  return stream.failed_sequence_ <= sequence ? stream.failure_ : Failure();
}

// --- Who runs what becomes runnable

void Engine::Ready(Stream& stream) {
  if (pooled_) {
    if (pool_.waiting() || !Landing::Keep(stream)) Post(stream);
    return;
  }
  if (lazy_) {
    bool urgent;
    {
      MutexLock lock(stream.mutex_);
      urgent = stream.urgent_ > stream.done_.load(std::memory_order_relaxed);
    }
    if (urgent && (pool_.workers() == 0 || !pool_.Post(stream))) Landing::Add(stream);
    WakeStranded();
    return;
  }
  Landing::Add(stream);
}

void Engine::Post(Stream& stream) {
  if (!pool_.Post(stream)) RunFromPool(stream);
}

void Engine::RunOnWorker(Stream& stream) {
  Landing landing(*this, Landing::Pooled::kKeepsOne);
  RunFromPool(stream);
  while (Stream* next = Landing::Take()) RunFromPool(*next);
}

void Engine::RunFromPool(Stream& stream) {
  uint64_t until;
  {
    MutexLock lock(stream.mutex_);
    stream.ready_ = false;
    until = lazy_ ? stream.urgent_ : ~uint64_t{0};
    if (!stream.Runnable() || until <= stream.done_.load(std::memory_order_relaxed)) return;
    stream.claimed_ = true;
  }
  Drain(stream, until);
}

// The program can notice task `sequence` without a call: it, and what it waits for, is not put off.
void Engine::Urge(Stream& stream, uint64_t sequence) {
  std::vector<std::pair<Stream*, uint64_t>> others;
  bool ready;
  {
    MutexLock lock(stream.mutex_);
    if (stream.urgent_ >= sequence) return;
    stream.urgent_ = sequence;
    stream.ForEachQueued([&others](const Op& op) {
      if (op.kind != OpKind::kWait || op.wait.record == nullptr || !op.wait.record->pending()) return;
      others.emplace_back(op.wait.record->stream(), op.wait.record->sequence());
    });
    ready = stream.Runnable();
    if (ready) stream.ready_ = true;
  }
  for (auto& [other, other_sequence] : others) Urge(*other, other_sequence);
  if (ready) Ready(stream);
}

void Engine::UrgeAll() {
  std::vector<Stream*> streams;
  {
    MutexLock lock(streams_);
    streams = live_;
  }
  for (Stream* stream : streams) Urge(*stream, stream->submitted());
}

}  // namespace belay::engine
