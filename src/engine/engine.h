// Runs the tasks of streams: takes submissions, lands them when the policy says, and lets host threads wait.
//
// Guarantees: tasks of a stream run in order; a stream that waits is parked and blocks no thread; user code
// never runs on a worker; a waiting host thread runs what it waits for, so nothing depends on a worker being
// there (`workers` = 0 works). Threading: everything may be called from any thread. Lock order: edges,
// stream, pool (docs/design/locking.md). Bytes move outside all of them, but for small tasks on idle streams,
// which take effect under the stream's lock. Cost: such a task takes one uncontended lock pair.
//
// Files: engine.cc submits and runs, wait.cc lets hosts wait, park.cc ties streams to what they wait for,
// abort.cc holds, drops and stops, execute.cc does what a task says, unwritten.cc copies bytes that nothing
// wrote.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"
#include "base/thread_annotations.h"
#include "engine/copy_kernels.h"
#include "engine/event_record.h"
#include "engine/guarded_copy.h"
#include "engine/host_pool.h"
#include "engine/observer.h"
#include "engine/op.h"
#include "engine/policy.h"
#include "engine/pool.h"
#include "engine/stream.h"
#include "engine/timer.h"
#include "memory/node_memory.h"
#include "os/fence.h"

namespace belay::engine {

class Engine {
 public:
  struct Config {
    Policy policy = Policy::Async();
    int workers = 1;
    bool peer_lenient = false;     // quirk peer.lenient: copies need no open direction
    Observer* observer = nullptr;  // outlives the engine; null = nobody listens
    bool watched = false;          // the observer wants to know of every task, and of what the host learns
    memory::HostGuard* guard = nullptr;  // closes pages of the host; outlives the engine; null = nobody does
  };

  Engine(const Config& config, memory::NodeMemory& memory);

  Observer& observer() const { return *observer_; }
  bool watched() const { return watched_; }
  memory::HostGuard* guard() const { return guard_; }

  // Streams. The object is good until DestroyStream, its storage for ever.
  Stream* CreateStream(int device, int32_t id, Domain* domain = nullptr, bool persistent = false);
  // Waits for every task, then takes the stream back.
  void DestroyStream(Stream* stream);

  // Queues or runs a task; takes over what it holds (references, staging), and pins what it queues. `bytes`
  // it moves. Returns its number, which grows as long as the stream's storage is used.
  uint64_t Submit(Stream& stream, Op& op, uint64_t bytes);

  // Events and signals. All keep their own references.
  void SubmitRecord(Stream& stream, Event& event, Op& op);
  void SubmitWait(Stream& stream, EventRecord& record, Op& op, int64_t timeout_ns = 0);
  void SubmitPass(Stream& stream, Op& op);  // a wait for nothing
  void SubmitReset(Stream& stream, Event& event, Op& op);
  void SubmitSignal(Stream& stream, Signal& signal, Signal::Change change, uint32_t value, Op& op);
  void SubmitAwait(Stream& stream, Signal& signal, Signal::Condition condition, uint32_t value, bool clear,
                   int64_t timeout_ns, Op& op);
  // At once, ordered with nothing.
  void ChangeNow(Signal& signal, Signal::Change change, uint32_t value);

  // A copy or fill at once on the calling thread, ordered with nothing (SPEC 31 §0.5). Takes no pins and
  // trusts that peers were tested. False, and nothing changed, when the host RAM for device bytes is used up.
  // Who writes device bytes so calls WordsChanged().
  bool CopyNow(const CopyTask& copy) const {
    using memory::DeviceMemory;
    const CopyShape& shape = copy.shape;
    bool ready = (copy.dst.memory == nullptr ||
                  DeviceMemory::ReadyToWrite(*copy.dst.block, At(copy.dst, shape.dst), shape.DstExtent())) &&
                 (copy.src.memory == nullptr ||
                  DeviceMemory::ReadyToRead(*copy.src.block, At(copy.src, shape.src), shape.SrcExtent()));
    if (!ready) [[unlikely]]
      return CopyUnready(copy);
    MoveBytes(copy, shape);
    return true;
  }
  // Whether CopyNow would only move bytes: of a linear copy between ranges that hold them.
  using Place = memory::NodeMemory::Place;
  static bool ReadyToCopy(const Place& dst, const Place& src, uint64_t bytes) {
    using memory::DeviceMemory;
    return (!dst.on_device() || DeviceMemory::ReadyToWrite(*dst.block, dst.at, bytes)) &&
           (!src.on_device() || DeviceMemory::ReadyToRead(*src.block, src.at, bytes));
  }
  bool FillNow(const FillTask& fill) const {
    if (!PrepareWrite(fill.dst, fill.at, fill.bytes, false)) return false;
    PutBytes(fill);
    return true;
  }
  // Device bytes were written: streams that wait for a word look again.
  void WordsChanged() {
    os::LightFence();
    if (parked_words_.load(std::memory_order_relaxed) != 0) [[unlikely]]
      LookAtWords();
  }

