#include "world.h"

#include <belay/control.h>
#include <unistd.h>

#include <cstdio>

namespace stress {

void Fail(const std::string& what) {
  std::printf("stress: %s\n", what.c_str());
  std::fflush(stdout);
  abort();
}

namespace {

void Need(Journal& journal, const char* text, aclError code) {
  if (journal.Leave(text, code) != ACL_SUCCESS) Fail(std::string(text) + " gave " + std::to_string(code));
}
#define NEED(journal, call) ((journal).Enter(#call), Need(journal, #call, (call)))

}  // namespace

CallbackThread::CallbackThread()
    : thread_([this] {
        aclrtProcessReport(1);
        polled_ = true;
        polled_.notify_one();
        while (!ends_) aclrtProcessReport(20);
      }) {
  polled_.wait(false);
}
CallbackThread::~CallbackThread() {
  ends_ = true;
  thread_.join();
}

Books World::Read(Journal& journal, int32_t device) {
  Books books;
  size_t total = 0;
  NEED(journal, aclrtSetDevice(device));
  NEED(journal, aclrtGetStreamAvailableNum(&books.streams));
  NEED(journal, aclrtGetEventAvailNum(&books.events));
  NEED(journal, aclrtGetMemInfo(ACL_HBM_MEM, &books.memory, &total));
  NEED(journal, aclrtResetDevice(device));
  return books;
}

void World::CreateStream(Journal& journal, Context& context, StreamSlot& slot) {
  slot.handle = nullptr;
  slot.subscribed = false;
  if (CALL(journal, aclrtCreateStream(&slot.handle)) != ACL_SUCCESS) {
    slot.handle = nullptr;
    return;
  }
  if (&slot == &context.streams.back()) {
    const uint64_t thread = devices[static_cast<size_t>(context.device)].callbacks->id();
    slot.subscribed = CALL(journal, aclrtSubscribeReport(thread, slot.handle)) == ACL_SUCCESS;
  }
}

void World::CreateEvent(Journal& journal, EventSlot& slot) {
  slot.handle = nullptr;
  aclError code = ACL_SUCCESS;
  switch (slot.kind) {
    case 0:
      code = CALL(journal, aclrtCreateEvent(&slot.handle));
      break;
    case 1:
      code = CALL(journal, aclrtCreateEventExWithFlag(&slot.handle, ACL_EVENT_SYNC));
      break;
    default:
      code = CALL(journal, aclrtCreateEventWithFlag(&slot.handle, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE));
  }
  if (code != ACL_SUCCESS) slot.handle = nullptr;
}

void World::Build(Journal& journal) {
  broken = false;
  for (size_t d = 0; d < kDevices; ++d) {
    Device& device = devices[d];
    if (device.callbacks == nullptr) device.callbacks = std::make_unique<CallbackThread>();
    NEED(journal, aclrtSetDevice(static_cast<int32_t>(d)));
    void* memory = nullptr;
    NEED(journal, aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
    device.block = static_cast<uint8_t*>(memory);
    NEED(journal, aclrtMalloc(&memory, kWords * sizeof(uint64_t), ACL_MEM_MALLOC_HUGE_FIRST));
    device.words = static_cast<uint64_t*>(memory);
    NEED(journal, aclrtMallocHost(&memory, kBytes));
    device.pinned = static_cast<uint8_t*>(memory);
    for (size_t i = 0; i < kEvents; ++i) {
      device.events[i].kind = static_cast<int>(i % 3);
      CreateEvent(journal, device.events[i]);
    }
    for (auto& notify : device.notifies) NEED(journal, aclrtCreateNotify(&notify.handle, ACL_NOTIFY_DEFAULT));
  }
  for (size_t c = 0; c < kContexts; ++c) {
    Context& context = contexts[c];
    context.device = c == 1 ? 1 : 0;
    context.stops = c == 2;
    if (context.stops) {
      NEED(journal, aclrtCreateContext(&context.handle, context.device));
    } else {
      NEED(journal, aclrtSetDevice(context.device));
      NEED(journal, aclrtGetCurrentContext(&context.handle));
    }
    NEED(journal, aclrtSetCurrentContext(context.handle));
    for (StreamSlot& slot : context.streams) CreateStream(journal, context, slot);
    if (context.stops) NEED(journal, aclrtSetStreamFailureMode(context.streams[0].handle, 1));
  }
}

// No stream is held any more.
void World::Release(Journal& journal) {
  for (Context& context : contexts) {
    NEED(journal, aclrtSetCurrentContext(context.handle));
    NEED(journal, belay_release_stream(nullptr));
    for (StreamSlot& slot : context.streams) {
      if (slot.handle != nullptr) NEED(journal, belay_release_stream(slot.handle));
    }
  }
}

// After this every stream is empty and every device as after its first selection.
void World::Empty(Journal& journal, uint64_t way) {
  // The default streams can only be emptied with their device; 107019 is the limit passing while a body runs.
  for (int32_t d = 0; d < kDevices; ++d) {
    if (d == 1 && broken) continue;
    NEED(journal, aclrtDeviceTaskAbort(d, 0));
  }
  for (Context& context : contexts) {
    if (context.device == 1 && broken) continue;
    NEED(journal, aclrtSetCurrentContext(context.handle));
    NEED(journal, aclrtSynchronizeDevice());
    for (StreamSlot& slot : context.streams) {
      if (slot.handle == nullptr) continue;
      if (way % 2 == 0) {
        NEED(journal, aclrtSynchronizeStream(slot.handle));
        if (slot.subscribed) {
          const uint64_t thread = devices[static_cast<size_t>(context.device)].callbacks->id();
          NEED(journal, aclrtUnSubscribeReport(thread, slot.handle));
        }
        NEED(journal, aclrtDestroyStream(slot.handle));
      } else {
        NEED(journal, aclrtDestroyStreamForce(slot.handle));
      }
    }
  }
}

void World::TakeDown(Journal& journal, uint64_t way) {
  Release(journal);
  Empty(journal, way);
  for (int32_t d = 0; d < kDevices; ++d) {
    Device& device = devices[static_cast<size_t>(d)];
    for (EventSlot& event : device.events) {
      if (event.handle != nullptr) NEED(journal, aclrtDestroyEvent(event.handle));
    }
    for (auto& notify : device.notifies) {
      if (notify.handle != nullptr) NEED(journal, aclrtDestroyNotify(notify.handle));
    }
    NEED(journal, aclrtFreeHost(device.pinned));
    NEED(journal, aclrtFree(device.block));
    NEED(journal, aclrtFree(device.words));
  }
  NEED(journal, aclrtDestroyContext(contexts[2].handle));
}

void World::Reset(Journal& journal, bool force) {
  for (int32_t d = 0; d < kDevices; ++d) {
    if (force) {
      NEED(journal, aclrtResetDeviceForce(d));
    } else {
      // Selected for its memory and for its context.
      for (int i = 0; i < 2; ++i) NEED(journal, aclrtResetDevice(d));
      if (journal.Leave("aclrtResetDevice(", aclrtResetDevice(d)) == ACL_SUCCESS)
        Fail("a device was selected more often than by this program");
    }
  }
}

}  // namespace stress
