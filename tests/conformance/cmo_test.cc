// SPEC 34 §4: cache operations in streams.
#include "event_notify.h"
#include "steering.h"

namespace conformance {
namespace {

constexpr size_t kSize = 4096;
constexpr aclError kFault = ACL_ERROR_RT_AICORE_EXCEPTION;

aclrtCmoType Type(int value) {
  return static_cast<aclrtCmoType>(value);
}
aclError Prefetch(const DeviceBlock& block, aclrtStream stream) {
  return aclrtCmoAsync(block.get(), block.size(), ACL_RT_CMO_TYPE_PREFETCH, stream);
}

class Cmo : public OnTwoDevices {};

TEST_F(Cmo, BadArguments) {
  DeviceBlock block(kSize);
  Stream stream;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCmoAsync(nullptr, kSize, ACL_RT_CMO_TYPE_PREFETCH, stream.get()));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCmoAsync(block.get(), 0, ACL_RT_CMO_TYPE_PREFETCH, stream.get()));
  for (int type : {-1, 4, 99}) {
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCmoAsync(block.get(), kSize, Type(type), stream.get())) << type;
  }
  for (int type : {1, 2, 3}) {
    EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtCmoAsync(block.get(), kSize, Type(type), stream.get()));
    EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtCmoAsync(block.get(), 0, Type(type), stream.get()))
        << "before the size";
  }
  OnNewThread([&] { EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, Prefetch(block, nullptr)); });
  for (aclrtStream dead : DeadStreams()) {
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, Prefetch(block, dead));
  }
  InOtherContext([&] { EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, Prefetch(block, stream.get())); });
  EXPECT_EQ(Pending(stream.get()), 0u);
}

TEST_F(Cmo, RangesLieInABlockOfTheDevice) {
  DeviceBlock block(kSize);
  PinnedBlock pinned(kSize);
  Bytes heap(kSize);
  Stream stream;
  auto refused = [&](void* src, size_t size) {
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtCmoAsync(src, size, ACL_RT_CMO_TYPE_PREFETCH, stream.get()));
  };
  refused(block.get(), kSize + 1);
  refused(block.at(1), kSize);
  refused(block.get(), SIZE_MAX);
  refused(pinned.get(), kSize);
  refused(heap.data(), kSize);
  refused(FreedDeviceAddress(), 1);
  EXPECT_OK(aclrtCmoAsync(block.at(kSize - 1), 1, ACL_RT_CMO_TYPE_PREFETCH, stream.get()));
  ASSERT_OK(aclrtSetDevice(1));
  {
    DeviceBlock there(kSize);
    ASSERT_OK(aclrtDeviceEnablePeerAccess(0, 0));
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Prefetch(block, nullptr)) << "of the stream's device, peer or not";
    EXPECT_OK(Prefetch(there, nullptr));
    EXPECT_OK(aclrtSynchronizeStream(nullptr));
    ASSERT_OK(aclrtDeviceDisablePeerAccess(0));
  }
  ASSERT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
}

TEST_F(Cmo, IsATaskWithoutEffect) {
  DeviceBlock block(Pattern(kSize, 1));
  Stream stream;
  Event event = PlainEvent();
  {
    Hold held(stream.get());
    ASSERT_OK(FillAsync(block, 5, stream.get()));
    ASSERT_OK(Prefetch(block, stream.get()));
    ASSERT_OK(aclrtRecordEvent(event.get(), stream.get()));
    EXPECT_EQ(held.Pending(), 3u) << "it stands in the queue";
    EXPECT_TRUE(held.Land());
    EXPECT_TRUE(held.Land());
    EXPECT_EQ(held.Pending(), 1u) << "the event comes after it";
  }
  EXPECT_OK(aclrtSynchronizeEvent(event.get()));
  EXPECT_TRUE(Holds(block, 5));
  EXPECT_OK(Prefetch(block, nullptr)) << "the default stream";
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_TRUE(Holds(block, 5));
}

TEST_F(Cmo, FailsLikeOtherTasks) {
  DeviceBlock block(kSize);
  Stream stream;
  FailNext(stream.get(), kFault);
  ASSERT_OK(Prefetch(block, stream.get()));
  EXPECT_ACL(kFault, aclrtSynchronizeStream(stream.get()));
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
}

TEST_F(Cmo, KeepsItsMemoryApart) {
  DeviceBlock block(kSize);
  Stream stream;
  {
    Hold held(stream.get());
    ASSERT_OK(Prefetch(block, stream.get()));
    void* address = block.get();
    ASSERT_OK(aclrtFree(block.release()));
    DeviceBlock next(kSize);
    EXPECT_NE(next.get(), address) << "a task still names it";
    EXPECT_TRUE(held.Land());
  }
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
}

