// SPEC 20 §1: the orders that exist between streams and host, and those that do not.
#include <chrono>

#include "event_notify.h"
#include "steering.h"

namespace conformance {
namespace {

constexpr size_t kSize = 4096;

class StreamOrder : public OnTwoDevices {};

// H3
TEST_F(StreamOrder, TasksOfAStreamRunInTheOrderOfTheCalls) {
  constexpr int kTimes = 5;
  DeviceBlock block(Bytes(kSize, 0)), seen(Bytes(kTimes * kSize, 0));
  Stream stream;
  Hold hold(stream.get());
  for (int i = 0; i < kTimes; ++i) {
    ASSERT_OK(FillAsync(block, i + 1, stream.get()));
    ASSERT_OK(aclrtMemcpyAsync(seen.at(i * kSize), kSize, block.get(), kSize, ACL_MEMCPY_DEVICE_TO_DEVICE,
                               stream.get()));
  }
  for (size_t left = 2 * kTimes; left > 0; --left) {
    EXPECT_EQ(Pending(stream.get()), left);
    ASSERT_TRUE(hold.Land());
  }
  EXPECT_FALSE(hold.Land());
  hold.Release();
  ASSERT_OK(aclrtSynchronizeStream(stream.get()));
  Bytes expected;
  for (int i = 0; i < kTimes; ++i) expected.insert(expected.end(), kSize, static_cast<uint8_t>(i + 1));
  EXPECT_EQ(seen.Read(), expected);
}

// H2
TEST_F(StreamOrder, MemoryIsReadWhenTheTaskRuns) {
  PinnedBlock in(Pattern(kSize, 1));
  DeviceBlock block(kSize);
  Stream stream;
  Hold hold(stream.get());
  ASSERT_OK(aclrtMemcpyAsync(block.get(), kSize, in.get(), kSize, ACL_MEMCPY_HOST_TO_DEVICE, stream.get()));
  std::memcpy(in.get(), Pattern(kSize, 2).data(), kSize);  // RACE: the subject of this test
  ASSERT_TRUE(hold.Land());
  hold.Release();
  ASSERT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_EQ(block.Read(), Pattern(kSize, 2));
}

// N1
TEST_F(StreamOrder, NoStreamWaitsForAnother) {
  DeviceBlock a(Bytes(kSize, 1)), b(Bytes(kSize, 1)), c(Bytes(kSize, 1));
  Stream held, other;
  {
    Hold hold(held.get());
    ASSERT_OK(FillAsync(a, 2, held.get()));
    ASSERT_OK(FillAsync(b, 2, nullptr));
    ASSERT_OK(FillAsync(c, 2, other.get()));
    EXPECT_OK(aclrtSynchronizeStream(nullptr));
    EXPECT_OK(aclrtSynchronizeStream(other.get()));
    EXPECT_EQ(Pending(held.get()), 1u);
    EXPECT_TRUE(Holds(b, 2));
    EXPECT_TRUE(Holds(c, 2));
  }
  EXPECT_OK(aclrtSynchronizeStream(held.get()));
  Hold hold(nullptr);
  ASSERT_OK(FillAsync(b, 3, nullptr));
  ASSERT_OK(FillAsync(c, 3, other.get()));
  EXPECT_OK(aclrtSynchronizeStream(other.get())) << "the default stream orders nothing";
  EXPECT_EQ(Pending(nullptr), 1u);
  EXPECT_TRUE(Holds(c, 3));
}

// N2
TEST_F(StreamOrder, SynchronousCallsWaitForNoStream) {
  DeviceBlock a(Bytes(kSize, 1)), b(Bytes(kSize, 1)), block(Bytes(kSize, 1)), other(Bytes(kSize, 1));
  Stream stream;
  Hold by_default(nullptr), hold(stream.get());
  ASSERT_OK(FillAsync(a, 2, nullptr));
  ASSERT_OK(FillAsync(b, 3, stream.get()));
  EXPECT_OK(aclrtMemset(block.get(), kSize, 4, kSize));
  EXPECT_OK(aclrtMemcpy(other.get(), kSize, block.get(), kSize, ACL_MEMCPY_DEVICE_TO_DEVICE));
  EXPECT_TRUE(Holds(other, 4));
  { DeviceBlock made_and_freed(kSize); }
  EXPECT_EQ(Pending(nullptr), 1u);
  EXPECT_EQ(Pending(stream.get()), 1u);
}

// H6
TEST_F(StreamOrder, ADeviceWaitCoversTheContext) {
  DeviceBlock block(Bytes(kSize, 1));
  Stream stream;
  Hold hold(stream.get());
  ASSERT_OK(FillAsync(block, 2, stream.get()));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeDeviceWithTimeout(0));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeDeviceWithTimeout(5));
  {
    OtherContext other;
    DeviceBlock mine(Bytes(kSize, 1));
    ASSERT_OK(FillAsync(mine, 3, nullptr));
    EXPECT_OK(aclrtSynchronizeDevice()) << "from 9.0 on the current context alone";
    EXPECT_OK(aclrtSynchronizeDeviceWithTimeout(0));
    EXPECT_TRUE(Holds(mine, 3));
  }
  ASSERT_OK(aclrtSetDevice(1));
  EXPECT_OK(aclrtSynchronizeDevice());
  ASSERT_OK(aclrtSetDevice(0));
  hold.Release();
  EXPECT_OK(aclrtSynchronizeDevice());
  EXPECT_TRUE(Holds(block, 2));
}