  static constexpr int64_t kNoDeadline = -1;
  // Waits until task number `sequence` is done or dropped; false at the deadline (monotonic ns). 0 = only
  // look, but help.
  bool Wait(Stream& stream, uint64_t sequence, int64_t deadline_ns = kNoDeadline) {
    const bool done = WaitUnseen(stream, sequence, deadline_ns);
    if (done) HostKnows(stream, sequence);
    return done;
  }
  // Where the host finds something done without asking the engine.
  void HostKnows(const Stream& stream, uint64_t sequence) {
    if (watched_) observer_->Learned(stream, sequence, false);
  }
  void HostKnows(const EventRecord& record) {
    if (watched_ && record.complete()) observer_->LearnedRecord(record);
  }
  // For a call that does not promise to wait.
  void WaitByTheWay(Stream& stream, uint64_t sequence) {
    WaitUnseen(stream, sequence, kNoDeadline);
    if (watched_) observer_->Learned(stream, sequence, true);
  }
  // Until the record is complete or dropped.
  bool WaitRecord(EventRecord& record, int64_t deadline_ns = kNoDeadline);

  // Whether all tasks are done. Never waits for a running one. Where nobody else would, it runs one, so that
  // polling ends.
  bool Query(Stream& stream);
  bool QueryRecord(EventRecord& record);
  // The same for an answer that depends on more: the host does not know it by this.
  bool QueryRecordUnseen(EventRecord& record);
  // Whether no stream has a wait for the event still to pass.
  bool QueryWaits(Event& event);

  // The unreported failure of a task up to `sequence`, handed out once; code 0 if there is none.
  Failure TakeFailure(Stream& stream, uint64_t sequence);
  // The same without taking it.
  Failure PeekFailure(Stream& stream, uint64_t sequence);

  // Drops the queued tasks of the streams; running ones end first. False at the deadline: nothing happened
  // then. After it the streams are empty, without failures, and go on. `code` is for those who wait;
  // kForgotten: event records among the tasks stay pending for ever.
  enum class Fate : uint8_t { kDone, kDropped, kForgotten };
  bool Abort(const std::vector<Stream*>& streams, int32_t code, int64_t deadline_ns = kNoDeadline,
             Fate fate = Fate::kDropped);
  // Everything of the domain stops for good: queued tasks are dropped, running ones end. Only the first call
  // counts.
  void Stop(Domain& domain, const Failure& failure);
  void Restart(Domain& domain);

  // By hand (belay/control.h), and by aclrtStreamStop.
  enum class Holder : uint8_t { kTest = 1, kStop = 2 };
  void Hold(Stream& stream, Holder holder);
  void Resume(Stream& stream, Holder holder);
  bool held(Stream& stream);
  // Runs the oldest task of a held stream to its end; false if there is none or it waits.
  bool Land(Stream& stream);
  void FailNext(Stream& stream, int32_t code);
  struct PendingTask {
    Op op;
    bool waiting;
  };
  std::vector<PendingTask> Pending(Stream& stream, size_t most, size_t* count);

  // A queued or running task that touches the block; false if none is found.
  bool FindTask(Stream& stream, const memory::Allocation* block, Op* found);

  // The front of a stream that went away is done (Observer::HandOver, HostPool).
  void FinishAway(Stream& stream, Status status);

