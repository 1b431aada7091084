// Calls that move bytes, or submit a task that will.
#include <algorithm>

#include "codes.h"
#include "interpreter.h"

namespace model {

// SPEC 31 §0.2, §0.4, 32 §3. The executor of a synchronous copy is the current device if that holds a side.
int Interpreter::CopyRefusal(const Call& call, bool asynchronous, int64_t executor) {
  int64_t to = program_->buffers[Index(call.dst)].place, from = program_->buffers[Index(call.src)].place;
  if (asynchronous && call.flag == kHostToHost) return kNotSupported;
  if (call.height == 1 && call.room < call.width) return kInvalidParam;
  if (asynchronous) {
    HostTouch(Key(kQueue, call.stream), Mode::kRead, call);
    if (int code = StreamRefusal(call); code != 0) return code;
  } else if (executor != to && executor != from) {
    executor = to >= 0 ? to : from;
  }
  for (int64_t owner : {to, from}) {
    if (owner < 0 || owner == executor || executor < 0) continue;
    if (!asynchronous && (to < 0 || from < 0)) continue;  // one device takes part, whichever is current
    HostTouch(PeerKey(executor, owner), Mode::kRead, call);
    if (!open_[Index(executor)][Index(owner)]) return kParam;
  }
  return 0;
}

bool Interpreter::BytesCall(const Call& call, Expectation& out) {
  const int actor = ThreadActor(call.thread);
  auto block = [&](int64_t buffer) {
    HostTouch(Key(kBuffer, buffer), Mode::kRead, call);
    if (buffers_[Index(buffer)] < 0) Refuse(Reason::kNonsense);
    return buffers_[Index(buffer)];
  };
  Task task;
  task.call = call;
  switch (call.kind) {
    case Kind::kCopy:
    case Kind::kCopy2d:
      task.src = block(call.src);
      task.dst = block(call.dst);
      if (!verdict_) return true;
      out.code = CopyRefusal(call, false, call.device);
      if (out.code != 0) return true;
      TouchRows(task.src, call.src_at, call.src_pitch, call, Mode::kRead, clock_of(call), actor);
      TouchRows(task.dst, call.dst_at, call.dst_pitch, call, Mode::kWrite, clock_of(call), actor);
      break;
    case Kind::kFill:
    case Kind::kHostWrite:
      task.dst = block(call.dst);
      if (!verdict_) return true;
      if (call.kind == Kind::kFill && call.room < call.width) {
        out.code = kInvalidParam;
        return true;
      }
      TouchRows(task.dst, call.dst_at, call.width, call, Mode::kWrite, clock_of(call), actor);
      break;
    case Kind::kRead: {
      int src = block(call.src);
      if (!verdict_) return true;
      Touch(Key(kBytes, src), call.src_at, call.src_at + call.width, Mode::kRead, clock_of(call), actor);
      if (!with_bytes_) return true;
      const auto from = bytes_[Index(src)].begin() + call.src_at;
      out.bytes.assign(from, from + call.width);
      return true;
    }
    case Kind::kFree:
      if (buffers_[Index(call.dst)] < 0) Refuse(Reason::kNonsense);
      HostTouch(Key(kBuffer, call.dst), Mode::kWrite, call);
      HostTouch(Key(kMemory, call.device), Mode::kAdd, call);
      buffers_[Index(call.dst)] = -1;
      return true;
    case Kind::kMalloc:
      if (buffers_[Index(call.dst)] >= 0) Refuse(Reason::kNonsense);
      HostTouch(Key(kBuffer, call.dst), Mode::kWrite, call);
      HostTouch(Key(kMemory, call.device), Mode::kAdd, call);
      buffers_[Index(call.dst)] = NewBlock(Index(call.dst));
      // The bytes that a new block starts with are written by this call.
      Touch(Key(kBytes, buffers_[Index(call.dst)]), 0, program_->buffers[Index(call.dst)].size, Mode::kWrite,
            clock_of(call), actor);
      return true;
    default:
      return false;
  }
  if (with_bytes_ && verdict_) MoveBytes(task);
  return true;
}

int Interpreter::TaskRefusal(const Call& call) {
  const Stream& stream = streams_[Index(call.stream)];
  switch (call.kind) {
    case Kind::kCopyAsync:
    case Kind::kCopy2dAsync:
      return CopyRefusal(call, true, stream.device);
    case Kind::kFillAsync:
      if (call.room < call.width) return kInvalidParam;
      return StreamRefusal(call);
    case Kind::kRecord:
    case Kind::kWait:
    case Kind::kReset: {
      const Event& event = events_[Index(call.object)];
      if (call.kind == Kind::kReset && event.spec.kind == EventKind::kEx && event.lives) return kNotSupported;
      if (!event.lives) return kInvalidHandle;
      if (int code = StreamRefusal(call); code != 0) return code;
      return event.spec.device != stream.device ? kStreamContext : 0;
    }
    case Kind::kWaitNotify:
      if (int code = StreamRefusal(call); code != 0) return code;
      return notifies_[Index(call.object)].device != stream.device ? kStreamContext : 0;
    case Kind::kHostFunc:
      if (int code = StreamRefusal(call); code != 0) return code;
      return stream.subscribed ? kParam : 0;
    case Kind::kSubscribe:
      if (int code = StreamRefusal(call); code != 0) return code;
      return stream.subscribed ? kSubscribeTwice : 0;
    case Kind::kUnsubscribe:
      return stream.subscribed ? 0 : kSubscribeTwice;
    case Kind::kCallback:
      if (int code = StreamRefusal(call); code != 0) return code;
      return stream.subscribed ? 0 : kNoCallbackThread;
    default:
      return StreamRefusal(call);
  }
}

bool Interpreter::TaskCall(const Call& call, Expectation& out) {
  if (call.stream < 0) return false;
  const bool event_task = call.kind == Kind::kRecord || call.kind == Kind::kWait || call.kind == Kind::kReset;
  if (event_task) {
    const Event& event = events_[Index(call.object)];
    const bool flag = event.spec.kind == EventKind::kFlag;
    Mode mode = flag ? Mode::kAdd : call.kind == Kind::kWait || !event.lives ? Mode::kRead : Mode::kWrite;
    HostTouch(Key(kEventState, call.object), mode, call);
    HostTouch(Key(kIds, event.spec.device), Mode::kAdd, call);
  }
  for (int64_t buffer : {call.dst, call.src}) {
    if (buffer < 0) continue;
    HostTouch(Key(kBuffer, buffer), Mode::kRead, call);
    if (buffers_[Index(buffer)] < 0) Refuse(Reason::kNonsense);
  }
  if (!verdict_) return true;
  out.code = TaskRefusal(call);
  if (!verdict_) return true;
  Stream& stream = streams_[Index(call.stream)];
  HostTouch(Key(kQueue, call.stream), out.code == 0 ? Mode::kWrite : Mode::kRead, call);
  if (out.code != 0) return true;
  if (call.kind == Kind::kSubscribe) {
    if (stream.host_funcs) Refuse(Reason::kNonsense);
    stream.subscribed = true;
    return true;
  }
  if (call.kind == Kind::kUnsubscribe) {
    // Callbacks that the stream has not reached would be dropped; those handed over are waited for (SPEC 21
    // §2).
    if (!Knows(call.thread, StreamActor(call.stream), stream.submitted)) {
      Refuse(Reason::kRace, StreamActor(call.stream));
    }
    clock_of(call).Join(stream.last_body);
    stream.subscribed = false;
    return true;
  }
  Task task;
  task.call = call;
  task.submitted = clock_of(call);
  task.time = ++stream.submitted;
  if (call.dst >= 0) task.dst = buffers_[Index(call.dst)];
  if (call.src >= 0) task.src = buffers_[Index(call.src)];
  switch (call.kind) {
    case Kind::kRecord: {
      Event& event = events_[Index(call.object)];
      task.record = event.latest = static_cast<int>(records_.size());
      event.reset_later = false;
      Record& record = records_.emplace_back();
      record.event = static_cast<int>(call.object);
      record.stream = call.stream;
      record.time = task.time;
      break;
    }
    case Kind::kWait: {
      Event& event = events_[Index(call.object)];
      ++event.waits;
      task.life = event.life;
      task.record = event.latest;
      if (event.spec.kind != EventKind::kFlag && event.latest < 0) ++event.waits_done;
      if (event.spec.kind != EventKind::kFlag && event.latest >= 0) {
        Record& record = records_[Index(event.latest)];
        ++record.waits;
        task.early = !record.done;
        record.early += task.early ? 1 : 0;
      }
      break;
    }
    case Kind::kReset: {
      Event& event = events_[Index(call.object)];
      if (event.spec.kind != EventKind::kFlag) return Refuse(Reason::kNonsense), true;
      event.reset_later = true;
      break;
    }
    case Kind::kCopyAsync:
      if (call.flag == kStaged) {
        Touch(Key(kBytes, task.src), call.src_at, call.src_at + call.width, Mode::kRead, clock_of(call),
              ThreadActor(call.thread));
        const uint8_t* from = with_bytes_ ? &bytes_[Index(task.src)][Index(call.src_at)] : nullptr;
        task.staged.assign(with_bytes_ ? from : nullptr, with_bytes_ ? from + call.width : nullptr);
        if (!with_bytes_) task.staged.assign(1, 0);
      }
      break;
    case Kind::kHostFunc:
      stream.host_funcs = true;
      break;
    default:
      break;
  }
  stream.queue.push_back(std::move(task));
  return true;
}

}  // namespace model
