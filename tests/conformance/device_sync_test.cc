// SPEC 21 §1, 20 §1.1 H6: waiting for a device.
#include "threads.h"

namespace conformance {
namespace {

constexpr size_t kSize = 256;

using Wait = aclError (*)();
aclError WithLimit() {
  return aclrtSynchronizeDeviceWithTimeout(60'000);
}
aclError Forever() {
  return aclrtSynchronizeDeviceWithTimeout(-1);
}

class DeviceSync : public OnTwoDevices, public testing::WithParamInterface<Wait> {
 protected:
  static void Set(const DeviceBlock& block, int value, aclrtStream stream) {
    ASSERT_OK(aclrtMemsetAsync(block.get(), kSize, value, kSize, stream));
  }
  static Bytes Filled(int value) { return Bytes(kSize, static_cast<uint8_t>(value)); }
};

INSTANTIATE_TEST_SUITE_P(Calls, DeviceSync, testing::Values(&aclrtSynchronizeDevice, &WithLimit, &Forever));

TEST_P(DeviceSync, NeedsAContext) {
  OnNewThread([] { EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, GetParam()()); });
}

TEST_P(DeviceSync, WaitsForEveryStreamOfTheContext) {
  Stream a, b;
  DeviceBlock blocks[3] = {DeviceBlock(Filled(1)), DeviceBlock(Filled(1)), DeviceBlock(Filled(1))};
  const aclrtStream streams[3] = {a.get(), b.get(), nullptr};
  const aclrtContext context = CurrentContext();
  for (int which = 0; which < 3; ++which) {
    Hold held(streams[which]);
    for (int i = 0; i < 3; ++i) Set(blocks[i], 10 + which, streams[i]);
    BlockedCall call(context, [] { return GetParam()(); });
    EXPECT_FALSE(call.returned()) << which;
    EXPECT_TRUE(held.Land());
    EXPECT_OK(call.Join());
    for (const DeviceBlock& block : blocks) EXPECT_EQ(block.Read(), Filled(10 + which));
  }
}

TEST_P(DeviceSync, OtherContextsCountInOlderVersionsOnly) {
  const aclrtContext mine = CurrentContext();
  aclrtContext context = nullptr;
  ASSERT_OK(aclrtCreateContext(&context, 0));
  DeviceBlock block(Filled(1));
  {
    Hold held(nullptr);
    Set(block, 2, nullptr);
    ASSERT_OK(aclrtSetCurrentContext(mine));
    if (Cann() >= "9.0") {
      EXPECT_OK(GetParam()());
    } else {
      BlockedCall call(mine, [] { return GetParam()(); });
      EXPECT_FALSE(call.returned());
      ASSERT_OK(aclrtSetCurrentContext(context));
      EXPECT_TRUE(held.Land());
      EXPECT_OK(call.Join());
    }
    ASSERT_OK(aclrtSetDevice(1));
    EXPECT_OK(GetParam()()) << "another device";
    ASSERT_OK(aclrtSetCurrentContext(context));
  }
  EXPECT_OK(GetParam()());
  EXPECT_EQ(block.Read(), Filled(2));
  EXPECT_OK(aclrtDestroyContext(context));
  ASSERT_OK(aclrtSetCurrentContext(mine));
}

TEST_P(DeviceSync, TellsTheFailureThatHappenedFirst) {
  DeviceBlock block(Filled(1)), other(Filled(1));
  Stream a, b;
  for (int round = 0; round < 2; ++round) {
    Hold first(a.get()), second(b.get());
    FailNext(a.get(), ACL_ERROR_RT_AICORE_EXCEPTION);
    Set(block, 2, a.get());
    FailNext(b.get(), ACL_ERROR_RT_VECTOR_CORE_TIMEOUT);
    Set(other, 2, b.get());
    Hold& earlier = round == 0 ? second : first;
    Hold& later = round == 0 ? first : second;
    EXPECT_TRUE(earlier.Land());
    EXPECT_TRUE(later.Land());
    EXPECT_ACL(round == 0 ? ACL_ERROR_RT_VECTOR_CORE_TIMEOUT : ACL_ERROR_RT_AICORE_EXCEPTION, GetParam()());
    GetParam()();  // whether the other stream's failure is reported now is not specified
    aclrtSynchronizeStream(a.get());
    aclrtSynchronizeStream(b.get());
  }
}

TEST_P(DeviceSync, AbortedStream) {
  Stream stream;
  DeviceBlock block(Filled(1));
  SKIP_UNLESS_BUILT(aclrtStreamAbort(stream.get()));
  Hold held(stream.get());
  Set(block, 2, stream.get());
  BlockedCall call(CurrentContext(), [] { return GetParam()(); });
  EXPECT_FALSE(call.returned());
  EXPECT_OK(aclrtStreamAbort(stream.get()));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_ABORT, call.Join());
  held.Release();
  EXPECT_OK(GetParam()()) << "after the abort";
  EXPECT_EQ(block.Read(), Filled(1));
}

class DeviceSyncTimeout : public OnTwoDevices {};

TEST_F(DeviceSyncTimeout, Expires) {
  DeviceBlock block(Bytes(kSize, 1));
  Stream stream;
  Hold held(stream.get());
  ASSERT_OK(aclrtMemsetAsync(block.get(), kSize, 2, kSize, stream.get()));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeDeviceWithTimeout(1));
  EXPECT_EQ(Take(), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_NE(Message(), "");
  EXPECT_EQ(aclrtSynchronizeDeviceWithTimeout(0), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_EQ(Peek(), ACL_SUCCESS) << "a poll stores nothing";
  EXPECT_EQ(Message(), "");
  for (int limit : {-2, INT32_MIN}) {
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtSynchronizeDeviceWithTimeout(limit)) << limit;
  }
  held.Release();
  EXPECT_OK(aclrtSynchronizeDeviceWithTimeout(-1)) << "the device goes on";
  EXPECT_EQ(block.Read(), Bytes(kSize, 2));
}

}  // namespace
}  // namespace conformance