  // What a stream that does not go on waits for.
  struct Blockage {
    enum class By : uint8_t { kNothing, kRunning, kHeld, kRecord, kSignal, kWord, kUserCode };
    By by = By::kNothing;
    Op op;                       // the front
    Stream* recorder = nullptr;  // kRecord: the stream that is to complete the record
    bool record_dropped = false;
    bool orphan = false;             // kSignal
    const char* last_api = nullptr;  // kSignal: the latest change
    uint32_t last_thread = 0;
    Site last_site;
    const Signal* signal = nullptr;
  };
  Blockage WhyBlocked(Stream& stream);
  // Whether any live stream runs, or has queued a task that would change the signal or could still be run.
  struct Activity {
    bool running = false;       // some task can make progress without the program
    bool held = false;          // some task could if its stream were not held
    Stream* changer = nullptr;  // has a queued task that changes the signal asked for; the first one found
    Op change;                  // that task
  };
  Activity LookAround(const Signal* signal);

  memory::NodeMemory& memory() { return memory_; }
  int workers() const { return pool_.workers(); }
  // Host threads asleep in a wait that only others can end.
  uint32_t sleeping_hosts() const { return sleeping_hosts_.load(std::memory_order_relaxed); }
  class HostSleeps {
   public:
    HostSleeps(Engine& engine, bool for_ever) : count_(for_ever ? &engine.sleeping_hosts_ : nullptr) {
      if (count_ != nullptr) count_->fetch_add(1, std::memory_order_relaxed);
    }
    ~HostSleeps() {
      if (count_ != nullptr) count_->fetch_sub(1, std::memory_order_relaxed);
    }
    HostSleeps(const HostSleeps&) = delete;
    HostSleeps& operator=(const HostSleeps&) = delete;

   private:
    std::atomic<uint32_t>* count_;
  };

 private:
  friend class Pool;
  friend class Timer;
  class Landing;
  class Nap;

  // Submitting
  static constexpr uint64_t kAtOnceBytes = 16 << 10;  // a microsecond at most
  uint64_t LandAtOnce(Stream& stream, Op& op);
  void ShowSubmission(const Stream& stream, const Op& op, uint64_t sequence) const;
  uint64_t SubmitSlowly(Stream& stream, Op& op, uint64_t bytes);

  // Running
  enum class Step : uint8_t { kRun, kGone, kDropped };
  void RunFromPool(Stream& stream);
  void RunHere(Stream& stream, const Op& op, uint64_t sequence);
  void Drain(Stream& stream, uint64_t until, bool held_too = false) BELAY_NO_THREAD_SAFETY_ANALYSIS;
  Step Begin(Stream& stream, const Op& op, bool granted, Status* status);
  Step CallOut(Stream& stream, const Op& op, Status* status);
  bool Tell(Stream& stream, const Op& op, Status status);
  void TellAndWait(const Failure& failure);
  static bool StopsDomain(const Stream& stream);
  bool Finish(Stream& stream, const Op& op, Status status) BELAY_REQUIRES(stream.mutex_);
  static bool Awaited(Stream& stream) BELAY_REQUIRES(stream.mutex_);
  void Ready(Stream& stream);
  void Post(Stream& stream);
  void RunOnWorker(Stream& stream);
  void Urge(Stream& stream, uint64_t sequence);
  void UrgeAll();
  static Failure FailureOf(const Stream& stream, const Op& op, Status status);
  static void NoteFailure(Stream& stream, const Op& op, uint64_t sequence, Status status)
      BELAY_REQUIRES(stream.mutex_);

  // Waiting
  bool WaitUnseen(Stream& stream, uint64_t sequence, int64_t deadline_ns);
  bool WaitRecordUnseen(EventRecord& record, int64_t deadline_ns);
  bool QueryUnseen(Stream& stream);
  bool RunSomethingFor(Stream* stream, uint64_t sequence);
  void WakeSleepers(Stream& stream);
  void WakeStranded();

