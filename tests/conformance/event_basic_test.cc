// SPEC 20 §4: plain and Ex events.
#include "support.h"

namespace conformance {
namespace {

constexpr size_t kSize = 64 * kKiB;

class Event {
 public:
  Event() { EXPECT_OK(aclrtCreateEvent(&event_)); }
  explicit Event(uint32_t flags) { EXPECT_OK(aclrtCreateEventExWithFlag(&event_, flags)); }
  ~Event() {
    if (event_ == nullptr) return;
    EXPECT_OK(aclrtDestroyEvent(event_));
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  aclrtEvent get() const { return event_; }
  aclrtEvent release() { return std::exchange(event_, nullptr); }

 private:
  aclrtEvent event_ = nullptr;
};

aclrtEventRecordedStatus Recorded(aclrtEvent event) {
  auto status = static_cast<aclrtEventRecordedStatus>(77);
  EXPECT_OK(aclrtQueryEventStatus(event, &status));
  return status;
}

// The parameter: flags of aclrtCreateEventExWithFlag; 0 = aclrtCreateEvent.
class EventOrder : public OnTwoDevices, public testing::WithParamInterface<uint32_t> {
 protected:
  aclrtEvent Make() {
    aclrtEvent event = nullptr;
    if (GetParam() == 0) {
      EXPECT_OK(aclrtCreateEvent(&event));
    } else {
      EXPECT_OK(aclrtCreateEventExWithFlag(&event, GetParam()));
    }
    return event;
  }
};

// 0x0e is what a large client passes for its default events; it may be waited for.
INSTANTIATE_TEST_SUITE_P(Kinds, EventOrder,
                         testing::Values(0, ACL_EVENT_SYNC, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE,
                                         ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS, 0x0e));

TEST_P(EventOrder, WaitSeesEverythingBeforeTheRecord) {
  Stream producer, consumer;
  aclrtEvent event = Make();
  for (size_t size : {size_t{64}, kSize, 3 * kMiB}) {
    PinnedBlock in(size), out(size);
    DeviceBlock a(size), b(size);
    for (uint32_t i = 0; i < 10; ++i) {
      const Bytes content = Pattern(size, i);
      std::memcpy(in.get(), content.data(), size);
      ASSERT_OK(aclrtMemcpyAsync(a.get(), size, in.get(), size, ACL_MEMCPY_HOST_TO_DEVICE, producer.get()));
      ASSERT_OK(aclrtRecordEvent(event, producer.get()));
      ASSERT_OK(aclrtStreamWaitEvent(consumer.get(), event));
      ASSERT_OK(aclrtMemcpyAsync(b.get(), size, a.get(), size, ACL_MEMCPY_DEVICE_TO_DEVICE, consumer.get()));
      ASSERT_OK(aclrtMemcpyAsync(out.get(), size, b.get(), size, ACL_MEMCPY_DEVICE_TO_HOST, consumer.get()));
      ASSERT_OK(aclrtSynchronizeStream(consumer.get()));
      ASSERT_TRUE(out.Read() == content) << "round " << i << " of " << size;
    }
  }
  EXPECT_OK(aclrtDestroyEvent(event));
}

TEST_P(EventOrder, HostWaitSeesEverythingBeforeTheRecord) {
  Stream stream;
  aclrtEvent event = Make();
  PinnedBlock out(kSize);
  DeviceBlock block(kSize);
  for (int32_t i = 0; i < 20; ++i) {
    ASSERT_OK(aclrtMemsetAsync(block.get(), kSize, i, kSize, stream.get()));
    ASSERT_OK(
        aclrtMemcpyAsync(out.get(), kSize, block.get(), kSize, ACL_MEMCPY_DEVICE_TO_HOST, stream.get()));
    ASSERT_OK(aclrtRecordEvent(event, stream.get()));
    ASSERT_OK(i % 2 == 0 ? aclrtSynchronizeEvent(event) : aclrtSynchronizeEventWithTimeout(event, 60'000));
    ASSERT_EQ(out.Read(), Bytes(kSize, static_cast<uint8_t>(i)));
    EXPECT_EQ(Recorded(event), ACL_EVENT_RECORDED_STATUS_COMPLETE);
  }
  EXPECT_OK(aclrtDestroyEvent(event));
}

TEST_P(EventOrder, QueryThatSaysCompleteIsAWait) {
  Stream stream;
  aclrtEvent event = Make();
  const size_t size = 4 * kMiB;
  PinnedBlock out(size);
  DeviceBlock block(Pattern(size, 3));
  ASSERT_OK(aclrtMemcpyAsync(out.get(), size, block.get(), size, ACL_MEMCPY_DEVICE_TO_HOST, stream.get()));
  ASSERT_OK(aclrtRecordEvent(event, stream.get()));
  bool complete = false;
  for (int i = 0; i < 10'000'000 && !complete; ++i) {
    complete = Recorded(event) == ACL_EVENT_RECORDED_STATUS_COMPLETE;
    std::this_thread::yield();
  }
  ASSERT_TRUE(complete);
  EXPECT_TRUE(out.Read() == Pattern(size, 3));
  EXPECT_OK(aclrtDestroyEvent(event));
}

TEST_P(EventOrder, ManyStreamsWaitForOneRecord) {
  Stream producer, consumers[3];
  aclrtEvent event = Make();
  PinnedBlock in(Pattern(kSize, 4)), out(3 * kSize);
  DeviceBlock block(kSize);
  ASSERT_OK(aclrtMemcpyAsync(block.get(), kSize, in.get(), kSize, ACL_MEMCPY_HOST_TO_DEVICE, producer.get()));
  ASSERT_OK(aclrtRecordEvent(event, producer.get()));
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK(aclrtStreamWaitEvent(consumers[i].get(), event));
    ASSERT_OK(aclrtMemcpyAsync(out.at(i * kSize), kSize, block.get(), kSize, ACL_MEMCPY_DEVICE_TO_HOST,
                               consumers[i].get()));
  }
  EXPECT_OK(aclrtDestroyEvent(event)) << "early, with everything pending";
  ASSERT_OK(aclrtSynchronizeDevice());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(std::memcmp(out.at(i * kSize), in.get(), kSize), 0);
}

TEST_P(EventOrder, NeverRecordedNeverBlocks) {
  Stream stream;
  aclrtEvent event = Make();
  EXPECT_OK(aclrtStreamWaitEvent(stream.get(), event));
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_OK(aclrtSynchronizeEvent(event));
  EXPECT_OK(aclrtSynchronizeEventWithTimeout(event, 0));
  EXPECT_EQ(Recorded(event),
            GetParam() == 0 ? ACL_EVENT_RECORDED_STATUS_NOT_READY : ACL_EVENT_RECORDED_STATUS_COMPLETE);
  EXPECT_OK(aclrtDestroyEvent(event));
}

TEST_P(EventOrder, AWaitIsBoundToTheRecordBeforeIt) {
  // Two streams that wait for each other's event in turn: with a wait that moved to later records this would
  // hang.
  Stream a, b;
  aclrtEvent event = Make();
  aclrtEvent back = Make();
  for (int i = 0; i < 20; ++i) {
    ASSERT_OK(aclrtRecordEvent(event, a.get()));
    ASSERT_OK(aclrtStreamWaitEvent(b.get(), event));
    ASSERT_OK(aclrtRecordEvent(back, b.get()));
    ASSERT_OK(aclrtStreamWaitEvent(a.get(), back));
  }
  EXPECT_OK(aclrtStreamWaitEvent(a.get(), event)) << "the stream that recorded it";
  EXPECT_OK(aclrtSynchronizeStream(a.get()));
  EXPECT_OK(aclrtSynchronizeStream(b.get()));
  EXPECT_OK(aclrtDestroyEvent(event));
  EXPECT_OK(aclrtDestroyEvent(back));
}

class EventBasic : public OnTwoDevices {};

TEST_F(EventBasic, CreationFlags) {
  aclrtEvent event = UntouchedPointer();
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCreateEvent(nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCreateEventExWithFlag(nullptr, ACL_EVENT_SYNC));
  const uint32_t bad[] = {0, ACL_EVENT_DEVICE_USE_ONLY, ACL_EVENT_EXTERNAL, ACL_EVENT_IPC | ACL_EVENT_SYNC};
  for (uint32_t flags : bad) {
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCreateEventExWithFlag(&event, flags)) << flags;
  }
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtCreateEvent(&event));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
  });
  EXPECT_EQ(event, UntouchedPointer());
  Event unknown_bits(ACL_EVENT_SYNC | 0x1000);
  EXPECT_NE(unknown_bits.get(), nullptr);
}

