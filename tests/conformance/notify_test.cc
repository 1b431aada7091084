// SPEC 20 §5: notifies, one bit of a device each; a wait consumes it.
#include "event_notify.h"
#include "steering.h"

namespace conformance {
namespace {

constexpr size_t kSize = 4096;
constexpr uint32_t kForever = 0;

class NotifyBit : public OnTwoDevices {};

TEST_F(NotifyBit, AWaitBlocksUntilARecordRuns) {
  Notify notify;
  Stream recorder, consumer;
  Hold recording(recorder.get()), waiting(consumer.get());
  ASSERT_OK(aclrtWaitAndResetNotify(notify.get(), consumer.get(), kForever));
  EXPECT_FALSE(waiting.Land()) << "initially clear";
  ASSERT_OK(aclrtRecordNotify(notify.get(), recorder.get()));
  EXPECT_FALSE(waiting.Land()) << "the record sets the bit when it runs";
  ASSERT_TRUE(recording.Land());
  EXPECT_TRUE(waiting.Land());
}

TEST_F(NotifyBit, AWaitConsumesTheBit) {
  Notify notify;
  Stream recorder, consumer;
  Hold waiting(consumer.get());
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK(aclrtWaitAndResetNotify(notify.get(), consumer.get(), kForever));
    EXPECT_FALSE(waiting.Land());
    ASSERT_OK(aclrtRecordNotify(notify.get(), recorder.get()));
    ASSERT_OK(aclrtSynchronizeStream(recorder.get()));
    EXPECT_TRUE(waiting.Land());
  }
}

TEST_F(NotifyBit, RecordsCoalesce) {
  Notify notify;
  Stream recorder, consumer;
  Hold waiting(consumer.get());
  ASSERT_OK(aclrtRecordNotify(notify.get(), recorder.get()));
  ASSERT_OK(aclrtRecordNotify(notify.get(), nullptr));
  ASSERT_OK(aclrtSynchronizeDevice());
  ASSERT_OK(aclrtWaitAndResetNotify(notify.get(), consumer.get(), kForever));
  ASSERT_OK(aclrtWaitAndResetNotify(notify.get(), consumer.get(), kForever));
  EXPECT_TRUE(waiting.Land());
  EXPECT_FALSE(waiting.Land()) << "two records set one bit";
  ASSERT_OK(aclrtRecordNotify(notify.get(), recorder.get()));
  ASSERT_OK(aclrtSynchronizeStream(recorder.get()));
  EXPECT_TRUE(waiting.Land());
}

TEST_F(NotifyBit, OneRecordReleasesTheOldestWaiter) {
  Notify notify;
  Stream recorder, waiters[4];
  for (Stream& waiter : waiters) {
    ASSERT_OK(aclrtWaitAndResetNotify(notify.get(), waiter.get(), kForever));
    UntilBlocked(waiter.get());
  }
  for (int i = 0; i < 4; ++i) {
    ASSERT_OK(aclrtRecordNotify(notify.get(), recorder.get()));
    EXPECT_OK(aclrtSynchronizeStream(waiters[i].get()));
    for (int later = i + 1; later < 4; ++later) {
      EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                 aclrtSynchronizeStreamWithTimeout(waiters[later].get(), 0));
    }
  }
}

TEST_F(NotifyBit, OrdersData) {
  Notify ready, used;
  DeviceBlock block(kSize);
  PinnedBlock out(kSize);
  Stream producer, consumer;
  ASSERT_OK(aclrtRecordNotify(used.get(), consumer.get()));
  for (int value = 1; value <= 20; ++value) {
    ASSERT_OK(aclrtWaitAndResetNotify(used.get(), producer.get(), kForever));
    ASSERT_OK(FillAsync(block, value, producer.get()));
    ASSERT_OK(aclrtRecordNotify(ready.get(), producer.get()));
    ASSERT_OK(aclrtWaitAndResetNotify(ready.get(), consumer.get(), kForever));
    ASSERT_OK(
        aclrtMemcpyAsync(out.get(), kSize, block.get(), kSize, ACL_MEMCPY_DEVICE_TO_HOST, consumer.get()));
    ASSERT_OK(aclrtRecordNotify(used.get(), consumer.get()));
    ASSERT_OK(aclrtSynchronizeStream(consumer.get()));
    ASSERT_EQ(out.Read(), Bytes(kSize, static_cast<uint8_t>(value)));
  }
}

