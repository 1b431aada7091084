// SPEC 20 §2, §3: streams and the default stream.
#include <set>

#include "support.h"

namespace conformance {
namespace {

constexpr size_t kSize = 4096;

class StreamBasic : public OnTwoDevices {};

TEST_F(StreamBasic, CreationNeedsARoomAndADevice) {
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCreateStream(nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCreateStreamWithConfig(nullptr, 0, 0));
  OnNewThread([] {
    aclrtStream stream = UntouchedPointer();
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtCreateStream(&stream));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtCreateStreamWithConfig(&stream, 0, 0));
    EXPECT_EQ(stream, UntouchedPointer());
  });
}

TEST_F(StreamBasic, HandlesAreNeverReused) {
  std::set<aclrtStream> seen;
  for (int i = 0; i < 300; ++i) {
    aclrtStream stream = nullptr;
    ASSERT_OK(aclrtCreateStream(&stream));
    EXPECT_NE(stream, nullptr);
    EXPECT_TRUE(seen.insert(stream).second) << "handle of round " << i;
    ASSERT_OK(aclrtDestroyStream(stream));
  }
}

TEST_F(StreamBasic, DestroyedAndGarbageHandles) {
  Stream live;
  aclrtStream dead = live.release();
  ASSERT_OK(aclrtDestroyStream(dead));
  int32_t id = -7;
  uint32_t value = 77;
  aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
  for (aclrtStream handle : {dead, UntouchedPointer()}) {
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyStream(handle));
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(handle));
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStreamWithTimeout(handle, 10));
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtStreamQuery(handle, &status));
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtStreamGetId(handle, &id));
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtStreamGetPriority(handle, &value));
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtStreamGetFlags(handle, &value));
  }
  EXPECT_EQ(id, -7);
  EXPECT_EQ(value, 77u);
  EXPECT_EQ(status, ACL_STREAM_STATUS_RESERVED);
}

TEST_F(StreamBasic, DefaultStreamCannotBeDestroyed) {
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtDestroyStream(nullptr));
  aclrtStream handle = nullptr;
  ASSERT_OK(aclrtCtxGetCurrentDefaultStream(&handle));
  ASSERT_NE(handle, nullptr);
  EXPECT_NE(aclrtDestroyStream(handle), ACL_SUCCESS);
  EXPECT_OK(aclrtSynchronizeStream(handle));
}

TEST_F(StreamBasic, NullMeansTheDefaultStream) {
  aclrtStream handle = nullptr;
  ASSERT_OK(aclrtCtxGetCurrentDefaultStream(&handle));
  PinnedBlock in(Pattern(kSize, 1)), out(kSize);
  DeviceBlock block(kSize);
  ASSERT_OK(aclrtMemcpyAsync(block.get(), kSize, in.get(), kSize, ACL_MEMCPY_HOST_TO_DEVICE, nullptr));
  ASSERT_OK(aclrtMemcpyAsync(out.get(), kSize, block.get(), kSize, ACL_MEMCPY_DEVICE_TO_HOST, handle));
  ASSERT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_EQ(out.Read(), Pattern(kSize, 1));
  int32_t by_null = -1, by_handle = -2;
  EXPECT_OK(aclrtStreamGetId(nullptr, &by_null));
  EXPECT_OK(aclrtStreamGetId(handle, &by_handle));
  EXPECT_EQ(by_null, by_handle);
  uint32_t flags = 77, priority = 77;
  EXPECT_OK(aclrtStreamGetFlags(nullptr, &flags));
  EXPECT_OK(aclrtStreamGetPriority(nullptr, &priority));
  EXPECT_EQ(flags, 0u);
  EXPECT_EQ(priority, 0u);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCtxGetCurrentDefaultStream(nullptr));
}

TEST_F(StreamBasic, ForeignStreams) {
  Stream stream;
  int32_t id = -1;
  uint32_t value = 0;
  aclrtStreamStatus status;
  const auto foreign = [&] {
    EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtDestroyStream(stream.get()));
    EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtSynchronizeStream(stream.get()));
    EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtSynchronizeStreamWithTimeout(stream.get(), 10));
    EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtStreamQuery(stream.get(), &status));
    EXPECT_OK(aclrtStreamGetId(stream.get(), &id)) << "reading is allowed from any context";
    EXPECT_OK(aclrtStreamGetPriority(stream.get(), &value));
    EXPECT_OK(aclrtStreamGetFlags(stream.get(), &value));
  };
  ASSERT_OK(aclrtSetDevice(1));
  foreign();
  aclrtContext context = nullptr;
  ASSERT_OK(aclrtCreateContext(&context, 0));
  foreign();
  ASSERT_OK(aclrtDestroyContext(context));
  ASSERT_OK(aclrtSetDevice(0));
}

