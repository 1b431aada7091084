// SPEC 20 §3: aclrtStreamStop. On A2 and A3 it is for streams that the device drives; on 950, whose suite
// needs a product of that family, for every explicit stream.
#include "event_notify.h"
#include "steering.h"

namespace conformance {
namespace {

constexpr size_t kSize = 4096;

class StreamStop : public OnTwoDevices {
 protected:
  void SetUp() override {
    OnTwoDevices::SetUp();
    ASSERT_OK(aclrtCreateStreamWithConfig(&device_only_, 0, ACL_STREAM_DEVICE_USE_ONLY));
  }
  void TearDown() override {
    EXPECT_OK(aclrtDestroyStream(device_only_));
    OnTwoDevices::TearDown();
  }
  aclrtStream device_only_ = nullptr;
};

TEST_F(StreamStop, PausesAStreamOfTheDevice) {
  EXPECT_OK(aclrtSynchronizeStream(device_only_));
  EXPECT_OK(aclrtStreamStop(device_only_));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_ABORT, aclrtSynchronizeStream(device_only_));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_ABORT, aclrtSynchronizeStreamWithTimeout(device_only_, 60'000));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_ABORT, aclrtSynchronizeStream(device_only_)) << "until it is destroyed";
}

TEST_F(StreamStop, OtherStreamsAreRefused) {
  DeviceBlock block(Bytes(kSize, 1));
  Stream stream;
  Hold hold(stream.get());
  ASSERT_OK(FillAsync(block, 2, stream.get()));
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtStreamStop(stream.get()));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtStreamStop(nullptr));
  hold.Release();
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_TRUE(Holds(block, 2));
}

TEST_F(StreamStop, BadStreams) {
  for (aclrtStream dead : DeadStreams()) {
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtStreamStop(dead));
  }
  const auto foreign = [&] { EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtStreamStop(device_only_)); };
  InOtherContext(foreign);
  ASSERT_OK(aclrtSetDevice(1));
  foreign();
  ASSERT_OK(aclrtSetDevice(0));
  OnNewThread([&] { EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtStreamStop(device_only_)); });
  EXPECT_OK(aclrtSynchronizeStream(device_only_)) << "no refusal paused it";
}

class StreamStop950 : public OnDevice0 {
 protected:
  void SetUp() override {
    if (Variant() != "950") GTEST_SKIP() << "needs a product of the family 950";
    OnDevice0::SetUp();
  }
};

TEST_F(StreamStop950, QueuedTasksStayUntilTheAbort) {
  DeviceBlock block(Bytes(kSize, 1));
  Stream stream;
  Hold hold(stream.get());
  for (int value : {2, 3, 4}) ASSERT_OK(FillAsync(block, value, stream.get()));
  ASSERT_TRUE(hold.Land());
  EXPECT_OK(aclrtStreamStop(stream.get()));
  hold.Release();
  EXPECT_EQ(Pending(stream.get()), 2u);
  EXPECT_ACL(ACL_ERROR_RT_STREAM_ABORT, aclrtSynchronizeStream(stream.get()));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_ABORT, aclrtSynchronizeStreamWithTimeout(stream.get(), 60'000));
  EXPECT_OK(aclrtStreamAbort(stream.get()));
  EXPECT_EQ(Pending(stream.get()), 0u);
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_TRUE(Holds(block, 2)) << "the queued tasks were dropped";
  ASSERT_OK(FillAsync(block, 5, stream.get()));
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_TRUE(Holds(block, 5));
}

TEST_F(StreamStop950, APausedStreamCanBeDestroyed) {
  DeviceBlock block(Bytes(kSize, 1));
  Stream stream;
  Hold hold(stream.get());
  ASSERT_OK(FillAsync(block, 2, stream.get()));
  EXPECT_OK(aclrtStreamStop(stream.get()));
  hold.Release();
  EXPECT_OK(aclrtDestroyStreamForce(stream.release()));
  EXPECT_TRUE(Holds(block, 1));
}

TEST_F(StreamStop950, TheDefaultStreamIsRefused) {
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtStreamStop(nullptr));
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtStreamAbort(nullptr));
}

}  // namespace
}  // namespace conformance