  // Parking
  Step ParkOnRecord(Stream& stream, EventRecord& record, int64_t timeout_ns);
  Step ParkOnSignal(Stream& stream, const AwaitTask& await);
  Step ParkOnWord(Stream& stream, const ValueTask& value);
  struct Tied {
    uint64_t sequence;  // of the front
    bool wake;          // somebody sleeps until the claim is given back
  };
  static Tied Tie(Stream& stream, Stream::Parked parked) BELAY_REQUIRES(stream.mutex_);
  Step GoAway(Stream& stream);
  bool ComeBack(Stream& stream);
  void Complete(EventRecord& record);
  void Drop(EventRecord& record, Fate fate);
  void Change(Signal& signal, Signal::Change change, uint32_t value, const Op* by);
  bool WordHolds(const ValueTask& value);
  void LookAtWords();
  void Expire(Stream& stream, uint64_t sequence);
  void Unpark(Stream& stream) BELAY_REQUIRES(edges_, stream.mutex_);
  void SetAlarm(Stream& stream, uint64_t sequence, int64_t timeout_ns);

  // Dropping
  void DropQueued(Stream& stream, Fate fate = Fate::kDropped);
  bool AwaitQuiet(Stream& stream, int64_t deadline_ns, bool user_code = true);

  Status Execute(const Op& op);
  bool Reaches(int executor, const OpSide& one, const OpSide& other) const;
  Status ExecuteCopy(const CopyTask& copy);
  Status ExecuteReduce(const ReduceTask& reduce);
  Status ExecuteValueWrite(const ValueTask& value);
  void Release(const Op& op, Fate fate = Fate::kDone);
  static void Pin(const Op& op);
  void Unpin(const OpSide& side);

  // Where in its block an address of the engine lies.
  static uint64_t At(const OpSide& side, const uint8_t* address) {
    return static_cast<uint64_t>(address - side.memory->EngineStart(*side.block));
  }
  static bool PrepareWrite(const OpSide& side, const uint8_t* from, uint64_t extent, bool gaps) {
    return side.memory == nullptr || side.memory->PrepareWrite(*side.block, At(side, from), extent, gaps);
  }
  // Copies that touch bytes which nothing wrote before, or which are to be told apart from those.
  // Host bytes may be closed to everybody but the guard.
  void MoveBytes(const CopyTask& copy, const CopyShape& part) const {
    if (guard_ != nullptr) [[unlikely]] {
      CopyGuarded(*guard_, part, copy.src.memory == nullptr, copy.dst.memory == nullptr);
    } else {
      CopyBytes(part);
    }
  }
  void PutBytes(const FillTask& fill) const {
    if (guard_ != nullptr && fill.dst.memory == nullptr) [[unlikely]] {
      FillGuarded(*guard_, fill.at, fill.value, fill.bytes);
    } else {
      FillBytes(fill.at, fill.value, fill.bytes);
    }
  }
  [[gnu::cold]] bool CopyUnready(const CopyTask& copy) const;
  bool CopyPoisoned(const CopyTask& copy) const;

  const Config config_;
  // Nobody but a waiting host thread runs streams, unless their tasks are urgent.
  const bool lazy_;
  // Workers run whatever becomes runnable.
  const bool pooled_;
  // Small tasks on idle streams take effect inside the call.
  const bool at_once_;
  const bool watched_;
  memory::HostGuard* const guard_;
  Observer nobody_;
  Observer* const observer_;
  memory::NodeMemory& memory_;
  Mutex edges_;  // waiter lists of records, signals and words
  Stream* word_waiters_ BELAY_GUARDED_BY(edges_) = nullptr;
  std::atomic<uint32_t> parked_words_{0};
  std::atomic<uint32_t> queued_word_waits_{0};
  Mutex streams_;
  std::vector<std::unique_ptr<Stream>> unused_ BELAY_GUARDED_BY(streams_);
  std::vector<Stream*> live_ BELAY_GUARDED_BY(streams_);
  // Where workers do not run what becomes runnable, host threads that found nothing to run sleep here; woken
  // whenever something landed or became ready.
  std::atomic<uint32_t> stranded_{0};
  std::atomic<uint32_t> stranded_sleepers_{0};
  std::atomic<uint32_t> sleeping_hosts_{0};
  Timer timer_;
  HostPool host_pool_;
  Pool pool_;  // last: its threads use the rest until they are joined
};

}  // namespace belay::engine