TEST_F(EventBasic, KindsAllowWhatTheyAllow) {
  Stream stream;
  Event plain, ex(ACL_EVENT_SYNC), timing(ACL_EVENT_TIME_LINE);
  for (const Event* event : {&plain, &ex, &timing}) ASSERT_OK(aclrtRecordEvent(event->get(), stream.get()));
  ASSERT_OK(aclrtSynchronizeStream(stream.get()));
  aclrtEventStatus status = ACL_EVENT_STATUS_RESERVED;
  aclrtEventWaitStatus wait = ACL_EVENT_WAIT_STATUS_RESERVED;
  for (const Event* event : {&ex, &timing}) {
    EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtQueryEvent(event->get(), &status));
    EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtQueryEventWaitStatus(event->get(), &wait));
  }
  EXPECT_EQ(status, ACL_EVENT_STATUS_RESERVED);
  EXPECT_EQ(wait, ACL_EVENT_WAIT_STATUS_RESERVED);
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtStreamWaitEvent(stream.get(), timing.get()));
  EXPECT_OK(aclrtSynchronizeEvent(timing.get()));
  EXPECT_OK(aclrtQueryEvent(plain.get(), &status));
  EXPECT_EQ(status, ACL_EVENT_STATUS_COMPLETE);
  EXPECT_OK(aclrtQueryEventWaitStatus(plain.get(), &wait));
  EXPECT_EQ(wait, ACL_EVENT_WAIT_STATUS_COMPLETE);
}