TEST_F(Cmo, BarriersAreForTheBoard) {
  DeviceBlock block(kSize);
  aclrtBarrierTaskInfo info;
  std::memset(&info, 0, sizeof(info));
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
             aclrtCmoAsyncWithBarrier(block.get(), kSize, ACL_RT_CMO_TYPE_INVALID, 1, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtCmoWaitBarrier(&info, nullptr, 1));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
             aclrtCmoAsyncWithBarrier(nullptr, kSize, ACL_RT_CMO_TYPE_INVALID, 1, nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCmoWaitBarrier(nullptr, nullptr, 0));
}

class CmoStopped : public OnDevice0 {
 protected:
  // The context, by a task that fails.
  static void Stop(const DeviceBlock& block, aclrtStream stream) {
    ASSERT_OK(aclrtSetStreamFailureMode(stream, 1));
    FailNext(stream, kFault);
    ASSERT_OK(FillAsync(block, 1, stream));
    ASSERT_ACL(kFault, aclrtSynchronizeStream(stream));
  }
};

TEST_F(CmoStopped, TellsTheFailure) {
  DeviceBlock block(kSize);
  Stream stream;
  Stop(block, stream.get());
  for (aclrtStream s : {stream.get(), aclrtStream{nullptr}}) EXPECT_ACL(kFault, Prefetch(block, s));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCmoAsync(block.get(), 0, ACL_RT_CMO_TYPE_PREFETCH, stream.get()));
}

// On 200I, the only family with barriers.
class CmoBarrier : public CmoStopped {
 protected:
  void SetUp() override {
    if (Variant() != "200I" || Cann() < "8.5")
      GTEST_SKIP() << "needs a product of the family 200I, from 8.3 on";
    OnDevice0::SetUp();
  }
  static aclError Go(const DeviceBlock& block, aclrtStream stream, int type = ACL_RT_CMO_TYPE_INVALID,
                     uint32_t barrier = 1) {
    return aclrtCmoAsyncWithBarrier(block.get(), block.size(), Type(type), barrier, stream);
  }
  static aclError Wait(aclrtStream stream, size_t count = 1, int type = ACL_RT_CMO_TYPE_INVALID,
                       uint32_t flag = 0) {
    aclrtBarrierTaskInfo info;
    std::memset(&info, 0, sizeof(info));
    info.barrierNum = count;
    for (auto& entry : info.cmoInfo) entry = {ACL_RT_CMO_TYPE_INVALID, 1};
    info.cmoInfo[0].cmoType = Type(type);
    return aclrtCmoWaitBarrier(&info, stream, flag);
  }
};

TEST_F(CmoBarrier, BadArguments) {
  DeviceBlock block(kSize);
  Stream stream;
  for (int type : {-1, 4}) EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Go(block, stream.get(), type, 0)) << type;
  for (int type : {0, 1, 3}) EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Go(block, stream.get(), type, 1)) << type;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
             aclrtCmoAsyncWithBarrier(block.get(), 0, ACL_RT_CMO_TYPE_INVALID, 1, stream.get()));
  for (size_t count : {size_t{0}, size_t{7}, SIZE_MAX}) {
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Wait(stream.get(), count)) << count;
  }
  for (int type : {0, 1, 3, 4}) EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Wait(stream.get(), 6, type)) << type;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Wait(stream.get(), 1, ACL_RT_CMO_TYPE_INVALID, 1));
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, Go(block, nullptr));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, Wait(nullptr));
  });
  for (aclrtStream dead : DeadStreams()) {
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, Go(block, dead));
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, Wait(dead));
  }
  InOtherContext([&] {
    EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, Go(block, stream.get()));
    EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, Wait(stream.get()));
  });
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtCmoAsyncWithBarrier(block.get(), kSize + 1, ACL_RT_CMO_TYPE_INVALID, 1, stream.get()));
}

TEST_F(CmoBarrier, StreamsBelongToNoModel) {
  DeviceBlock block(kSize);
  Stream stream;
  for (aclrtStream s : {stream.get(), aclrtStream{nullptr}}) {
    EXPECT_ACL(ACL_ERROR_RT_STREAM_MODEL, Go(block, s));
    for (int type = 0; type < 4; ++type) EXPECT_ACL(ACL_ERROR_RT_STREAM_MODEL, Go(block, s, type, 0)) << type;
    EXPECT_ACL(ACL_ERROR_RT_STREAM_MODEL, Wait(s));
    EXPECT_ACL(ACL_ERROR_RT_STREAM_MODEL, Wait(s, 6));
    EXPECT_EQ(Pending(s), 0u);
  }
}

TEST_F(CmoBarrier, StoppedContextsTellTheFailure) {
  DeviceBlock block(kSize);
  Stream stream;
  Stop(block, stream.get());
  EXPECT_ACL(kFault, Go(block, stream.get()));
  EXPECT_ACL(kFault, Wait(stream.get()));
}

}  // namespace
}  // namespace conformance
