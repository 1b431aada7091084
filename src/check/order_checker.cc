#include "check/order_checker.h"

#include <algorithm>

#include "check/order_state.h"

namespace belay::check {

using engine::Op;
using engine::OpKind;
using engine::Signal;

OrderChecker::OrderChecker(std::function<void(const Verdict&)> say,
                           std::function<void(const engine::Submission&)> looked_at,
                           std::function<int32_t(int32_t)> user_id)
    : say_(std::move(say)), looked_at_(std::move(looked_at)), user_id_(std::move(user_id)) {}
OrderChecker::~OrderChecker() = default;

constinit thread_local uint64_t OrderChecker::t_first_event = 0;

uint64_t OrderChecker::CountEvent() {
  ++events_;
  if (t_first_event == 0) t_first_event = events_;
  return events_;
}

OrderStream& OrderChecker::StreamOf(const engine::Stream* stream) {
  std::unique_ptr<OrderStream>& found = streams_[stream];
  if (found == nullptr) found = std::make_unique<OrderStream>();
  return *found;
}

// --- Tasks

void OrderChecker::Submitted(const engine::Submission& submission) {
  const Op& op = submission.op;
  MutexLock lock(mutex_);
  CountEvent();
  if (submission.stored) return;  // stored, and never run
  OrderStream& stream = StreamOf(submission.stream);
  OrderTask task;
  task.op = op;
  task.stream = submission.stream;
  task.device = submission.device;
  task.sequence = submission.sequence;
  task.epoch = now_;
  task.touches = TouchesOf(op);
  if (submission.bit != nullptr) task.signal = submission.bit->serial;
  if (op.kind == OpKind::kSignal) task.signal = op.signal.signal->serial;
  if (op.kind == OpKind::kAwait) task.signal = op.await.signal->serial;
  task.actor = {&stream,
                submission.sequence,
                now_,
                op.api,
                op.thread,
                op.task,
                user_id_(submission.device),
                submission.stream_id,
                op.site};
  if (op.kind == OpKind::kRecord) {
    task.record = std::make_shared<OrderRecord>();
    task.record->stream = &stream;
    task.record->sequence = submission.sequence;
    records_[op.record] = task.record;
  } else if (op.kind == OpKind::kWait && op.wait.record != nullptr) {
    if (auto found = records_.find(op.wait.record); found != records_.end()) task.record = found->second;
  }
  stream.tasks.push_back(std::move(task));
  if (stream.tasks.size() == 1 && Advance(stream)) AdvanceAll();
  history_.Sweep([this](const OrderAccess& access) BELAY_REQUIRES(mutex_) { return Dead(access); });
}

bool OrderChecker::Advance(OrderStream& stream) {
  bool moved = false;
  while (!stream.tasks.empty() && Passes(stream, stream.tasks.front())) {
    const OrderTask task = std::move(stream.tasks.front());
    stream.tasks.pop_front();
    stream.granted = false;
    LookAt(stream, task);
    moved = true;
  }
  const bool waits = !stream.tasks.empty();
  if (waits && (moved || !stream.waits)) {
    // From now on it waits for something else, behind those who began to wait before.
    if (stream.waits) std::erase(waiting_, &stream);
    waiting_.push_back(&stream);
  } else if (!waits && stream.waits) {
    std::erase(waiting_, &stream);
  }
  stream.waits = waits;
  return moved;
}

void OrderChecker::AdvanceAll() {
  for (bool moved = true; moved && !waiting_.empty();) {
    moved = false;
    for (OrderStream* stream : std::vector<OrderStream*>(waiting_)) moved = Advance(*stream) || moved;
  }
}

// Whether what the task waits for has happened; takes what it waits for.
bool OrderChecker::Passes(OrderStream& stream, const OrderTask& task) {
  switch (task.op.kind) {
    case OpKind::kWait:
      if (task.record == nullptr) return true;
      if (!task.record->passed) return false;
      JoinTo(stream, task.record->clock, task.sequence);
      return true;
    case OpKind::kAwait:
    case OpKind::kValueWait:
      return stream.granted || Grant(stream, task);
    case OpKind::kHostFunc:
    case OpKind::kCallback:
      // What the program did before the function returned is before the tasks behind it.
      if (task.op.host.blocks && stream.returned < task.sequence) return false;
      stream.clock.epoch = std::max(stream.clock.epoch, stream.returned_epoch);
      return true;
    default:
      return true;
  }
}

// Whether the signal or word that the task waits for is as it should be; takes it then.
bool OrderChecker::Grant(OrderStream& stream, const OrderTask& task) {
  if (task.op.kind == OpKind::kAwait) {
    static const SignalState kNew;
    auto found = signals_.find(task.signal);
    const SignalState& signal = found != signals_.end() ? found->second : kNew;
    if (!Signal::Holds(task.op.await.condition, signal.value, task.op.await.value)) return false;
    JoinTo(stream, signal.clock, task.sequence);
    if (task.op.await.clear && found != signals_.end()) signals_.erase(found);
  } else {
    auto word = words_.find(WordOf(task.op));
    if (word == words_.end()) return false;
    if (!engine::Holds(task.op.value.condition, word->second.value, task.op.value.value)) return false;
    JoinTo(stream, word->second.clock, task.sequence);
  }
  return stream.granted = true;
}

// A signal or a word changed: whoever waits for it is served now, by this change and not by a later one.
void OrderChecker::GrantAll() {
  for (OrderStream* stream : waiting_) {
    if (stream->tasks.empty()) continue;  // it goes on at this moment
    const OpKind kind = stream->tasks.front().op.kind;
    if (!stream->granted && (kind == OpKind::kAwait || kind == OpKind::kValueWait)) {
      Grant(*stream, stream->tasks.front());
    }
  }
}

void OrderChecker::LookAt(OrderStream& stream, const OrderTask& task) {
  stream.clock.epoch = std::max(stream.clock.epoch, task.epoch);
  const Op& op = task.op;
  Access(task.actor, &stream, task.touches);
  if (looked_at_ && task.sequence > stream.ran) {
    looked_at_({task.stream, task.device, task.actor.stream_id, task.sequence, op, nullptr, false});
  }
  switch (op.kind) {
    case OpKind::kRecord: {
      const OrderClock clock = ClockAfter(stream, task.sequence);
      task.record->clock = clock;
      task.record->passed = true;
      if (task.signal != kNoSignal) Change(task.signal, Signal::Change::kSet, 1, clock);
      break;
    }
    case OpKind::kReset:
      if (task.signal != kNoSignal) signals_.erase(task.signal);
      break;
    case OpKind::kSignal:
      Change(task.signal, op.signal.change, op.signal.value, ClockAfter(stream, task.sequence));
      break;
    case OpKind::kValueWrite:
      if (op.value.side.memory != nullptr) {
        Write({op.value.side.memory, op.value.side.block,
               OrderBox::Linear(WordOf(op).second, sizeof(uint64_t)), true});
      }
      words_[WordOf(op)] = {op.value.value, ClockAfter(stream, task.sequence)};
      GrantAll();
      break;
    default:
      break;
  }
}

void OrderChecker::JoinTo(OrderStream& stream, const OrderClock& clock, uint64_t since) {
  stream.clock.epoch = std::max(stream.clock.epoch, clock.epoch);
  for (const OrderPoint& point : clock.points) {
    if (point.stream == &stream || stream.clock.Has(point.stream, point.sequence)) continue;
    stream.clock.Join(point);
    stream.joined.push_back({point, since});
  }
  if (stream.joined.size() > kMostJoined) Compact(stream);
}

// A stream that nobody synchronises joins for ever. Where the host does not know it by other ways, the points
// of one stream become the latest of them, as if it had been joined first: the host may learn too much then,
// and a finding be missed, but none is made up.
void OrderChecker::Compact(OrderStream& stream) {
  if (waiting_.empty()) DropKnown(stream);
  if (stream.joined.size() <= kMostJoined / 2) return;
  std::vector<OrderStream::Joined> latest;
  for (const OrderStream::Joined& joined : stream.joined) {
    auto same = std::find_if(latest.begin(), latest.end(), [&](const OrderStream::Joined& other) {
      return other.point.stream == joined.point.stream;
    });
    if (same == latest.end()) {
      latest.push_back(joined);
    } else {
      same->point.sequence = std::max(same->point.sequence, joined.point.sequence);
    }
  }
  stream.joined.swap(latest);
}

OrderClock OrderChecker::ClockAfter(OrderStream& stream, uint64_t sequence) const {
  OrderClock clock = stream.clock;
  clock.Join(OrderPoint{&stream, sequence});
  return clock;
}

void OrderChecker::Change(uint64_t serial, Signal::Change change, uint32_t value, const OrderClock& clock) {
  SignalState& signal = signals_[serial];
  signal.value = Signal::Applied(change, signal.value, value);
  if (signal.value == 0) {
    signals_.erase(serial);
  } else {
    signal.clock.Join(clock);
  }
  GrantAll();
}

void OrderChecker::SignalChanged(const Signal& signal, Signal::Change change, uint32_t value) {
  MutexLock lock(mutex_);
  CountEvent();
  OrderClock clock;
  clock.epoch = now_;
  Change(signal.serial, change, value, clock);
  AdvanceAll();
}

void OrderChecker::SignalGone(const Signal& signal) {
  MutexLock lock(mutex_);
  if (waiting_.empty()) signals_.erase(signal.serial);  // else a task may still ask for it
}

// --- What the host learns

void OrderChecker::Learned(const engine::Stream& stream, uint64_t sequence, bool by_the_way) {
  MutexLock lock(mutex_);
  CountEvent();
  auto found = streams_.find(&stream);
  if (found == streams_.end() || sequence == 0) return;
  Force(*found->second, sequence);
  Learn(*found->second, sequence, by_the_way);
}

void OrderChecker::LearnedRecord(const engine::EventRecord& record) {
  MutexLock lock(mutex_);
  CountEvent();
  auto found = records_.find(&record);
  if (found == records_.end()) return;
  const std::shared_ptr<OrderRecord> known = found->second;
  Force(*known->stream, known->sequence);
  Learn(*known->stream, known->sequence, false);
}

// Tasks that ended, whatever they waited for: the program wrote the word itself, or the end of the wait is
// not for this model to see.
void OrderChecker::Force(OrderStream& stream, uint64_t sequence) {
  stream.ran = std::max(stream.ran, sequence);
  stream.searched = true;  // nothing behind a task made it go on
  while (!stream.tasks.empty() && stream.tasks.front().sequence <= sequence) {
    if (const auto changer = ChangerThatRan(stream.tasks.front())) {
      Force(*changer->stream, changer->sequence);
      continue;  // that may have let the stream go on
    }
    const OrderTask task = std::move(stream.tasks.front());
    stream.tasks.pop_front();
    stream.granted = false;
    LookAt(stream, task);
    Advance(stream);
    AdvanceAll();
  }
  stream.searched = false;
}

// What a task waited for that ended: a task of another stream that stops before it only because a word
// changed unseen, so that it ended too.
std::optional<OrderPoint> OrderChecker::ChangerThatRan(const OrderTask& waiter) {
  const Op& op = waiter.op;
  if (op.kind == OpKind::kWait) {
    if (waiter.record == nullptr || waiter.record->passed) return std::nullopt;
    const OrderPoint recorded{waiter.record->stream, waiter.record->sequence};
    return MayHaveRun(*recorded.stream, recorded.sequence) ? std::optional(recorded) : std::nullopt;
  }
  if (op.kind != OpKind::kAwait && op.kind != OpKind::kValueWait) return std::nullopt;
  for (OrderStream* stream : waiting_) {
    for (const OrderTask& task : stream->tasks) {
      const bool changes = op.kind == OpKind::kAwait
                               ? task.signal == waiter.signal && task.op.kind != OpKind::kAwait &&
                                     task.op.kind != OpKind::kReset
                               : task.op.kind == OpKind::kValueWrite && task.op.value.at == op.value.at &&
                                     engine::Holds(op.value.condition, task.op.value.value, op.value.value);
      if (changes && MayHaveRun(*stream, task.sequence)) return OrderPoint{stream, task.sequence};
    }
  }
  return std::nullopt;
}

bool OrderChecker::MayHaveRun(OrderStream& stream, uint64_t sequence) {
  if (stream.searched) return false;
  stream.searched = true;
  const bool ran = std::all_of(
      stream.tasks.begin(), stream.tasks.end(), [&](const OrderTask& task) BELAY_REQUIRES(mutex_) {
        if (task.sequence > sequence || task.op.kind == OpKind::kValueWait) return true;
        const bool waits = task.op.kind == OpKind::kWait ? task.record != nullptr && !task.record->passed
                                                         : task.op.kind == OpKind::kAwait;
        if (waits) return ChangerThatRan(task).has_value();
        return (task.op.kind != OpKind::kHostFunc && task.op.kind != OpKind::kCallback) ||
               !task.op.host.blocks || stream.returned >= task.sequence;
      });
  stream.searched = false;
  return ran;
}

uint64_t OrderChecker::Started(const engine::Stream& stream, uint64_t sequence) {
  MutexLock lock(mutex_);
  const uint64_t event = CountEvent();
  if (auto found = streams_.find(&stream); found != streams_.end()) {
    Force(*found->second, sequence - 1);
    Learn(*found->second, sequence - 1, false);
  }
  return event;
}

uint64_t OrderChecker::Returned(const engine::Stream& stream, uint64_t sequence) {
  MutexLock lock(mutex_);
  const uint64_t event = CountEvent();
  if (auto found = streams_.find(&stream); found != streams_.end()) {
    found->second->returned = sequence;
    found->second->returned_epoch = now_;
    AdvanceAll();
  }
  return event;
}

void OrderChecker::Dropped(const engine::Stream& stream, uint64_t sequence) {
  MutexLock lock(mutex_);
  CountEvent();
  auto found = streams_.find(&stream);
  if (found == streams_.end()) return;
  std::erase_if(found->second->tasks,
                [sequence](const OrderTask& task) { return task.sequence <= sequence; });
  found->second->granted = false;
  Advance(*found->second);
  AdvanceAll();
}

void OrderChecker::Learn(OrderStream& stream, uint64_t sequence, bool by_the_way) {
  ++now_;
  for (const OrderStream::Joined& joined : stream.joined) {
    if (joined.since <= sequence) LearnPoint(joined.point, by_the_way);
  }
  LearnPoint({&stream, sequence}, by_the_way);
  if (!waiting_.empty()) return;
  DropKnown(stream);
}

// Where no stream waits, everything that is looked at from now on is looked at with what the host knows now.
void OrderChecker::DropKnown(OrderStream& stream) {
  const uint64_t now = now_;
  const auto known = [now](const OrderPoint& point) {
    return point.stream->known.Known(point.sequence, now);
  };
  std::erase_if(stream.joined, [&](const OrderStream::Joined& joined) { return known(joined.point); });
  std::erase_if(stream.clock.points, known);
}

void OrderChecker::LearnPoint(const OrderPoint& point, bool by_the_way) {
  OrderSteps& steps = by_the_way ? point.stream->known_by_the_way : point.stream->known;
  steps.Add(point.sequence, now_);
  if (waiting_.empty()) steps.KeepLast();
}

}  // namespace belay::check