TEST_F(NotifyBit, AnyDeviceRecordsAndItsOwnWaits) {
  Notify notify;
  DeviceBlock block(Bytes(kSize, 1));
  ASSERT_OK(aclrtWaitAndResetNotify(notify.get(), nullptr, kForever));
  ASSERT_OK(FillAsync(block, 2, nullptr));
  ASSERT_OK(aclrtSetDevice(1));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtWaitAndResetNotify(notify.get(), nullptr, kForever));
  {
    Stream there;
    EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtWaitAndResetNotify(notify.get(), there.get(), kForever));
    EXPECT_OK(aclrtRecordNotify(notify.get(), there.get()));
    EXPECT_OK(aclrtSynchronizeStream(there.get()));
  }
  ASSERT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_TRUE(Holds(block, 2));
}

TEST_F(NotifyBit, ContextsOfADeviceShareIt) {
  Notify notify;
  Stream consumer;
  ASSERT_OK(aclrtWaitAndResetNotify(notify.get(), consumer.get(), kForever));
  InOtherContext([&] { EXPECT_OK(aclrtRecordNotify(notify.get(), nullptr)); });
  EXPECT_OK(aclrtSynchronizeStream(consumer.get()));
}

TEST_F(NotifyBit, BatchResetClearsAtOnce) {
  Notify a, b, c;
  Stream stream;
  Hold hold(stream.get());
  for (const Notify* notify : {&a, &b, &c}) {
    ASSERT_OK(aclrtRecordNotify(notify->get(), nullptr));
    ASSERT_OK(aclrtWaitAndResetNotify(notify->get(), stream.get(), kForever));
  }
  ASSERT_OK(aclrtSynchronizeStream(nullptr));
  aclrtNotify batch[] = {b.get(), c.get()};
  EXPECT_OK(aclrtNotifyBatchReset(batch, 2));
  EXPECT_TRUE(hold.Land()) << "not in the batch";
  EXPECT_FALSE(hold.Land());
  ASSERT_OK(aclrtRecordNotify(b.get(), nullptr));
  ASSERT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_TRUE(hold.Land());
  EXPECT_FALSE(hold.Land());
  ASSERT_OK(aclrtRecordNotify(c.get(), nullptr));
  ASSERT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_TRUE(hold.Land());
  EXPECT_OK(aclrtNotifyBatchReset(batch, 2)) << "clear already";
}

TEST_F(NotifyBit, DestroyedWithEverythingPending) {
  Notify notify;
  Stream recorder, consumer;
  Hold recording(recorder.get()), waiting(consumer.get());
  ASSERT_OK(aclrtRecordNotify(notify.get(), recorder.get()));
  ASSERT_OK(aclrtWaitAndResetNotify(notify.get(), consumer.get(), kForever));
  EXPECT_OK(aclrtDestroyNotify(notify.release()));
  EXPECT_FALSE(waiting.Land());
  ASSERT_TRUE(recording.Land());
  EXPECT_TRUE(waiting.Land()) << "pending tasks keep it alive";
}

// The limit is in seconds.
TEST_F(NotifyBit, AnExpiredWaitFailsAndLeavesTheBit) {
  Notify notify, recorded;
  DeviceBlock block(Bytes(kSize, 1));
  Stream consumer, in_time;
  ASSERT_OK(aclrtWaitAndResetNotify(recorded.get(), in_time.get(), 600));
  ASSERT_OK(aclrtWaitAndResetNotify(notify.get(), consumer.get(), 1));
  ASSERT_OK(FillAsync(block, 2, consumer.get()));
  EXPECT_ACL(ACL_ERROR_RT_TASK_TIMEOUT, aclrtSynchronizeStream(consumer.get()));
  EXPECT_OK(aclrtSynchronizeStream(consumer.get())) << "reported once";
  EXPECT_TRUE(Holds(block, 2)) << "later tasks run";
  ASSERT_OK(aclrtRecordNotify(notify.get(), nullptr));
  ASSERT_OK(aclrtWaitAndResetNotify(notify.get(), consumer.get(), 600));
  EXPECT_OK(aclrtSynchronizeStream(consumer.get())) << "the expired wait consumes no later record";
  ASSERT_OK(aclrtRecordNotify(recorded.get(), nullptr));
  EXPECT_OK(aclrtSynchronizeStream(in_time.get()));
}

class NotifyCodes : public OnTwoDevices {};