TEST_F(StreamBasic, EveryStreamCallNeedsADevice) {
  Stream stream;
  OnNewThread([&] {
    int32_t id = -1;
    uint32_t value = 0;
    aclrtStreamStatus status;
    aclrtStream handle = nullptr;
    for (aclrtStream s : {stream.get(), aclrtStream{nullptr}}) {
      EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtSynchronizeStream(s));
      EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtSynchronizeStreamWithTimeout(s, 10));
      EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtStreamQuery(s, &status));
      EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtStreamGetId(s, &id));
      EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtStreamGetPriority(s, &value));
      EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtStreamGetFlags(s, &value));
    }
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtDestroyStream(stream.get()));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetStreamAvailableNum(&value));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtCtxGetCurrentDefaultStream(&handle));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtSynchronizeDevice());
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtSynchronizeDeviceWithTimeout(10));
  });
}

TEST_F(StreamBasic, NullOutputsAndBadLimits) {
  Stream stream;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtStreamQuery(stream.get(), nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtStreamGetId(stream.get(), nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtStreamGetPriority(stream.get(), nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtStreamGetFlags(stream.get(), nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetStreamAvailableNum(nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtSynchronizeStreamWithTimeout(stream.get(), -2));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtSynchronizeDeviceWithTimeout(-2));
}

TEST_F(StreamBasic, IdleStreamIsComplete) {
  Stream stream;
  for (aclrtStream s : {stream.get(), aclrtStream{nullptr}}) {
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    EXPECT_OK(aclrtStreamQuery(s, &status));
    EXPECT_EQ(status, ACL_STREAM_STATUS_COMPLETE);
    EXPECT_OK(aclrtSynchronizeStream(s));
    for (int limit : {-1, 0, 1000}) EXPECT_OK(aclrtSynchronizeStreamWithTimeout(s, limit)) << limit;
  }
  for (int limit : {-1, 0, 1000}) EXPECT_OK(aclrtSynchronizeDeviceWithTimeout(limit)) << limit;
  EXPECT_OK(aclrtSynchronizeDevice());
}

TEST_F(StreamBasic, QueriesEventuallySeeTheEnd) {
  Stream stream;
  const size_t size = 4 * kMiB;
  PinnedBlock in(Pattern(size, 2));
  DeviceBlock block(size);
  for (int i = 0; i < 4; ++i) {
    ASSERT_OK(aclrtMemcpyAsync(block.get(), size, in.get(), size, ACL_MEMCPY_HOST_TO_DEVICE, stream.get()));
  }
  aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
  for (int i = 0; i < 10'000'000 && status != ACL_STREAM_STATUS_COMPLETE; ++i) {
    ASSERT_OK(aclrtStreamQuery(stream.get(), &status));
    std::this_thread::yield();
  }
  ASSERT_EQ(status, ACL_STREAM_STATUS_COMPLETE);
  EXPECT_TRUE(block.Read() == Pattern(size, 2));
}

TEST_F(StreamBasic, PollingALimitOfZero) {
  Stream stream;
  const size_t size = 32 * kMiB;
  PinnedBlock in(Pattern(size, 3));
  DeviceBlock block(size);
  for (int round = 0; round < 2; ++round) {
    ASSERT_OK(aclrtMemcpyAsync(block.get(), size, in.get(), size, ACL_MEMCPY_HOST_TO_DEVICE, stream.get()));
    aclrtGetLastError(ACL_RT_THREAD_LEVEL);
    const aclError code = round == 0 ? aclrtSynchronizeStreamWithTimeout(stream.get(), 0)
                                     : aclrtSynchronizeDeviceWithTimeout(0);
    EXPECT_TRUE(code == ACL_SUCCESS || code == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) << code;
    EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS)
        << "an expired poll is no error to remember";
    EXPECT_OK(aclrtSynchronizeStreamWithTimeout(stream.get(), 60'000)) << "the stream goes on";
  }
  EXPECT_TRUE(block.Read() == Pattern(size, 3));
}

TEST_F(StreamBasic, DestroyWaitsForTheTasks) {
  for (size_t size : {kSize, 2 * kMiB}) {
    Stream stream;
    PinnedBlock in(Pattern(size, 4)), out(size);
    DeviceBlock block(size);
    ASSERT_OK(aclrtMemcpyAsync(block.get(), size, in.get(), size, ACL_MEMCPY_HOST_TO_DEVICE, stream.get()));
    ASSERT_OK(aclrtMemcpyAsync(out.get(), size, block.get(), size, ACL_MEMCPY_DEVICE_TO_HOST, stream.get()));
    ASSERT_OK(aclrtDestroyStream(stream.release()));
    EXPECT_TRUE(out.Read() == Pattern(size, 4));
  }
}

TEST_F(StreamBasic, FlagsAndPriority) {
  const auto made = [](uint32_t priority, uint32_t flag, uint32_t want_flags) {
    aclrtStream stream = nullptr;
    ASSERT_OK(aclrtCreateStreamWithConfig(&stream, priority, flag)) << priority << " " << flag;
    uint32_t got_priority = 77, got_flags = 77;
    EXPECT_OK(aclrtStreamGetPriority(stream, &got_priority));
    EXPECT_OK(aclrtStreamGetFlags(stream, &got_flags));
    EXPECT_EQ(got_priority, 0u) << "reserved on this product, so stored as 0";
    EXPECT_EQ(got_flags, want_flags);
    EXPECT_OK(aclrtSynchronizeStream(stream));
    EXPECT_OK(aclrtDestroyStream(stream));
  };
  made(0, 0, 0);
  made(7, 0, 0);
  made(1000, 0, 0);
  for (uint32_t flag :
       {ACL_STREAM_FAST_LAUNCH, ACL_STREAM_FAST_SYNC, ACL_STREAM_HUGE, ACL_STREAM_CPU_SCHEDULE}) {
    made(0, flag, flag);
  }
  made(0, ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC, ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC);
  aclrtStream stream = nullptr;
  ASSERT_OK(aclrtCreateStreamWithConfig(&stream, 0, 0x4000)) << "unknown bits are ignored";
  EXPECT_OK(aclrtDestroyStream(stream));
}

TEST_F(StreamBasic, PersistentStreams) {
  aclrtStream stream = nullptr;
  SKIP_UNLESS_BUILT(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_PERSISTENT));
  EXPECT_OK(aclrtSynchronizeStream(stream)) << "nothing is queued for execution";
  EXPECT_OK(aclrtDestroyStream(stream));
}

TEST_F(StreamBasic, DeviceOnlyStreams) {
  aclrtStream stream = UntouchedPointer();
  SKIP_UNLESS_BUILT(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_DEVICE_USE_ONLY));
  const uint32_t both = ACL_STREAM_DEVICE_USE_ONLY | ACL_STREAM_FAST_SYNC;
  aclrtStream none = UntouchedPointer();
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCreateStreamWithConfig(&none, 0, both));
  EXPECT_EQ(none, UntouchedPointer());
  DeviceBlock block(Pattern(64, 5));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtMemsetAsync(block.get(), 64, 0, 64, stream));
  EXPECT_OK(aclrtDestroyStream(stream));
  EXPECT_EQ(block.Read(), Pattern(64, 5));
}

