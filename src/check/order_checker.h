// missing-order, implicit-order and uninitialized-read: follows the ordering model (SPEC 20 §1) call by call
// and compares each access of memory with the earlier ones that it has no order with.
//
// Guarantees: the verdict follows from the calls, not from what ran first (docs/design/order.md has the
// rules). It changes no result. Threading: any thread; Submitted also under a stream's lock: it calls nothing
// of the engine, and reports findings from there. Cost: one lock and a look-up for each task.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/interval_set.h"
#include "base/thread_annotations.h"
#include "check/finding.h"
#include "check/order_clock.h"
#include "check/order_history.h"
#include "engine/observer.h"

namespace belay::check {

struct OrderTask;
struct OrderRecord;

class OrderChecker {
 public:
  struct Verdict {
    FindingId id;
    OrderAccess first, second;  // the earlier one, the new one
    const memory::DeviceMemory* memory = nullptr;
    const memory::Allocation* block = nullptr;
    // uninitialized-read, which has no first access: how many bytes nothing wrote, and the first of them.
    uint64_t unwritten = 0, first_unwritten = 0;
    uint64_t event = 0;  // what the checker was told when it found this, as `first_event` counts
  };
  // One side of an access, and whether it writes.
  struct Touch {
    const memory::DeviceMemory* memory;
    const memory::Allocation* block;
    OrderBox box;
    bool write;
  };
  struct Touches {
    Touch touch[3] = {};
    int count = 0;

    void Drop(const memory::Allocation& block);
  };

  // `say`: called with each verdict. `looked_at`, may be null: called with each task that is looked at,
  // unless the host already knows it to be complete; its `bit` is null. Both under the checker's lock.
  // `user_id`: of a logical device.
  OrderChecker(std::function<void(const Verdict&)> say,
               std::function<void(const engine::Submission&)> looked_at,
               std::function<int32_t(int32_t)> user_id);
  ~OrderChecker();

  void Submitted(const engine::Submission& submission) BELAY_EXCLUDES(mutex_);
  void Learned(const engine::Stream& stream, uint64_t sequence, bool by_the_way) BELAY_EXCLUDES(mutex_);
  void LearnedRecord(const engine::EventRecord& record) BELAY_EXCLUDES(mutex_);
  // A function of the program. The number of the event, as `first_event`.
  uint64_t Started(const engine::Stream& stream, uint64_t sequence) BELAY_EXCLUDES(mutex_);
  uint64_t Returned(const engine::Stream& stream, uint64_t sequence) BELAY_EXCLUDES(mutex_);
  void Dropped(const engine::Stream& stream, uint64_t sequence) BELAY_EXCLUDES(mutex_);
  void SignalChanged(const engine::Signal& signal, engine::Signal::Change change, uint32_t value)
      BELAY_EXCLUDES(mutex_);

  // The program has no handle of it any more.
  void SignalGone(const engine::Signal& signal) BELAY_EXCLUDES(mutex_);

  // A synchronous copy or fill; the source of a copy, which the call reads before it returns.
  void HostCopies(const engine::CopyTask& copy, const OrderActor& actor) BELAY_EXCLUDES(mutex_);
  void HostReads(const engine::CopyTask& copy, const OrderActor& actor) BELAY_EXCLUDES(mutex_);
  void HostFills(const engine::FillTask& fill, const OrderActor& actor) BELAY_EXCLUDES(mutex_);
  // The number of the first thing that the checker was told in this thread's present call; 0: nothing yet. A
  // log with these numbers has one order over all threads.
  static uint64_t first_event() { return t_first_event; }
  static void BeginCall() { t_first_event = 0; }

  // A block was freed, or handed out.
  void Forget(const memory::Allocation& block) BELAY_EXCLUDES(mutex_);