TEST_F(NotifyCodes, Creation) {
  aclrtNotify notify = UntouchedPointer();
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCreateNotify(nullptr, ACL_NOTIFY_DEFAULT));
  for (uint64_t bad : {uint64_t{2}, uint64_t{3}, uint64_t{1} << 32, UINT64_MAX}) {
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCreateNotify(&notify, bad)) << bad;
  }
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCreateNotify(&notify, 2)) << "values come before the context";
  });
  EXPECT_EQ(notify, UntouchedPointer());
  Notify device_only(ACL_NOTIFY_DEVICE_USE_ONLY);
  EXPECT_NE(device_only.get(), nullptr);
}

TEST_F(NotifyCodes, Ids) {
  Notify a, b, c;
  const Notify* all[] = {&a, &b, &c};
  uint32_t id = 77;
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_OK(aclrtGetNotifyId(all[i]->get(), &id));
    EXPECT_EQ(id, i) << "from 0 on each device";
  }
  ASSERT_OK(aclrtSetDevice(1));
  Notify there;
  EXPECT_OK(aclrtGetNotifyId(there.get(), &id));
  EXPECT_EQ(id, 0u);
  ASSERT_OK(aclrtSetDevice(0));
  OnNewThread([&] {
    EXPECT_OK(aclrtGetNotifyId(b.get(), &id)) << "the handle is enough";
    EXPECT_EQ(id, 1u);
    EXPECT_OK(aclrtDestroyNotify(b.release()));
  });
  id = 77;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetNotifyId(nullptr, &id));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetNotifyId(a.get(), nullptr));
  EXPECT_EQ(id, 77u);
}

TEST_F(NotifyCodes, DeadHandles) {
  Notify live, gone;
  Stream stream;
  Hold hold(stream.get());
  aclrtNotify dead = gone.release();
  ASSERT_OK(aclrtDestroyNotify(dead));
  ASSERT_OK(aclrtRecordNotify(live.get(), nullptr));
  ASSERT_OK(aclrtSynchronizeStream(nullptr));
  uint32_t id = 77;
  for (aclrtNotify handle : {dead, aclrtNotify{UntouchedPointer()}, aclrtNotify{nullptr}}) {
    const aclError code = handle == nullptr ? ACL_ERROR_INVALID_PARAM : ACL_ERROR_RT_INVALID_HANDLE;
    EXPECT_ACL(code, aclrtDestroyNotify(handle));
    EXPECT_ACL(code, aclrtRecordNotify(handle, stream.get()));
    EXPECT_ACL(code, aclrtWaitAndResetNotify(handle, stream.get(), kForever));
    EXPECT_ACL(code, aclrtGetNotifyId(handle, &id));
    aclrtNotify batch[] = {live.get(), handle};
    EXPECT_ACL(code, aclrtNotifyBatchReset(batch, 2));
  }
  EXPECT_EQ(id, 77u);
  EXPECT_EQ(Pending(stream.get()), 0u);
  aclrtNotify batch[] = {live.get()};
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtNotifyBatchReset(nullptr, 1));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtNotifyBatchReset(batch, 0));
  ASSERT_OK(aclrtWaitAndResetNotify(live.get(), stream.get(), kForever));
  EXPECT_TRUE(hold.Land()) << "no refused batch cleared the bit";
}

TEST_F(NotifyCodes, BadStreams) {
  Notify notify;
  for (aclrtStream dead : DeadStreams()) {
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtRecordNotify(notify.get(), dead));
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtWaitAndResetNotify(notify.get(), dead, kForever));
  }
  Stream stream;
  const auto foreign = [&] {
    EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtRecordNotify(notify.get(), stream.get()));
    EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtWaitAndResetNotify(notify.get(), stream.get(), kForever));
  };
  InOtherContext(foreign);
  ASSERT_OK(aclrtSetDevice(1));
  foreign();
  ASSERT_OK(aclrtSetDevice(0));
  OnNewThread([&] {
    for (aclrtStream s : {stream.get(), aclrtStream{nullptr}}) {
      EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtRecordNotify(notify.get(), s));
      EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtWaitAndResetNotify(notify.get(), s, kForever));
    }
  });
  ASSERT_OK(aclrtWaitAndResetNotify(notify.get(), stream.get(), kForever));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream.get(), 1))
      << "no refusal set the bit";
  ASSERT_OK(aclrtRecordNotify(notify.get(), nullptr));
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
}

}  // namespace
}  // namespace conformance
