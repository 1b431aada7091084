// Calls of the host: refusals, what they submit, what they learn.
#include "interpreter.h"

#include <algorithm>

#include "codes.h"

namespace model {

// SPEC 30 §0.3, §2.1: padded, then whole pages of 4 KiB.
int64_t Charge(int64_t size) {
  int64_t padded = (size + 31) / 32 * 32 + 32;
  return (padded + 4095) / 4096 * 4096;
}

Interpreter::Interpreter(const Program& program, bool with_bytes)
    : program_(&program), with_bytes_(with_bytes) {
  threads_[0].lives = true;
  for (int64_t device : program.streams) {
    Stream& stream = streams_.emplace_back();
    stream.device = device;
    stream.lives = true;
  }
  for (const EventSpec& spec : program.events) events_.emplace_back().spec = spec;
  for (int64_t device : program.notifies) notifies_.emplace_back().device = device;
  buffers_.resize(program.buffers.size(), -1);
  changes_.resize(program.buffers.size(), 1);
  for (size_t i = 0; i < buffers_.size(); ++i) buffers_[i] = NewBlock(i);
  signals_.resize(Index(program.signals));
  signalled_.resize(Index(program.signals));
  accesses_.reserve(256);
}

int Interpreter::NewBlock(size_t buffer) {
  int block = static_cast<int>(block_buffer_.size());
  block_buffer_.push_back(static_cast<int>(buffer));
  if (with_bytes_) {
    bytes_.emplace_back(Index(program_->buffers[buffer].size), FirstByte(*program_, buffer));
  }
  return block;
}

bool Interpreter::Idle() const {
  return std::all_of(streams_.begin(), streams_.end(), [](const Stream& s) { return s.queue.empty(); });
}

bool Interpreter::Finished() const {
  return Quiet() &&
         std::none_of(streams_.begin(), streams_.end(), [](const Stream& s) { return s.subscribed; });
}

bool Interpreter::Quiet() const {
  bool alone = std::none_of(threads_.begin() + 1, threads_.end(), [](const Thread& t) { return t.lives; });
  return alone && Idle() &&
         std::none_of(streams_.begin(), streams_.end(), [](const Stream& s) { return s.held; });
}

Verdict Interpreter::Apply(const Call& call, Expectation* expected) {
  verdict_ = {};
  Thread& thread = threads_[Index(call.thread)];
  if (!thread.lives) return {Reason::kNonsense};
  // A default stream is passed as null, which means the current device's.
  if (call.stream >= 0 && call.stream < program_->devices && call.stream != call.device)
    return {Reason::kNonsense};
  ++thread.clock[ThreadActor(call.thread)];
  Expectation out;
  Dispatch(call, out);
  if (verdict_) Run();
  // An asynchronous copy with pageable host memory returns when it is done (SPEC 31 §0.3).
  bool asynchronous = call.kind == Kind::kCopyAsync || call.kind == Kind::kCopy2dAsync;
  if (verdict_ && asynchronous && out.code == 0 && call.flag != kStaged) {
    bool pageable = program_->buffers[Index(call.dst)].place == kPageable ||
                    program_->buffers[Index(call.src)].place == kPageable;
    const Stream& stream = streams_[Index(call.stream)];
    if (pageable && !stream.queue.empty()) Refuse(Reason::kHang);
    if (pageable) thread.clock.Join(stream.last);
  }
  if (expected != nullptr) *expected = std::move(out);
  return verdict_;
}

void Interpreter::Dispatch(const Call& call, Expectation& out) {
  if (HostCall(call, out) || StreamCall(call, out) || EventCall(call, out) || BookCall(call, out) ||
      ControlCall(call, out) || BytesCall(call, out) || TaskCall(call, out)) {
    return;
  }
  Refuse(Reason::kNonsense);
}

bool Interpreter::HostCall(const Call& call, Expectation&) {
  switch (call.kind) {
    case Kind::kFork: {
      Thread& other = threads_[Index(call.object)];
      if (call.thread != 0 || other.lives) Refuse(Reason::kNonsense);
      other.lives = true;
      other.clock.Join(clock_of(call));
      return true;
    }
    case Kind::kJoin: {
      Thread& other = threads_[Index(call.object)];
      if (call.thread != 0 || call.object == 0 || !other.lives) Refuse(Reason::kNonsense);
      other.lives = false;
      clock_of(call).Join(other.clock);
      return true;
    }
    case Kind::kSignal:
      if (signalled_[Index(call.object)] != 0) Refuse(Reason::kNonsense);
      signalled_[Index(call.object)] = 1;
      signals_[Index(call.object)] = clock_of(call);
      return true;
    case Kind::kAwait:
      if (signalled_[Index(call.object)] == 0) Refuse(Reason::kHang);
      clock_of(call).Join(signals_[Index(call.object)]);
      return true;
    default:
      return false;
  }
}

// SPEC 20 §0.1, §2
int Interpreter::StreamRefusal(const Call& call) const {
  const Stream& stream = streams_[Index(call.stream)];
  if (!stream.lives) return kInvalidHandle;
  return stream.device != call.device ? kStreamContext : 0;
}

bool Interpreter::StreamCall(const Call& call, Expectation& out) {
  switch (call.kind) {
    case Kind::kCreateStream:
    case Kind::kDestroyStream:
    case Kind::kSyncStream:
    case Kind::kPollStream:
    case Kind::kQueryStream:
      break;
    case Kind::kSyncDevice:
      HostTouch(Key(kDeviceStreams, call.device), Mode::kRead, call);
      for (size_t s = 0; s < streams_.size(); ++s) {
        const Stream& stream = streams_[s];
        if (stream.device != call.device || !stream.lives) continue;
        HostTouch(Key(kQueue, static_cast<int64_t>(s)), Mode::kRead, call);
        if (!stream.queue.empty()) Refuse(Reason::kHang);
        clock_of(call).Join(stream.last);
      }
      return true;
    default:
      return false;
  }
  Stream& stream = streams_[Index(call.stream)];
  const int actor = StreamActor(call.stream);
  if (call.kind == Kind::kCreateStream) {
    if (stream.lives || stream.device != call.device) Refuse(Reason::kNonsense);
    HostTouch(Key(kQueue, call.stream), Mode::kWrite, call);
    HostTouch(Key(kDeviceStreams, call.device), Mode::kWrite, call);
    stream.lives = true;
    stream.host_funcs = false;
    return true;
  }
  out.code = StreamRefusal(call);
  bool destroys = call.kind == Kind::kDestroyStream && out.code == 0;
  HostTouch(Key(kQueue, call.stream), destroys ? Mode::kWrite : Mode::kRead, call);
  if (out.code != 0) return true;
  const bool certain = Knows(call.thread, actor, stream.submitted);
  const bool blocked = !stream.queue.empty();
  switch (call.kind) {
    case Kind::kDestroyStream:
      if (call.stream < program_->devices || stream.held || stream.subscribed) Refuse(Reason::kNonsense);
      HostTouch(Key(kDeviceStreams, call.device), Mode::kWrite, call);
      stream.lives = false;
      [[fallthrough]];
    case Kind::kSyncStream:
      if (blocked) Refuse(Reason::kHang);
      clock_of(call).Join(stream.last);
      return true;
    case Kind::kPollStream:
      if (blocked) ProbeBlocker(call.stream, clock_of(call), ThreadActor(call.thread));
      out.code = certain ? 0 : kStreamTimeout;
      out.other_code = certain || blocked ? -1 : 0;
      return true;
    default:  // COMPLETE is 0
      if (blocked) ProbeBlocker(call.stream, clock_of(call), ThreadActor(call.thread));
      out.has_output = true;
      out.low = blocked ? 1 : 0;
      out.high = certain ? 0 : 1;
      return true;
  }
}

// COMPLETE and NOT_READY have other numbers in every call.
void Interpreter::EventStatus(const Call& call, Expectation& out, int64_t ready, int64_t not_ready) {
  const Event& event = events_[Index(call.object)];
  bool certain = false, blocked = false;
  if (event.latest < 0) {
    certain = event.spec.kind == EventKind::kEx;
    blocked = !certain;
  } else if (!event.reset_later) {
    const Record& record = records_[Index(event.latest)];
    const int actor = StreamActor(record.stream);
    certain = record.done && Knows(call.thread, actor, static_cast<uint16_t>(record.time - 1));
    // Held with nothing before it, the record waits though all that it captured has ended.
    blocked = !record.done && !streams_[Index(record.stream)].held;
    if (blocked) ProbeBlocker(record.stream, clock_of(call), ThreadActor(call.thread));
  }
  out.has_output = true;
  out.low = certain ? ready : blocked ? not_ready : std::min(ready, not_ready);
  out.high = certain ? ready : blocked ? not_ready : std::max(ready, not_ready);
}

// SPEC 20 §4
bool Interpreter::EventCall(const Call& call, Expectation& out) {
  switch (call.kind) {
    case Kind::kCreateEvent:
    case Kind::kDestroyEvent:
    case Kind::kQueryEvent:
    case Kind::kQueryWaits:
    case Kind::kSyncEvent:
    case Kind::kPollEvent:
      break;
    default:
      return false;
  }
  Event& event = events_[Index(call.object)];
  if (call.kind == Kind::kCreateEvent) {
    if (event.lives || event.spec.device != call.device) Refuse(Reason::kNonsense);
    HostTouch(Key(kEventState, call.object), Mode::kWrite, call);
    HostTouch(Key(kIds, event.spec.device), Mode::kAdd, call);
    Event fresh;
    fresh.spec = event.spec;
    fresh.life = event.life + 1;
    event = std::move(fresh);
    return true;
  }
  const bool destroys = call.kind == Kind::kDestroyEvent;
  HostTouch(Key(kEventState, call.object), destroys && event.lives ? Mode::kWrite : Mode::kRead, call);
  if (!event.lives) {
    out.code = kInvalidHandle;
    return true;
  }
  Record* record = event.latest < 0 ? nullptr : &records_[Index(event.latest)];
  switch (call.kind) {
    case Kind::kDestroyEvent:
      HostTouch(Key(kIds, event.spec.device), Mode::kAdd, call);
      if (event.spec.kind == EventKind::kFlag) {
        // Its bit goes with it, so nobody may still look at it.
        if (event.waits != event.waits_done) return Refuse(Reason::kHang), true;
        for (const Access& access : event.waits_ran) After(access, clock_of(call));
        for (const Access& access : event.records) After(access, clock_of(call));
        for (const Access& access : event.resets) After(access, clock_of(call));
        if (record != nullptr && !record->done) Refuse(Reason::kHang);
      }
      event.lives = false;
      return true;
    case Kind::kQueryEvent:
      EventStatus(call, out, 1, 0);
      return true;
    case Kind::kQueryWaits: {
      if (event.spec.kind == EventKind::kEx) {
        out.code = kNotSupported;
        return true;
      }
      out.has_output = true;
      if (record == nullptr || event.reset_later) {
        out.high = 1;
        return true;
      }
      bool certain = record->done && event.waits == event.waits_done &&
                     Knows(call.thread, StreamActor(record->stream), record->time);
      for (int actor = 0; actor < kActors; ++actor) {
        certain = certain && Knows(call.thread, actor, event.waited[actor]);
      }
      bool blocked = !record->done && !streams_[Index(record->stream)].held;
      if (blocked) ProbeBlocker(record->stream, clock_of(call), ThreadActor(call.thread));
      out.low = blocked ? 1 : 0;
      out.high = certain ? 0 : 1;
      return true;
    }
    default:
      if (record == nullptr) return true;  // never recorded: returns at once
      if (event.reset_later) return Refuse(Reason::kNonsense), true;
      if (call.kind == Kind::kSyncEvent) {
        if (!record->done) return Refuse(Reason::kHang), true;
        clock_of(call).Join(record->clock);
        return true;
      }
      Expectation status;
      EventStatus(call, status, 1, 0);
      out.code = status.low == 1 ? 0 : kEventTimeout;
      out.other_code = status.low == status.high ? -1 : 0;
      return true;
  }
}

// Ids that records hold: surely, or at most (SPEC 20 §4.1).
int64_t Interpreter::IdsHeld(const Call& call, bool most) const {
  int64_t held = 0;
  std::vector<int> sure;
  for (const Event& event : events_) {
    if (event.spec.device == call.device && event.spec.kind == EventKind::kFlag && event.lives) ++held;
  }
  for (const Record& record : records_) {
    const Event& event = events_[Index(record.event)];
    if (event.spec.device != call.device || event.spec.kind == EventKind::kFlag) continue;
    bool ended = record.done && record.waits == record.waits_done &&
                 Knows(call.thread, StreamActor(record.stream), record.time);
    for (int actor = 0; actor < kActors; ++actor) {
      ended = ended && Knows(call.thread, actor, record.waited[actor]);
    }
    if (most) {
      held += ended ? 0 : 1;
    } else if ((!record.done || record.early != 0) &&
               std::find(sure.begin(), sure.end(), record.event) == sure.end()) {
      sure.push_back(record.event);
    }
  }
  return held + static_cast<int64_t>(sure.size());
}

bool Interpreter::BookCall(const Call& call, Expectation& out) {
  switch (call.kind) {
    case Kind::kPeerOpen:
    case Kind::kPeerClose: {
      bool opens = call.kind == Kind::kPeerOpen;
      if (call.object == call.device) {
        out.code = kParam;
        return true;
      }
      bool& open = open_[Index(call.device)][Index(call.object)];
      HostTouch(PeerKey(call.device, call.object), open == opens ? Mode::kRead : Mode::kWrite, call);
      open = opens;
      return true;
    }
    case Kind::kPeerStatus:
      HostTouch(PeerKey(call.device, call.object), Mode::kRead, call);
      out.has_output = true;
      out.low = out.high = open_[Index(call.device)][Index(call.object)] ? 1 : 0;
      return true;
    case Kind::kStreamsLeft:
      HostTouch(Key(kDeviceStreams, call.device), Mode::kRead, call);
      out.has_output = true;
      for (size_t s = Index(program_->devices); s < streams_.size(); ++s) {
        if (streams_[s].lives && streams_[s].device == call.device) --out.low;
      }
      out.high = out.low;
      return true;
    case Kind::kEventsLeft:
      HostTouch(Key(kIds, call.device), Mode::kRead, call);
      // What holds an id surely must not be let go by somebody who is not ordered with this call.
      for (size_t s = 0; s < streams_.size(); ++s) {
        if (!streams_[s].queue.empty())
          ProbeBlocker(static_cast<int64_t>(s), clock_of(call), ThreadActor(call.thread));
      }
      out.has_output = true;
      out.low = -IdsHeld(call, true);
      out.high = -IdsHeld(call, false);
      return true;
    case Kind::kMemoryLeft:
      HostTouch(Key(kMemory, call.device), Mode::kRead, call);
      out.has_output = true;
      for (size_t b = 0; b < buffers_.size(); ++b) {
        const BufferSpec& spec = program_->buffers[b];
        if (spec.place == call.device && buffers_[b] >= 0) out.low -= Charge(spec.size);
      }
      out.high = out.low;
      return true;
    default:
      return false;
  }
}

bool Interpreter::ControlCall(const Call& call, Expectation& out) {
  switch (call.kind) {
    case Kind::kHold:
    case Kind::kRelease:
    case Kind::kLand:
    case Kind::kPending:
      break;
    default:
      return false;
  }
  Stream& stream = streams_[Index(call.stream)];
  bool changes = call.kind == Kind::kHold || call.kind == Kind::kLand;
  HostTouch(Key(kQueue, call.stream), changes ? Mode::kWrite : Mode::kRead, call);
  HostTouch(Key(kControl, call.stream), call.kind == Kind::kPending ? Mode::kRead : Mode::kWrite, call);
  if (StreamRefusal(call) != 0) return Refuse(Reason::kNonsense), true;
  switch (call.kind) {
    case Kind::kHold:
      // Otherwise it would depend on the schedule which tasks are caught.
      if (!Knows(call.thread, StreamActor(call.stream), stream.submitted)) {
        Refuse(Reason::kRace, StreamActor(call.stream));
      }
      stream.held = true;
      return true;
    case Kind::kRelease:
      stream.held = false;
      return true;
    case Kind::kLand:
      if (!stream.held) {
        out.code = kParam;
        return true;
      }
      Land(call, out);
      return true;
    default:
      if (!stream.held) Refuse(Reason::kNonsense);
      out.has_output = true;
      out.low = out.high = static_cast<int64_t>(stream.queue.size());
      return true;
  }
}

void Interpreter::Land(const Call& call, Expectation& out) {
  Stream& stream = streams_[Index(call.stream)];
  out.has_output = true;
  if (stream.queue.empty()) return;
  bool certain = false;
  bool passes = WouldPass(stream.queue.front(), call.thread, certain);
  if (!certain) return Refuse(Reason::kRace);
  if (!passes) {
    stream.held = false;  // look at what the head waits for
    ProbeBlocker(call.stream, clock_of(call), ThreadActor(call.thread));
    stream.held = true;
    return;
  }
  out.low = out.high = 1;
  Task task = std::move(stream.queue.front());
  stream.queue.erase(stream.queue.begin());
  task.submitted.Join(clock_of(call));
  if (!TryRun(call.stream, task)) Refuse(Reason::kNonsense);
  clock_of(call).Join(stream.last);
}

}  // namespace model
