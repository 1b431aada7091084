// Runs the tasks of streams: takes submissions, lands them when the policy says, and lets host threads wait.
//
// Guarantees: tasks of a stream run in order; a stream that waits for an event record is parked and blocks no thread; a
// waiting host thread runs what it waits for, so nothing depends on a worker being there (`workers` = 0 works).
// Threading: everything may be called from any thread. Lock order: edges, stream, pool (docs/design/locking.md). Bytes
// move outside all of them.
// Cost: a small task on an idle stream takes two uncontended lock pairs.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/status.h"
#include "base/thread_annotations.h"
#include "engine/event_record.h"
#include "engine/op.h"
#include "engine/policy.h"
#include "engine/pool.h"
#include "engine/stream.h"
#include "memory/node_memory.h"

namespace belay::engine {

class Engine {
 public:
  struct Config {
    Policy policy = Policy::Async();
    int workers = 1;
    bool peer_lenient = false;  // quirk peer.lenient: copies need no open direction
  };

  Engine(const Config& config, memory::NodeMemory& memory);

  // Streams. The object is good until DestroyStream, its storage for ever.
  Stream* CreateStream(int device, int32_t id);
  // Waits for every task, then takes the stream back.
  void DestroyStream(Stream* stream);

  // Queues or runs a task; takes over what it holds (pins, references, staging). `bytes` it moves. Returns its number.
  uint64_t Submit(Stream& stream, Op& op, uint64_t bytes);

  // Event records: the caller submitted nothing yet. Both keep their own references.
  void SubmitRecord(Stream& stream, Event& event, Op& op);
  void SubmitWait(Stream& stream, EventRecord& record, Op& op);

  // Runs a copy or fill at once on the calling thread, ordered with nothing (SPEC 31 §0.5). Holds no pins.
  Status RunNow(const Op& op);

  static constexpr int64_t kNoDeadline = -1;
  // Waits until task number `sequence` is done; false at the deadline (monotonic ns). 0 = only look, but help.
  bool Wait(Stream& stream, uint64_t sequence, int64_t deadline_ns = kNoDeadline);
  bool WaitRecord(EventRecord& record, int64_t deadline_ns = kNoDeadline);

  // Whether all tasks are done. Never waits for a running one. Without workers it runs one, so that polling ends.
  bool Query(Stream& stream);
  bool QueryRecord(EventRecord& record);

  // The unreported failure of a task up to `sequence`, handed out once; code 0 if there is none.
  Failure TakeFailure(Stream& stream, uint64_t sequence);

  // A queued or running task that touches the block; false if none is found.
  bool FindTask(Stream& stream, const memory::Allocation* block, Op* found);

  memory::NodeMemory& memory() { return memory_; }
  int workers() const { return pool_.workers(); }

 private:
  friend class Pool;
  class Landing;

  void RunFromPool(Stream& stream);
  bool RunSomethingFor(Stream* stream, uint64_t sequence);
  void RunHere(Stream& stream, const Op& op, uint64_t sequence);
  void Drain(Stream& stream, uint64_t until) BELAY_NO_THREAD_SAFETY_ANALYSIS;
  bool Park(Stream& stream, EventRecord& record);
  void Ready(Stream& stream);
  void Complete(EventRecord& record);
  void NoteFailure(Stream& stream, const Op& op, uint64_t sequence, Status status) BELAY_REQUIRES(stream.mutex_);
  void WakeSleepers(Stream& stream);
  void WakeStranded();

  Status Execute(const Op& op);
  Status ExecuteCopy(const Op& op);
  Status ExecuteFill(const Op& op);
  void Release(const Op& op);
  void Unpin(OpSide side, memory::Allocation* block);
  void PrepareSource(OpSide side, memory::Allocation* block, const uint8_t* src, uint64_t extent);
  bool PrepareTarget(OpSide side, memory::Allocation* block, const uint8_t* dst, uint64_t extent, bool gaps);

  const Config config_;
  memory::NodeMemory& memory_;
  Mutex edges_;  // waiter lists of all records
  Pool pool_;
  Mutex streams_;
  std::vector<Stream*> unused_ BELAY_GUARDED_BY(streams_);
  // Without workers, host threads that found nothing to run sleep here; woken whenever something landed or became ready.
  std::atomic<uint32_t> stranded_{0};
  std::atomic<uint32_t> stranded_sleepers_{0};
};

}  // namespace belay::engine