// §2: the default stream is that of the context which is current in the calling thread.
TEST_F(StreamOrder, EachContextHasItsDefaultStream) {
  DeviceBlock block(Bytes(kSize, 1)), mine(Bytes(kSize, 1));
  Hold hold(nullptr);
  ASSERT_OK(FillAsync(block, 2, nullptr));
  {
    OtherContext other;
    ASSERT_OK(FillAsync(mine, 3, nullptr));
    EXPECT_OK(aclrtSynchronizeStream(nullptr));
    EXPECT_TRUE(Holds(mine, 3));
  }
  EXPECT_EQ(Pending(nullptr), 1u);
  EXPECT_EQ(OnThread(CurrentContext(), [&] { return FillAsync(block, 4, nullptr); }).get(), ACL_SUCCESS);
  EXPECT_EQ(Pending(nullptr), 2u) << "another thread in the same context";
  hold.Release();
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_TRUE(Holds(block, 4));
}

// §1.4
TEST_F(StreamOrder, ABlockedStreamBlocksNobody) {
  DeviceBlock block(Bytes(kSize, 1));
  Event event = FlagEvent();
  Stream blocked[8], free;
  for (Stream& stream : blocked) ASSERT_OK(aclrtStreamWaitEvent(stream.get(), event.get()));
  for (Stream& stream : blocked) UntilBlocked(stream.get());
  for (int value = 2; value < 6; ++value) {
    ASSERT_OK(FillAsync(block, value, free.get()));
    ASSERT_OK(aclrtSynchronizeStream(free.get()));
    ASSERT_TRUE(Holds(block, value));
  }
  ASSERT_OK(aclrtRecordEvent(event.get(), free.get()));
  for (Stream& stream : blocked) EXPECT_OK(aclrtSynchronizeStream(stream.get()));
}

// H5
TEST_F(StreamOrder, AWaitLastsUntilTheStreamIsDone) {
  DeviceBlock block(Bytes(kSize, 1));
  Stream stream;
  for (int round = 0; round < 20; ++round) {
    Hold hold(stream.get());
    ASSERT_OK(FillAsync(block, 2, stream.get()));
    std::future<aclError> waiter =
        OnThread(CurrentContext(), [&] { return aclrtSynchronizeStream(stream.get()); });
    EXPECT_NE(waiter.wait_for(std::chrono::seconds(0)), std::future_status::ready);
    hold.Release();
    ASSERT_EQ(waiter.get(), ACL_SUCCESS);
    ASSERT_EQ(Pending(stream.get()), 0u);
  }
}

}  // namespace
}  // namespace conformance