 private:
  struct SignalState {
    uint32_t value = 0;
    OrderClock clock;
  };
  using Word = std::pair<const memory::Allocation*, uint64_t>;  // and where it lies in there
  struct WordState {
    uint64_t value = 0;
    OrderClock clock;
  };
  OrderStream& StreamOf(const engine::Stream* stream) BELAY_REQUIRES(mutex_);
  // Looks at the stream's tasks until one waits. False: nothing happened.
  bool Advance(OrderStream& stream) BELAY_REQUIRES(mutex_);
  void AdvanceAll() BELAY_REQUIRES(mutex_);
  bool Passes(OrderStream& stream, const OrderTask& task) BELAY_REQUIRES(mutex_);
  bool Grant(OrderStream& stream, const OrderTask& task) BELAY_REQUIRES(mutex_);
  void GrantAll() BELAY_REQUIRES(mutex_);
  void LookAt(OrderStream& stream, const OrderTask& task) BELAY_REQUIRES(mutex_);
  void JoinTo(OrderStream& stream, const OrderClock& clock, uint64_t since) BELAY_REQUIRES(mutex_);
  OrderClock ClockAfter(OrderStream& stream, uint64_t sequence) const BELAY_REQUIRES(mutex_);
  void DropKnown(OrderStream& stream) BELAY_REQUIRES(mutex_);
  void Compact(OrderStream& stream) BELAY_REQUIRES(mutex_);
  void Change(uint64_t serial, engine::Signal::Change change, uint32_t value, const OrderClock& clock)
      BELAY_REQUIRES(mutex_);
  void Learn(OrderStream& stream, uint64_t sequence, bool by_the_way) BELAY_REQUIRES(mutex_);
  void LearnPoint(const OrderPoint& point, bool by_the_way) BELAY_REQUIRES(mutex_);
  void Force(OrderStream& stream, uint64_t sequence) BELAY_REQUIRES(mutex_);
  std::optional<OrderPoint> ChangerThatRan(const OrderTask& waiter) BELAY_REQUIRES(mutex_);
  bool MayHaveRun(OrderStream& stream, uint64_t sequence) BELAY_REQUIRES(mutex_);

  void AccessAtOnce(OrderActor actor, const Touches& touches) BELAY_EXCLUDES(mutex_);
  void Access(const OrderActor& actor, const OrderStream* stream, const Touches& touches)
      BELAY_REQUIRES(mutex_);
  Ordered Order(const OrderAccess& first, const OrderActor& second, const OrderStream* stream) const
      BELAY_REQUIRES(mutex_);
  bool Dead(const OrderAccess& access) const BELAY_REQUIRES(mutex_);
  void Write(const Touch& touch) BELAY_REQUIRES(mutex_);
  void Read(const OrderActor& actor, const Touch& touch) BELAY_REQUIRES(mutex_);
  static Word WordOf(const engine::Op& op);
  void ForgetWords(const memory::Allocation* block, const OrderBox& box) BELAY_REQUIRES(mutex_);
  static Touches TouchesOf(const engine::Op& op);
  static Touches TouchesOf(const engine::CopyTask& copy, bool owns_source);
  static Touches TouchesOf(const engine::FillTask& fill);
  static Touches TouchesOf(const engine::ReduceTask& reduce);

  uint64_t CountEvent() BELAY_REQUIRES(mutex_);

  static constexpr size_t kMostJoined = 256;
  static constinit thread_local uint64_t t_first_event;

  const std::function<void(const Verdict&)> say_;
  const std::function<void(const engine::Submission&)> looked_at_;
  const std::function<int32_t(int32_t)> user_id_;
  Mutex mutex_;
  std::unordered_map<const engine::Stream*, std::unique_ptr<OrderStream>> streams_ BELAY_GUARDED_BY(mutex_);
  std::unordered_map<const engine::EventRecord*, std::shared_ptr<OrderRecord>> records_
      BELAY_GUARDED_BY(mutex_);
  std::unordered_map<uint64_t, SignalState> signals_ BELAY_GUARDED_BY(mutex_);
  std::map<Word, WordState> words_ BELAY_GUARDED_BY(mutex_);
  OrderHistory history_ BELAY_GUARDED_BY(mutex_);
  std::unordered_map<const memory::Allocation*, IntervalSet> written_
      BELAY_GUARDED_BY(mutex_);                                 // device memory
  std::vector<OrderStream*> waiting_ BELAY_GUARDED_BY(mutex_);  // in the order in which they began to
  uint64_t now_ BELAY_GUARDED_BY(mutex_) = 1;                   // the host's epoch
  uint64_t stamps_ BELAY_GUARDED_BY(mutex_) = 0;
  uint64_t events_ BELAY_GUARDED_BY(mutex_) = 0;
};

}  // namespace belay::check
