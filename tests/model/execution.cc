#include "execution.h"

#include <algorithm>
#include <cstring>

#include "control.h"

namespace model {
namespace {

// A message that says what a call gave and what it should have given.
std::string Describe(const Call& call, int code, int64_t output, const Expectation& expected) {
  std::string text =
      ToText(call) + "\n  returned " + std::to_string(code) + ", expected " + std::to_string(expected.code);
  if (expected.other_code >= 0) {
    text += " or " + std::to_string(expected.other_code);
  }
  if (expected.has_output) {
    text += "; output " + std::to_string(output) + ", expected " + std::to_string(expected.low);
    if (expected.high != expected.low) text += " to " + std::to_string(expected.high);
  }
  return text;
}

}  // namespace

Execution::Execution(Runner& runner, const Program& program, const std::vector<Expectation>& expected)
    : runner_(runner),
      program_(program),
      expected_(expected),
      streams_(program.streams.size()),
      events_(program.events.size()),
      notifies_(program.notifies.size()),
      blocks_(program.buffers.size()),
      stream_lives_(program.streams.size(), 1),
      event_lives_(program.events.size(), 1),
      block_lives_(program.buffers.size(), 1),
      signals_(static_cast<size_t>(program.signals)),
      bodies_(program.calls.size()),
      read_(kMostThreads),
      sections_(program.calls.size()) {
  std::array<int, kMostThreads> section{};
  for (size_t i = 0; i < program.calls.size(); ++i) {
    const Call& call = program.calls[i];
    if (call.kind == Kind::kFork) ++section[static_cast<size_t>(call.object)];
    sections_[i] = section[static_cast<size_t>(call.thread)];
  }
}

void Execution::Fail(int call, std::string text) {
  std::lock_guard lock(mutex_);
  if (!failure_) failure_ = Failure{call, std::move(text)};
}

void Execution::Check(aclError code, const char* what) {
  if (code != ACL_SUCCESS) Fail(-1, std::string(what) + " returned " + std::to_string(code));
}

void Execution::NewBuffer(size_t buffer) {
  const BufferSpec& spec = program_.buffers[buffer];
  const auto size = static_cast<size_t>(spec.size);
  const uint8_t first = FirstByte(program_, buffer);
  void*& block = blocks_[buffer];
  if (spec.place >= 0) {
    Check(aclrtMalloc(&block, size, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    Check(aclrtMemset(block, size, first, size), "aclrtMemset");
    return;
  }
  if (spec.place == kPinned) {
    Check(aclrtMallocHost(&block, size), "aclrtMallocHost");
  } else {
    block = malloc(size);
  }
  memset(block, first, size);
}

aclError Execution::NewEvent(size_t event) {
  switch (program_.events[event].kind) {
    case EventKind::kPlain:
      return aclrtCreateEvent(&events_[event]);
    case EventKind::kEx:
      return aclrtCreateEventExWithFlag(&events_[event], ACL_EVENT_SYNC);
    default:
      return aclrtCreateEventWithFlag(&events_[event], ACL_EVENT_SYNC);
  }
}

void Execution::SetUp() {
  for (int64_t device = 0; device < program_.devices; ++device) {
    aclrtSetCurrentContext(runner_.contexts_[static_cast<size_t>(device)]);
    for (size_t s = static_cast<size_t>(program_.devices); s < streams_.size(); ++s) {
      if (program_.streams[s] == device) Check(aclrtCreateStream(&streams_[s]), "aclrtCreateStream");
    }
    for (size_t e = 0; e < events_.size(); ++e) {
      if (program_.events[e].device == device) Check(NewEvent(e), "creating an event");
    }
    for (size_t n = 0; n < notifies_.size(); ++n) {
      if (program_.notifies[n] == device) Check(aclrtCreateNotify(&notifies_[n], 0), "aclrtCreateNotify");
    }
    for (size_t b = 0; b < blocks_.size(); ++b) {
      if (std::max<int64_t>(program_.buffers[b].place, 0) == device) NewBuffer(b);
    }
  }
}

void Execution::TearDown() {
  for (int64_t device = 0; device < program_.devices; ++device) {
    aclrtSetCurrentContext(runner_.contexts_[static_cast<size_t>(device)]);
    Check(aclrtSynchronizeDevice(), "aclrtSynchronizeDevice");
    for (size_t s = static_cast<size_t>(program_.devices); s < streams_.size(); ++s) {
      if (program_.streams[s] == device && stream_lives_[s]) {
        Check(aclrtDestroyStream(streams_[s]), "aclrtDestroyStream");
      }
    }
    for (int32_t peer = 0; peer < program_.devices; ++peer) {
      int32_t open = 0;
      aclrtDevicePeerAccessStatus(static_cast<int32_t>(device), peer, &open);
      if (open != 0) Check(aclrtDeviceDisablePeerAccess(peer), "aclrtDeviceDisablePeerAccess");
    }
  }
  for (size_t e = 0; e < events_.size(); ++e) {
    if (event_lives_[e]) Check(aclrtDestroyEvent(events_[e]), "aclrtDestroyEvent");
  }
  for (aclrtNotify notify : notifies_) Check(aclrtDestroyNotify(notify), "aclrtDestroyNotify");
  for (size_t b = 0; b < blocks_.size(); ++b) {
    if (!block_lives_[b]) continue;
    switch (program_.buffers[b].place) {
      case kPageable:
        free(blocks_[b]);
        break;
      case kPinned:
        Check(aclrtFreeHost(blocks_[b]), "aclrtFreeHost");
        break;
      default:
        Check(aclrtFree(blocks_[b]), "aclrtFree");
    }
  }
}

void Execution::Make(size_t i) {
  const Call& call = program_.calls[i];
  const Expectation& expected = expected_[i];
  if (call.kind == Kind::kSignal) {
    signals_[static_cast<size_t>(call.object)].store(true);
    signals_[static_cast<size_t>(call.object)].notify_all();
    return;
  }
  if (call.kind == Kind::kAwait) return signals_[static_cast<size_t>(call.object)].wait(false);
  int64_t output = 0;
  const aclError code = Issue(call, i, output);
  bool right = code == expected.code || code == expected.other_code;
  // A refused call leaves its output alone, and it is not looked at.
  if (expected.has_output && code == 0) right = right && output >= expected.low && output <= expected.high;
  if (!right) return Fail(static_cast<int>(i), Describe(call, code, output, expected));
  if (call.kind != Kind::kRead) return;
  const std::vector<uint8_t>& bytes = read_[static_cast<size_t>(call.thread)];
  const auto width = static_cast<size_t>(call.width);
  if (memcmp(bytes.data(), expected.bytes.data(), width) == 0) return;
  const auto pair = std::mismatch(expected.bytes.begin(), expected.bytes.end(), bytes.begin());
  const auto at = pair.first - expected.bytes.begin();
  long wrong = 0;
  for (size_t b = 0; b < width; ++b) wrong += bytes[b] != expected.bytes[b];
  Fail(static_cast<int>(i), ToText(call) + "\n  byte " + std::to_string(at) + " is " +
                                std::to_string(*pair.second) + ", expected " + std::to_string(*pair.first) +
                                "; " + std::to_string(wrong) + " of " + std::to_string(width) +
                                " bytes differ");
}

aclError Execution::Issue(const Call& call, size_t i, int64_t& output) {
  switch (call.kind) {
    case Kind::kCreateStream:
    case Kind::kDestroyStream:
    case Kind::kSyncStream:
    case Kind::kPollStream:
    case Kind::kQueryStream:
    case Kind::kSyncDevice:
      return IssueStream(call, output);
    case Kind::kCopy:
    case Kind::kCopyAsync:
    case Kind::kCopy2d:
    case Kind::kCopy2dAsync:
    case Kind::kFill:
    case Kind::kFillAsync:
    case Kind::kHostWrite:
    case Kind::kRead:
    case Kind::kMalloc:
    case Kind::kFree:
    case Kind::kValueWrite:
    case Kind::kValueWait:
      return IssueBytes(call);
    case Kind::kHostFunc:
    case Kind::kSubscribe:
    case Kind::kUnsubscribe:
    case Kind::kCallback:
      return IssueHost(call, i);
    case Kind::kPeerOpen:
    case Kind::kPeerClose:
    case Kind::kPeerStatus:
    case Kind::kStreamsLeft:
    case Kind::kEventsLeft:
    case Kind::kMemoryLeft:
      return IssueBooks(call, output);
    case Kind::kHold:
    case Kind::kRelease:
    case Kind::kLand:
    case Kind::kPending:
      return IssueControl(call, output);
    default:
      return IssueEvent(call, output);
  }
}

aclError Execution::IssueStream(const Call& call, int64_t& output) {
  switch (call.kind) {
    case Kind::kCreateStream:
      stream_lives_[static_cast<size_t>(call.stream)] = 1;
      return aclrtCreateStream(&streams_[static_cast<size_t>(call.stream)]);
    case Kind::kDestroyStream: {
      const aclError code = aclrtDestroyStream(Stream(call));
      if (code == ACL_SUCCESS) stream_lives_[static_cast<size_t>(call.stream)] = 0;
      return code;
    }
    case Kind::kSyncStream:
      return aclrtSynchronizeStream(Stream(call));
    case Kind::kPollStream:
      return aclrtSynchronizeStreamWithTimeout(Stream(call), 0);
    case Kind::kSyncDevice:
      return aclrtSynchronizeDevice();
    default: {
      aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
      const aclError code = aclrtStreamQuery(Stream(call), &status);
      output = status;
      return code;
    }
  }
}

aclError Execution::IssueBytes(const Call& call) {
  const auto width = static_cast<size_t>(call.width), height = static_cast<size_t>(call.height);
  const auto room = static_cast<size_t>(call.room);
  const auto kind = static_cast<aclrtMemcpyKind>(call.flag);
  uint8_t* dst = call.dst < 0 ? nullptr : Bytes(call.dst) + call.dst_at;
  uint8_t* src = call.src < 0 ? nullptr : Bytes(call.src) + call.src_at;
  switch (call.kind) {
    case Kind::kCopy:
      return aclrtMemcpy(dst, room, src, width, kind);
    case Kind::kCopyAsync:
      return aclrtMemcpyAsync(dst, room, src, width, kind, Stream(call));
    case Kind::kCopy2d:
      return aclrtMemcpy2d(dst, static_cast<size_t>(call.dst_pitch), src, static_cast<size_t>(call.src_pitch),
                           width, height, kind);
    case Kind::kCopy2dAsync:
      return aclrtMemcpy2dAsync(dst, static_cast<size_t>(call.dst_pitch), src,
                                static_cast<size_t>(call.src_pitch), width, height, kind, Stream(call));
    case Kind::kFill:
      return aclrtMemset(dst, room, static_cast<int32_t>(call.value), width);
    case Kind::kFillAsync:
      return aclrtMemsetAsync(dst, room, static_cast<int32_t>(call.value), width, Stream(call));
    case Kind::kHostWrite:
      memset(dst, static_cast<int>(call.value), width);
      return ACL_SUCCESS;
    case Kind::kRead: {
      std::vector<uint8_t>& bytes = read_[static_cast<size_t>(call.thread)];
      if (bytes.size() < width) bytes.resize(width);
      if (program_.buffers[static_cast<size_t>(call.src)].place >= 0) {
        return aclrtMemcpy(bytes.data(), width, src, width, ACL_MEMCPY_DEVICE_TO_HOST);
      }
      memcpy(bytes.data(), src, width);
      return ACL_SUCCESS;
    }
    case Kind::kMalloc:
      NewBuffer(static_cast<size_t>(call.dst));
      block_lives_[static_cast<size_t>(call.dst)] = 1;
      return ACL_SUCCESS;
    case Kind::kFree:
      block_lives_[static_cast<size_t>(call.dst)] = 0;
      return aclrtFree(blocks_[static_cast<size_t>(call.dst)]);
    case Kind::kValueWrite:
      return aclrtValueWrite(dst, static_cast<uint64_t>(call.value), 0, Stream(call));
    default:
      return aclrtValueWait(dst, static_cast<uint64_t>(call.value), static_cast<uint32_t>(call.flag),
                            Stream(call));
  }
}

aclError Execution::IssueEvent(const Call& call, int64_t& output) {
  switch (call.kind) {
    case Kind::kCreateEvent:
      event_lives_[static_cast<size_t>(call.object)] = 1;
      return NewEvent(static_cast<size_t>(call.object));
    case Kind::kDestroyEvent: {
      const aclError code = aclrtDestroyEvent(EventOf(call));
      if (code == ACL_SUCCESS) event_lives_[static_cast<size_t>(call.object)] = 0;
      return code;
    }
    case Kind::kRecord:
      return aclrtRecordEvent(EventOf(call), Stream(call));
    case Kind::kWait:
      return aclrtStreamWaitEvent(Stream(call), EventOf(call));
    case Kind::kReset:
      return aclrtResetEvent(EventOf(call), Stream(call));
    case Kind::kQueryEvent: {
      aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
      const aclError code = aclrtQueryEventStatus(EventOf(call), &status);
      output = status;
      return code;
    }
    case Kind::kQueryWaits: {
      aclrtEventWaitStatus status = ACL_EVENT_WAIT_STATUS_COMPLETE;
      const aclError code = aclrtQueryEventWaitStatus(EventOf(call), &status);
      output = status;
      return code;
    }
    case Kind::kSyncEvent:
      return aclrtSynchronizeEvent(EventOf(call));
    case Kind::kPollEvent:
      return aclrtSynchronizeEventWithTimeout(EventOf(call), 0);
    case Kind::kRecordNotify:
      return aclrtRecordNotify(notifies_[static_cast<size_t>(call.object)], Stream(call));
    default:
      return aclrtWaitAndResetNotify(notifies_[static_cast<size_t>(call.object)], Stream(call), 0);
  }
}

void Execution::RunBody(void* argument) {
  const Body& body = *static_cast<const Body*>(argument);
  for (int64_t i = 0; i < body.width; ++i) body.dst[i] = static_cast<uint8_t>(body.src[i] + body.add);
}

aclError Execution::IssueHost(const Call& call, size_t i) {
  Body& body = bodies_[i];
  if (call.dst >= 0) {
    body = {Bytes(call.dst) + call.dst_at, Bytes(call.src) + call.src_at, call.width,
            static_cast<uint8_t>(call.value)};
  }
  switch (call.kind) {
    case Kind::kHostFunc:
      return aclrtLaunchHostFunc(Stream(call), RunBody, &body);
    case Kind::kCallback:
      return aclrtLaunchCallback(RunBody, &body, static_cast<aclrtCallbackBlockType>(call.flag),
                                 Stream(call));
    case Kind::kSubscribe:
      return aclrtSubscribeReport(runner_.CallbackThreadOf(call.device), Stream(call));
    default:
      return aclrtUnSubscribeReport(runner_.CallbackThreadOf(call.device), Stream(call));
  }
}

aclError Execution::IssueBooks(const Call& call, int64_t& output) {
  const Runner::Books& start = runner_.start_[static_cast<size_t>(call.device)];
  uint32_t count = 0;
  int32_t open = 0;
  size_t bytes = 0, total = 0;
  aclError code = ACL_SUCCESS;
  switch (call.kind) {
    case Kind::kPeerOpen:
      return aclrtDeviceEnablePeerAccess(static_cast<int32_t>(call.object), 0);
    case Kind::kPeerClose:
      return aclrtDeviceDisablePeerAccess(static_cast<int32_t>(call.object));
    case Kind::kPeerStatus:
      code = aclrtDevicePeerAccessStatus(static_cast<int32_t>(call.device), static_cast<int32_t>(call.object),
                                         &open);
      output = open;
      return code;
    case Kind::kStreamsLeft:
      code = aclrtGetStreamAvailableNum(&count);
      output = static_cast<int64_t>(count) - start.streams;
      return code;
    case Kind::kEventsLeft:
      code = aclrtGetEventAvailNum(&count);
      output = static_cast<int64_t>(count) - start.events;
      return code;
    default:
      code = aclrtGetMemInfo(ACL_HBM_MEM, &bytes, &total);
      output = static_cast<int64_t>(bytes) - static_cast<int64_t>(start.memory);
      return code;
  }
}

aclError Execution::IssueControl(const Call& call, int64_t& output) {
  const Controls& controls = Controls::Get();
  switch (call.kind) {
    case Kind::kHold:
      return controls.hold(Stream(call));
    case Kind::kRelease:
      return controls.release(Stream(call));
    case Kind::kLand: {
      int landed = 0;
      const aclError code = controls.land(Stream(call), &landed);
      output = landed;
      return code;
    }
    default: {
      size_t count = 0;
      const aclError code = controls.list(Stream(call), nullptr, 0, &count);
      output = static_cast<int64_t>(count);
      return code;
    }
  }
}

}  // namespace model
