// SPEC 20 §3, H16: aclrtDestroyStreamForce drops what the stream still holds.
#include "event_notify.h"
#include "steering.h"

namespace conformance {
namespace {

constexpr size_t kSize = 4096;

class StreamDestroyForce : public OnTwoDevices {};

TEST_F(StreamDestroyForce, QueuedTasksAreDropped) {
  DeviceBlock block(Bytes(kSize, 1));
  Stream stream;
  Hold hold(stream.get());
  for (int value : {2, 3, 4}) ASSERT_OK(FillAsync(block, value, stream.get()));
  ASSERT_TRUE(hold.Land());
  aclrtStream handle = stream.release();
  EXPECT_OK(aclrtDestroyStreamForce(handle));
  hold.Forget();
  EXPECT_OK(aclrtSynchronizeDevice()) << "nothing is left to wait for";
  EXPECT_TRUE(Holds(block, 2)) << "what had run, ran";
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyStreamForce(handle));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyStream(handle));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(handle));
}

TEST_F(StreamDestroyForce, NothingIsTouchedAfterTheReturn) {
  const size_t size = 8 * kMiB;
  DeviceBlock block(size);
  for (int round = 0; round < 20; ++round) {
    Stream stream;
    for (int value = 1; value < 6; ++value) ASSERT_OK(FillAsync(block, value, stream.get()));
    ASSERT_OK(aclrtDestroyStreamForce(stream.release()));
    ASSERT_OK(aclrtMemset(block.get(), size, 0, size));
    ASSERT_TRUE(Holds(block, 0)) << "round " << round;
    ASSERT_OK(aclrtSynchronizeDevice());
    ASSERT_TRUE(Holds(block, 0)) << "round " << round;
  }
}

TEST_F(StreamDestroyForce, DroppedRecordsNeverComplete) {
  Event done = PlainEvent(), dropped = PlainEvent();
  Stream stream, consumer;
  Hold hold(stream.get()), waiting(consumer.get());
  ASSERT_OK(aclrtRecordEvent(done.get(), stream.get()));
  ASSERT_OK(aclrtRecordEvent(dropped.get(), stream.get()));
  ASSERT_OK(aclrtStreamWaitEvent(consumer.get(), done.get()));
  ASSERT_OK(aclrtStreamWaitEvent(consumer.get(), dropped.get()));
  ASSERT_TRUE(hold.Land());
  ASSERT_OK(aclrtDestroyStreamForce(stream.release()));
  hold.Forget();
  EXPECT_TRUE(IsComplete(done.get()));
  EXPECT_FALSE(IsComplete(dropped.get()));
  EXPECT_OK(aclrtSynchronizeEvent(done.get()));
  EXPECT_ACL(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, aclrtSynchronizeEventWithTimeout(dropped.get(), 0));
  EXPECT_ACL(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, aclrtSynchronizeEventWithTimeout(dropped.get(), 5));
  EXPECT_TRUE(waiting.Land());
  EXPECT_FALSE(waiting.Land()) << "its waiter stays blocked";
  EXPECT_OK(aclrtStreamAbort(consumer.get()));
  Stream fresh;
  ASSERT_OK(aclrtRecordEvent(dropped.get(), fresh.get()));
  EXPECT_OK(aclrtSynchronizeEvent(dropped.get())) << "a new record makes it an ordinary event again";
}

TEST_F(StreamDestroyForce, AStreamThatIsBlocked) {
  DeviceBlock block(Bytes(kSize, 1));
  Event event = PlainEvent();
  Stream producer, stream;
  Hold hold(producer.get());
  ASSERT_OK(aclrtRecordEvent(event.get(), producer.get()));
  ASSERT_OK(aclrtStreamWaitEvent(stream.get(), event.get()));
  ASSERT_OK(FillAsync(block, 2, stream.get()));
  UntilBlocked(stream.get());
  EXPECT_OK(aclrtDestroyStreamForce(stream.release()));
  hold.Release();
  EXPECT_OK(aclrtSynchronizeDevice());
  EXPECT_TRUE(Holds(block, 1));
}

TEST_F(StreamDestroyForce, GivesTheStreamBack) {
  uint32_t before = 0, after = 0;
  ASSERT_OK(aclrtGetStreamAvailableNum(&before));
  Stream stream;
  ASSERT_OK(aclrtDestroyStreamForce(stream.release())) << "an idle one";
  ASSERT_OK(aclrtGetStreamAvailableNum(&after));
  EXPECT_EQ(before, after);
}

TEST_F(StreamDestroyForce, BadStreams) {
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtDestroyStreamForce(nullptr));
  aclrtStream handle = nullptr;
  ASSERT_OK(aclrtCtxGetCurrentDefaultStream(&handle));
  EXPECT_NE(aclrtDestroyStreamForce(handle), ACL_SUCCESS);
  for (aclrtStream dead : DeadStreams()) {
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyStreamForce(dead));
  }
  DeviceBlock block(Bytes(kSize, 1));
  Stream stream;
  {
    Hold hold(stream.get());
    ASSERT_OK(FillAsync(block, 2, stream.get()));
    const auto foreign = [&] {
      EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtDestroyStreamForce(stream.get()));
    };
    InOtherContext(foreign);
    ASSERT_OK(aclrtSetDevice(1));
    foreign();
    ASSERT_OK(aclrtSetDevice(0));
    OnNewThread([&] { EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtDestroyStreamForce(stream.get())); });
    EXPECT_EQ(Pending(stream.get()), 1u);
  }
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_TRUE(Holds(block, 2)) << "no refusal dropped the task";
}

}  // namespace
}  // namespace conformance
