// Runs the tasks of streams: takes submissions, lands them when the policy says, and lets host threads wait.
//
// Guarantees: tasks of a stream run in order; a stream that waits for an event record is parked and blocks no
// thread; a waiting host thread runs what it waits for, so nothing depends on a worker being there (`workers`
// = 0 works). Threading: everything may be called from any thread. Lock order: edges, stream, pool
// (docs/design/locking.md). Bytes move outside all of them. Cost: a small task on an idle stream takes two
// uncontended lock pairs.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"
#include "base/thread_annotations.h"
#include "engine/copy_kernels.h"
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

  // Queues or runs a task; takes over what it holds (pins, references, staging). `bytes` it moves. Returns
  // its number, which grows as long as the stream's storage is used.
  uint64_t Submit(Stream& stream, Op& op, uint64_t bytes);

  // Event records: the caller submitted nothing yet. Both keep their own references.
  void SubmitRecord(Stream& stream, Event& event, Op& op);
  void SubmitWait(Stream& stream, EventRecord& record, Op& op);

  // A copy or fill at once on the calling thread, ordered with nothing (SPEC 31 §0.5). Takes no pins and
  // trusts that peers were tested. False, and nothing changed, when the host RAM for device bytes is used up.
  static bool CopyNow(const CopyTask& copy) {
    const CopyShape& shape = copy.shape;
    if (!PrepareWrite(copy.dst, shape.dst, shape.DstExtent(), !shape.linear())) return false;
    if (copy.src.memory != nullptr) {
      memory::DeviceMemory& memory = *copy.src.memory;
      uint64_t at = static_cast<uint64_t>(shape.src - memory.EngineStart(*copy.src.block));
      memory.PrepareRead(*copy.src.block, at, shape.SrcExtent());
    }
    CopyBytes(shape);
    return true;
  }
  // Whether CopyNow would only move bytes: of a linear copy between ranges that hold them.
  using Place = memory::NodeMemory::Place;
  static bool ReadyToCopy(const Place& dst, const Place& src, uint64_t bytes) {
    using memory::DeviceMemory;
    return (!dst.on_device() || DeviceMemory::ReadyToWrite(*dst.block, dst.at, bytes)) &&
           (!src.on_device() || DeviceMemory::ReadyToRead(*src.block, src.at, bytes));
  }
  static bool FillNow(const FillTask& fill) {
    if (!PrepareWrite(fill.dst, fill.at, fill.bytes, false)) return false;
    FillBytes(fill.at, fill.value, fill.bytes);
    return true;
  }

  static constexpr int64_t kNoDeadline = -1;
  // Waits until task number `sequence` is done; false at the deadline (monotonic ns). 0 = only look, but
  // help.
  bool Wait(Stream& stream, uint64_t sequence, int64_t deadline_ns = kNoDeadline);
  bool WaitRecord(EventRecord& record, int64_t deadline_ns = kNoDeadline);

  // Whether all tasks are done. Never waits for a running one. Without workers it runs one, so that polling
  // ends.
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
  void NoteFailure(Stream& stream, const Op& op, uint64_t sequence, Status status)
      BELAY_REQUIRES(stream.mutex_);
  void WakeSleepers(Stream& stream);
  void WakeStranded();

  Status Execute(const Op& op);
  Status ExecuteCopy(const CopyTask& copy);
  void Release(const Op& op);
  void Unpin(const OpSide& side);

  static bool PrepareWrite(const OpSide& side, const uint8_t* from, uint64_t extent, bool gaps) {
    if (side.memory == nullptr) return true;
    uint64_t at = static_cast<uint64_t>(from - side.memory->EngineStart(*side.block));
    return side.memory->PrepareWrite(*side.block, at, extent, gaps);
  }

  const Config config_;
  memory::NodeMemory& memory_;
  Mutex edges_;  // waiter lists of all records
  Mutex streams_;
  std::vector<std::unique_ptr<Stream>> unused_ BELAY_GUARDED_BY(streams_);
  // Without workers, host threads that found nothing to run sleep here; woken whenever something landed or
  // became ready.
  std::atomic<uint32_t> stranded_{0};
  std::atomic<uint32_t> stranded_sleepers_{0};
  Pool pool_;  // last: its threads use the rest until they are joined
};

}  // namespace belay::engine