TEST_F(EventBasic, BadHandlesAndOutputs) {
  Event event;
  Stream stream;
  aclrtEventStatus status;
  aclrtEventRecordedStatus recorded;
  aclrtEventWaitStatus wait;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtQueryEvent(event.get(), nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtQueryEventStatus(event.get(), nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtQueryEventWaitStatus(event.get(), nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtSynchronizeEventWithTimeout(event.get(), -2));
  aclrtEvent dead = event.release();
  ASSERT_OK(aclrtDestroyEvent(dead));
  for (aclrtEvent handle : {aclrtEvent{nullptr}, dead, UntouchedPointer()}) {
    const aclError code = handle == nullptr ? ACL_ERROR_INVALID_PARAM : ACL_ERROR_RT_INVALID_HANDLE;
    EXPECT_ACL(code, aclrtDestroyEvent(handle));
    EXPECT_ACL(code, aclrtRecordEvent(handle, stream.get()));
    EXPECT_ACL(code, aclrtStreamWaitEvent(stream.get(), handle));
    EXPECT_ACL(code, aclrtSynchronizeEvent(handle));
    EXPECT_ACL(code, aclrtSynchronizeEventWithTimeout(handle, 10));
    EXPECT_ACL(code, aclrtQueryEvent(handle, &status));
    EXPECT_ACL(code, aclrtQueryEventStatus(handle, &recorded));
    EXPECT_ACL(code, aclrtQueryEventWaitStatus(handle, &wait));
  }
}

TEST_F(EventBasic, StreamsMustBeLiveAndOfThisContext) {
  Event event;
  Stream stream;
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtRecordEvent(event.get(), UntouchedPointer()));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtStreamWaitEvent(UntouchedPointer(), event.get()));
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtRecordEvent(event.get(), stream.get()));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtStreamWaitEvent(nullptr, event.get()));
  });
  aclrtContext context = nullptr;
  ASSERT_OK(aclrtCreateContext(&context, 0));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtRecordEvent(event.get(), stream.get()));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtStreamWaitEvent(stream.get(), event.get()));
  EXPECT_OK(aclrtRecordEvent(event.get(), nullptr)) << "an event belongs to the device, not to a context";
  EXPECT_OK(aclrtSynchronizeEvent(event.get()));
  ASSERT_OK(aclrtDestroyContext(context));
  ASSERT_OK(aclrtSetDevice(0));
}

// SPEC 32 §4
TEST_F(EventBasic, AnotherDevice) {
  Event plain, ex(ACL_EVENT_SYNC);
  for (aclrtEvent event : {plain.get(), ex.get()}) {
    ASSERT_OK(aclrtSetDevice(0));
    ASSERT_OK(aclrtRecordEvent(event, nullptr));
    ASSERT_OK(aclrtSetDevice(1));
    EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtRecordEvent(event, nullptr));
    EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtStreamWaitEvent(nullptr, event));
    EXPECT_OK(aclrtSynchronizeEvent(event));
    EXPECT_EQ(Recorded(event), ACL_EVENT_RECORDED_STATUS_COMPLETE);
  }
  aclrtEventStatus status = ACL_EVENT_STATUS_RESERVED;
  EXPECT_OK(aclrtQueryEvent(plain.get(), &status));
  EXPECT_EQ(status, ACL_EVENT_STATUS_COMPLETE);
}

TEST_F(EventBasic, HandleIsEnoughToAskAndDestroy) {
  Event event;
  ASSERT_OK(aclrtRecordEvent(event.get(), nullptr));
  ASSERT_OK(aclrtSynchronizeStream(nullptr));
  aclrtEvent handle = event.release();
  OnNewThread([&] {
    aclrtEventStatus status;
    aclrtEventWaitStatus wait;
    EXPECT_EQ(Recorded(handle), ACL_EVENT_RECORDED_STATUS_COMPLETE);
    EXPECT_OK(aclrtQueryEvent(handle, &status));
    EXPECT_OK(aclrtQueryEventWaitStatus(handle, &wait));
    EXPECT_OK(aclrtSynchronizeEvent(handle));
    EXPECT_OK(aclrtSynchronizeEventWithTimeout(handle, 10));
    EXPECT_OK(aclrtDestroyEvent(handle)) << "pool threads destroy events without a device";
  });
}

TEST_F(EventBasic, HandlesAreNeverReused) {
  std::vector<aclrtEvent> seen;
  for (int i = 0; i < 200; ++i) {
    Event event;
    for (aclrtEvent old : seen) ASSERT_NE(event.get(), old);
    seen.push_back(event.get());
  }
}

}  // namespace
}  // namespace conformance
