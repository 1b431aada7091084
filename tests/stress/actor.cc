#include "actor.h"

#include <cstring>
#include <stdexcept>
#include <vector>

namespace stress {

const Actor::Step Actor::kSteps[] = {
    {40, &Actor::Copy},     {6, &Actor::LargeCopy},    {6, &Actor::FreeEarly},   {25, &Actor::Record},
    {25, &Actor::Wait},     {6, &Actor::Reset},        {20, &Actor::AskEvent},   {8, &Actor::SyncEvent},
    {12, &Actor::Notify},   {8, &Actor::AwaitNotify},  {12, &Actor::Value},      {16, &Actor::HostFunction},
    {16, &Actor::Callback}, {25, &Actor::Ask},         {16, &Actor::Sync},       {2, &Actor::SyncDevice},
    {10, &Actor::Hold},     {16, &Actor::Land},        {5, &Actor::FailNext},    {6, &Actor::Abort},
    {8, &Actor::Replace},   {5, &Actor::ReplaceEvent}, {2, &Actor::AbortDevice}, {1, &Actor::Break},
    {4, &Actor::CopyNow}};

void Actor::Run(int steps) {
  int sum = 0;
  for (const Step& step : kSteps) sum += step.weight;
  for (int i = 0; i < steps; ++i) {
    context_ = &world_.contexts[Below(kContexts)];
    CALL(journal_, aclrtSetCurrentContext(context_->handle));
    auto at = static_cast<int>(Below(static_cast<uint64_t>(sum)));
    const Step* step = kSteps;
    while (at >= step->weight) at -= step++->weight;
    (this->*step->act)();
  }
}

template <class Act>
void Actor::WithStream(Act act) {
  if (Chance(5)) {
    act(static_cast<aclrtStream>(nullptr), false);
    return;
  }
  StreamSlot& slot = context_->streams[Below(kStreams)];
  const std::shared_lock lock(slot.lock, std::try_to_lock);
  if (lock && slot.handle != nullptr) act(slot.handle, slot.subscribed);
}
template <class Act>
void Actor::WithEvent(Act act) {
  EventSlot& slot = device().events[Below(kEvents)];
  const std::shared_lock lock(slot.lock, std::try_to_lock);
  if (lock && slot.handle != nullptr) act(slot.handle, slot.kind);
}
template <class Act>
void Actor::WithNotify(Act act) {
  auto& slot = device().notifies[Below(kNotifies)];
  const std::shared_lock lock(slot.lock, std::try_to_lock);
  if (lock && slot.handle != nullptr) act(slot.handle);
}

// --- Tasks

void Actor::Copy() {
  const size_t size = size_t{1} << Below(17);
  const size_t at = Below(kBytes - size);
  uint8_t *block = device().block + at, *pinned = device().pinned + at;
  WithStream([&](aclrtStream stream, bool) {
    switch (Below(4)) {
      case 0:
        CALL(journal_, aclrtMemsetAsync(block, size, static_cast<int>(Below(256)), size, stream));
        break;
      case 1:
        CALL(journal_, aclrtMemcpyAsync(block, size, pinned, size, ACL_MEMCPY_HOST_TO_DEVICE, stream));
        break;
      case 2:
        CALL(journal_, aclrtMemcpyAsync(pinned, size, block, size, ACL_MEMCPY_DEVICE_TO_HOST, stream));
        break;
      default:
        CALL(journal_, aclrtMemcpyAsync(device().block, size / 2, device().block + kBytes / 2, size / 2,
                                        ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    }
  });
}

void Actor::LargeCopy() {
  WithStream([&](aclrtStream stream, bool) {
    CALL(journal_, aclrtMemcpyAsync(device().block, kBytes, device().pinned, kBytes,
                                    ACL_MEMCPY_HOST_TO_DEVICE, stream));
  });
}

// Freed while its task may be queued: the bytes stay in place until it is done.
void Actor::FreeEarly() {
  constexpr size_t kSize = 4096;
  void* block = nullptr;
  if (CALL(journal_, aclrtMalloc(&block, kSize, ACL_MEM_MALLOC_HUGE_FIRST)) != ACL_SUCCESS) return;
  WithStream(
      [&](aclrtStream stream, bool) { CALL(journal_, aclrtMemsetAsync(block, kSize, 1, kSize, stream)); });
  CALL(journal_, aclrtFree(block));
}

void Actor::Record() {
  WithStream([&](aclrtStream stream, bool) {
    WithEvent([&](aclrtEvent event, int) { CALL(journal_, aclrtRecordEvent(event, stream)); });
  });
}
void Actor::Wait() {
  WithStream([&](aclrtStream stream, bool) {
    WithEvent([&](aclrtEvent event, int) {
      if (Chance(80)) {
        CALL(journal_, aclrtStreamWaitEvent(stream, event));
      } else {
        CALL(journal_, aclrtStreamWaitEventWithTimeout(stream, event, 1 + static_cast<int>(Below(3))));
      }
    });
  });
}
void Actor::Reset() {
  WithStream([&](aclrtStream stream, bool) {
    WithEvent([&](aclrtEvent event, int kind) {
      if (kind != 1) CALL(journal_, aclrtResetEvent(event, stream));
    });
  });
}
void Actor::Notify() {
  WithStream([&](aclrtStream stream, bool) {
    WithNotify([&](aclrtNotify notify) { CALL(journal_, aclrtRecordNotify(notify, stream)); });
  });
}
void Actor::AwaitNotify() {
  WithStream([&](aclrtStream stream, bool) {
    WithNotify([&](aclrtNotify notify) {
      if (Chance(10)) {
        CALL(journal_, aclrtNotifyBatchReset(&notify, 1));
      } else {
        CALL(journal_, aclrtWaitAndResetNotify(notify, stream, static_cast<uint32_t>(Below(2))));
      }
    });
  });
}
void Actor::Value() {
  uint64_t* word = device().words + Below(kWords);
  const uint64_t value = Below(3);
  WithStream([&](aclrtStream stream, bool) {
    if (Chance(60)) {
      CALL(journal_, aclrtValueWrite(word, value, 0, stream));
    } else {
      CALL(journal_, aclrtValueWait(word, value, ACL_VALUE_WAIT_GEQ, stream));
    }
  });
}

// At once on this thread, ordered with nothing; wakes streams that wait for a word.
void Actor::CopyNow() {
  const uint64_t value = Below(4);
  if (Chance(50)) {
    CALL(journal_,
         aclrtMemcpy(device().words, sizeof(value), &value, sizeof(value), ACL_MEMCPY_HOST_TO_DEVICE));
  } else {
    CALL(journal_, aclrtMemset(device().block, kBytes, static_cast<int>(value), kBytes / 16));
  }
}

// --- User code. Every body comes to its end by itself.

void Actor::RunBody(void* raw) {
  const Body& body = *static_cast<Body*>(raw);
  ++body.world->bodies;
  switch (body.kind) {
    case 0:
      throw std::runtime_error("a body of the stress test");
    case 1: {
      aclrtContext context = nullptr;
      aclrtSetCurrentContext(body.context);
      if (aclrtGetCurrentContext(&context) != ACL_SUCCESS || context != body.context)
        Fail("a body does not have the context that it bound");
      aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL);
      break;
    }
    case 2:
      // Its own stream: refused at once instead of hanging.
      aclrtSetCurrentContext(body.context);
      if (aclrtSynchronizeStream(body.stream) == ACL_SUCCESS) Fail("a body waited for its own stream");
      break;
    default:
      break;
  }
}

void Actor::HostFunction() {
  WithStream([&](aclrtStream stream, bool subscribed) {
    if (subscribed && Chance(95)) return;
    bodies_.push_back({&world_, context_->handle, stream, Below(20)});
    CALL(journal_, aclrtLaunchHostFunc(stream, RunBody, &bodies_.back()));
  });
}
void Actor::Callback() {
  WithStream([&](aclrtStream stream, bool subscribed) {
    if (!subscribed && Chance(95)) return;
    bodies_.push_back({&world_, context_->handle, stream, Below(20)});
    // Only behind a callback that blocks is the own stream known to be busy.
    if (bodies_.back().kind == 2 || Chance(50)) {
      CALL(journal_, aclrtLaunchCallback(RunBody, &bodies_.back(), ACL_CALLBACK_BLOCK, stream));
    } else {
      CALL(journal_, aclrtLaunchCallback(RunBody, &bodies_.back(), ACL_CALLBACK_NO_BLOCK, stream));
    }
  });
}

// --- Looking and waiting. Every wait has a limit: what others do may leave it without an end.

void Actor::Ask() {
  WithStream([&](aclrtStream stream, bool) {
    auto status = ACL_STREAM_STATUS_RESERVED;
    size_t count = 0;
    belay_pending_task tasks[4];
    if (Chance(70)) {
      CALL(journal_, aclrtStreamQuery(stream, &status));
    } else {
      CALL(journal_, belay_list_pending(stream, tasks, 4, &count));
    }
  });
}
int Actor::Limit() {
  return Chance(80) ? 0 : 1 + static_cast<int>(Below(2));
}
void Actor::Sync() {
  WithStream(
      [&](aclrtStream stream, bool) { CALL(journal_, aclrtSynchronizeStreamWithTimeout(stream, Limit())); });
}
void Actor::SyncDevice() {
  CALL(journal_, aclrtSynchronizeDeviceWithTimeout(Limit()));
}
void Actor::AskEvent() {
  WithEvent([&](aclrtEvent event, int kind) {
    auto recorded = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    auto waited = ACL_EVENT_WAIT_STATUS_RESERVED;
    uint64_t time = 0;
    const uint64_t what = Below(10);
    if (what < 6 || kind == 1) {
      CALL(journal_, aclrtQueryEventStatus(event, &recorded));
    } else if (what < 9) {
      CALL(journal_, aclrtQueryEventWaitStatus(event, &waited));
    } else {
      CALL(journal_, aclrtEventGetTimestamp(event, &time));
    }
  });
}
void Actor::SyncEvent() {
  WithEvent([&](aclrtEvent event, int) { CALL(journal_, aclrtSynchronizeEventWithTimeout(event, Limit())); });
}

// --- Steering and failures

void Actor::Hold() {
  WithStream([&](aclrtStream stream, bool) {
    if (Chance(40)) {
      CALL(journal_, belay_hold_stream(stream));
    } else {
      CALL(journal_, belay_release_stream(stream));
    }
  });
}
void Actor::Land() {
  WithStream([&](aclrtStream stream, bool) {
    int landed = 0;
    // 107000 where the stream is not held.
    CALL(journal_, belay_land_one(stream, &landed));
  });
}
void Actor::FailNext() {
  WithStream([&](aclrtStream stream, bool) {
    CALL(journal_, belay_fail_next_task(stream, ACL_ERROR_RT_AICORE_EXCEPTION));
  });
}
void Actor::Abort() {
  WithStream([&](aclrtStream stream, bool) {
    // On the default stream: as 20 §3.3 says for the version.
    CALL(journal_, aclrtStreamAbort(stream));
  });
}
void Actor::AbortDevice() {
  // Leaves the stopped context usable again.
  CALL(journal_, aclrtDeviceTaskAbort(context_->device, 100));
}

void Actor::Replace() {
  StreamSlot& slot = context_->streams[Below(kStreams)];
  const std::unique_lock lock(slot.lock, std::try_to_lock);
  if (!lock) return;
  if (slot.handle != nullptr) {
    auto status = ACL_STREAM_STATUS_NOT_READY;
    CALL(journal_, aclrtStreamQuery(slot.handle, &status));
    // Nobody else submits now: what is complete stays so, and destroying it waits for nothing.
    if (status == ACL_STREAM_STATUS_COMPLETE && Chance(50)) {
      if (CALL(journal_, aclrtDestroyStream(slot.handle)) != ACL_SUCCESS) Fail("an idle stream was kept");
    } else if (CALL(journal_, aclrtDestroyStreamForce(slot.handle)) != ACL_SUCCESS) {
      Fail("a stream was kept by force");
    }
  }
  world_.CreateStream(journal_, *context_, slot);
}

void Actor::ReplaceEvent() {
  if (Chance(30)) {
    auto& slot = device().notifies[Below(kNotifies)];
    const std::unique_lock lock(slot.lock, std::try_to_lock);
    if (!lock) return;
    if (slot.handle != nullptr) CALL(journal_, aclrtDestroyNotify(slot.handle));
    if (CALL(journal_, aclrtCreateNotify(&slot.handle, ACL_NOTIFY_DEFAULT)) != ACL_SUCCESS)
      slot.handle = nullptr;
    return;
  }
  EventSlot& slot = device().events[Below(kEvents)];
  const std::unique_lock lock(slot.lock, std::try_to_lock);
  if (!lock) return;
  if (slot.handle != nullptr) CALL(journal_, aclrtDestroyEvent(slot.handle));
  world_.CreateEvent(journal_, slot);
}

// Once a round and only where the round ends with a reset of device 1.
void Actor::Break() {
  if (!may_break_ || world_.broken.exchange(true)) return;
  aclrtErrorInfo info;
  memset(&info, 0, sizeof(info));
  info.errorType = ACL_RT_ERROR_MEMORY;
  CALL(journal_, belay_fail_device(1, ACL_ERROR_RT_DEVICE_MEM_ERROR, &info));
}

}  // namespace stress