TEST_F(StreamBasic, IdsCountUpAndAreReused) {
  Stream a, b, c;
  int32_t ids[4] = {-1, -1, -1, -1};
  ASSERT_OK(aclrtStreamGetId(nullptr, &ids[0]));
  ASSERT_OK(aclrtStreamGetId(a.get(), &ids[1]));
  ASSERT_OK(aclrtStreamGetId(b.get(), &ids[2]));
  ASSERT_OK(aclrtStreamGetId(c.get(), &ids[3]));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(ids[i], i);
  ASSERT_OK(aclrtDestroyStream(b.release()));
  Stream again;
  int32_t id = -1;
  ASSERT_OK(aclrtStreamGetId(again.get(), &id));
  EXPECT_EQ(id, 2) << "the lowest free number";
}

TEST_F(StreamBasic, RunsOutAtTheDocumentedNumber) {
  uint32_t left = 0;
  ASSERT_OK(aclrtGetStreamAvailableNum(&left));
  EXPECT_EQ(left, 1984u - 1) << "the default stream counts";
  std::vector<aclrtStream> streams(left);
  for (aclrtStream& stream : streams) ASSERT_OK(aclrtCreateStream(&stream));
  ASSERT_OK(aclrtGetStreamAvailableNum(&left));
  EXPECT_EQ(left, 0u);
  aclrtStream extra = UntouchedPointer();
  EXPECT_ACL(ACL_ERROR_RT_NO_STREAM_RESOURCE, aclrtCreateStream(&extra));
  EXPECT_ACL(ACL_ERROR_RT_NO_STREAM_RESOURCE, aclrtCreateStreamWithConfig(&extra, 0, 0));
  EXPECT_EQ(extra, UntouchedPointer());
  aclrtContext context = UntouchedPointer();
  EXPECT_ACL(ACL_ERROR_RT_NO_STREAM_RESOURCE, aclrtCreateContext(&context, 0))
      << "it would bring a default stream";
  EXPECT_EQ(context, UntouchedPointer());
  ASSERT_OK(aclrtSetDevice(1));
  ASSERT_OK(aclrtGetStreamAvailableNum(&left));
  EXPECT_EQ(left, 1984u - 1) << "each device has its own";
  ASSERT_OK(aclrtSetDevice(0));
  for (aclrtStream stream : streams) ASSERT_OK(aclrtDestroyStream(stream));
  EXPECT_OK(aclrtCreateStream(&extra));
  EXPECT_OK(aclrtDestroyStream(extra));
}

TEST_F(StreamBasic, ThreadsShareTheStreamsOfAContext) {
  Stream stream;
  aclrtContext context = nullptr;
  ASSERT_OK(aclrtGetCurrentContext(&context));
  PinnedBlock in(Pattern(kSize, 6));
  DeviceBlock block(kSize);
  OnNewThread([&] {
    ASSERT_OK(aclrtSetCurrentContext(context));
    ASSERT_OK(aclrtMemcpyAsync(block.get(), kSize, in.get(), kSize, ACL_MEMCPY_HOST_TO_DEVICE, stream.get()));
  });
  ASSERT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_EQ(block.Read(), Pattern(kSize, 6));
}

}  // namespace
}  // namespace conformance
