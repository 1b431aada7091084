// SPEC 31 §0.2–§0.5, §1.2, §1.3: the asynchronous copy and its alias.
#include "support.h"

namespace conformance {
namespace {

constexpr size_t kSize = 8 * kKiB;

aclrtMemcpyKind Kind(int value) {
  return static_cast<aclrtMemcpyKind>(value);
}

using Copy = aclError (*)(void*, size_t, const void*, size_t, aclrtMemcpyKind, aclrtStream);

class MemcpyAsync : public OnTwoDevices, public testing::WithParamInterface<Copy> {
 protected:
  static aclError Go(void* to, const void* from, size_t count, int kind, aclrtStream stream) {
    return GetParam()(to, count, from, count, Kind(kind), stream);
  }
};

INSTANTIATE_TEST_SUITE_P(Both, MemcpyAsync,
                         testing::Values(&aclrtMemcpyAsync, &aclrtMemcpyAsyncWithCondition));

TEST_P(MemcpyAsync, KindMustFitTheAddresses) {
  enum Place { kHost, kDevice };
  const aclError wrong = ACL_ERROR_RT_PARAM_INVALID, none = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  struct Row {
    Place from, to;
    aclError code[8];
  };
  const Row rows[] = {
      {kHost, kHost, {none, wrong, wrong, wrong, none, wrong, wrong, wrong}},
      {kHost, kDevice, {none, 0, wrong, wrong, 0, 0, wrong, wrong}},
      {kDevice, kHost, {none, wrong, 0, wrong, 0, wrong, wrong, wrong}},
      {kDevice, kDevice, {none, wrong, wrong, 0, 0, wrong, 0, wrong}},  // kind 7 wants two devices
  };
  Stream stream;
  for (const Row& row : rows) {
    for (int kind = 0; kind < 8; ++kind) {
      DeviceBlock device_from(Pattern(kSize, 1)), device_to(Pattern(kSize, 2));
      PinnedBlock host_from(Pattern(kSize, 1)), host_to(Pattern(kSize, 2));
      const void* from = row.from == kHost ? static_cast<void*>(host_from.get()) : device_from.get();
      void* to = row.to == kHost ? static_cast<void*>(host_to.get()) : device_to.get();
      EXPECT_ACL(row.code[kind], Go(to, from, kSize, kind, stream.get()))
          << row.from << row.to << " kind " << kind;
      ASSERT_OK(aclrtSynchronizeStream(stream.get()));
      const Bytes got = row.to == kHost ? host_to.Read() : device_to.Read();
      EXPECT_EQ(got, Pattern(kSize, row.code[kind] == 0 ? 1 : 2)) << row.from << row.to << " kind " << kind;
    }
  }
}

TEST_P(MemcpyAsync, BadArgumentsMoveNothing) {
  DeviceBlock block(Pattern(kSize, 1));
  PinnedBlock host(Pattern(kSize, 2));
  Stream stream;
  for (size_t count : {size_t{0}, size_t{64}}) {
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Go(nullptr, host.get(), count, 1, stream.get()));
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Go(block.get(), nullptr, count, 1, stream.get()));
  }
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Go(nullptr, host.get(), 64, 0, stream.get())) << "null before kind";
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Go(block.get(), host.get(), 64, 8, stream.get()));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Go(block.get(), host.get(), 64, -1, stream.get()));
  const auto h2d = ACL_MEMCPY_HOST_TO_DEVICE;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, GetParam()(block.get(), 63, host.get(), 64, h2d, stream.get()));
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
             GetParam()(block.get(), 63, host.get(), 64, ACL_MEMCPY_HOST_TO_HOST, stream.get()))
      << "what the profile lacks comes before sizes";
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Go(block.at(64), host.get(), kSize, 1, stream.get()));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Go(host.get(), block.at(64), kSize, 2, stream.get()));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Go(FreedDeviceAddress(), host.get(), 64, 1, stream.get()));
  ASSERT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_EQ(block.Read(), Pattern(kSize, 1));
  EXPECT_EQ(host.Read(), Pattern(kSize, 2));
}

TEST_P(MemcpyAsync, NothingIsASuccess) {
  DeviceBlock block(Pattern(64, 1));
  PinnedBlock host(64);
  EXPECT_OK(Go(block.get(), host.get(), 0, 1, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_EQ(block.Read(), Pattern(64, 1));
}

TEST_P(MemcpyAsync, StreamMustBelongToTheCurrentContext) {
  DeviceBlock block(Pattern(kSize, 1));
  PinnedBlock host(Pattern(kSize, 2));
  Stream stream;
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, Go(block.get(), host.get(), 64, 1, nullptr));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, Go(block.get(), host.get(), 64, 1, stream.get()));
  });
  ASSERT_OK(aclrtSetDevice(1));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, Go(block.get(), host.get(), 64, 1, stream.get()))
      << "another device";
  EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, Go(block.get(), host.get(), 0, 1, stream.get()))
      << "with nothing to copy";
  aclrtContext context = nullptr;
  ASSERT_OK(aclrtCreateContext(&context, 0));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, Go(block.get(), host.get(), 64, 1, stream.get()))
      << "another context";
  ASSERT_OK(aclrtDestroyContext(context));
  ASSERT_OK(aclrtSetDevice(0));
  ASSERT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_EQ(block.Read(), Pattern(kSize, 1));
}

TEST_P(MemcpyAsync, DeadStreamIsABadHandle) {
  DeviceBlock block(Pattern(kSize, 1));
  PinnedBlock host(Pattern(kSize, 2));
  Stream stream;
  aclrtStream dead = stream.release();
  ASSERT_OK(aclrtDestroyStream(dead));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, Go(block.get(), host.get(), 64, 1, dead));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, Go(block.get(), host.get(), 64, 1, UntouchedPointer()));
  EXPECT_EQ(block.Read(), Pattern(kSize, 1));
}

TEST_P(MemcpyAsync, OneStreamKeepsItsOrder) {
  for (size_t size : {size_t{64}, 100 * kKiB, kMiB}) {
    Stream stream;
    PinnedBlock in(Pattern(size, 3)), out(size);
    DeviceBlock a(size), b(size), c(size);
    ASSERT_OK(Go(a.get(), in.get(), size, 1, stream.get()));
    ASSERT_OK(Go(b.get(), a.get(), size, 3, stream.get()));
    ASSERT_OK(Go(c.get(), b.get(), size, 6, stream.get()));
    ASSERT_OK(Go(out.get(), c.get(), size, 2, stream.get()));
    ASSERT_OK(aclrtSynchronizeStream(stream.get()));
    EXPECT_TRUE(out.Read() == Pattern(size, 3));
  }
}

TEST_P(MemcpyAsync, LastOfManyWins) {
  constexpr int kCopies = 1000;
  Stream stream;
  PinnedBlock in(kCopies * 4), out(4);
  DeviceBlock cell(4);
  for (int i = 0; i < kCopies; ++i) {
    std::memcpy(in.at(4 * i), &i, 4);
    ASSERT_OK(Go(cell.get(), in.at(4 * i), 4, 1, stream.get()));
  }
  ASSERT_OK(Go(out.get(), cell.get(), 4, 2, stream.get()));
  ASSERT_OK(aclrtSynchronizeStream(stream.get()));
  int last = -1;
  std::memcpy(&last, out.get(), 4);
  EXPECT_EQ(last, kCopies - 1);
}

TEST_P(MemcpyAsync, PageableMemoryIsDoneAtReturn) {
  // The copy is queued in stream order and the call waits for it, so everything before it is done too.
  for (size_t size : {size_t{1000}, 2 * kMiB}) {
    Stream stream;
    PinnedBlock early(size);
    DeviceBlock block(Pattern(size, 4)), other(Pattern(size, 5));
    Bytes host(size);
    ASSERT_OK(Go(early.get(), other.get(), size, 2, stream.get()));
    ASSERT_OK(Go(host.data(), block.get(), size, 2, stream.get()));
    EXPECT_TRUE(host == Pattern(size, 4));
    EXPECT_TRUE(early.Read() == Pattern(size, 5));
    Bytes source = Pattern(size, 6);
    ASSERT_OK(Go(block.get(), source.data(), size, 1, stream.get()));
    std::fill(source.begin(), source.end(), 0);
    ASSERT_OK(aclrtSynchronizeStream(stream.get()));
    EXPECT_TRUE(block.Read() == Pattern(size, 6));
  }
}

TEST_P(MemcpyAsync, BufferedKindFreesTheHostMemoryAtOnce) {
  for (size_t size : {size_t{1000}, kMiB}) {
    Stream stream;
    DeviceBlock from_pinned(size), from_pageable(size);
    PinnedBlock pinned(Pattern(size, 7));
    Bytes pageable = Pattern(size, 8);
    const int kind = ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE;
    ASSERT_OK(Go(from_pinned.get(), pinned.get(), size, kind, stream.get()));
    ASSERT_OK(Go(from_pageable.get(), pageable.data(), size, kind, stream.get()));
    std::memset(pinned.get(), 0, size);
    std::fill(pageable.begin(), pageable.end(), 0);
    ASSERT_OK(aclrtSynchronizeStream(stream.get()));
    EXPECT_TRUE(from_pinned.Read() == Pattern(size, 7));
    EXPECT_TRUE(from_pageable.Read() == Pattern(size, 8));
  }
}

TEST_P(MemcpyAsync, StreamsOfManyThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([t] {
      ASSERT_OK(aclrtSetDevice(0));
      Stream stream;
      DeviceBlock block(64 * kKiB);
      PinnedBlock in(64 * kKiB), out(64 * kKiB);
      for (int i = 0; i < 50; ++i) {
        const Bytes content = Pattern(in.size(), 1000 * t + i);
        std::memcpy(in.get(), content.data(), in.size());
        ASSERT_OK(Go(block.get(), in.get(), in.size(), 1, stream.get()));
        ASSERT_OK(Go(out.get(), block.get(), in.size(), 2, stream.get()));
        ASSERT_OK(aclrtSynchronizeStream(stream.get()));
        ASSERT_EQ(out.Read(), content);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_P(MemcpyAsync, DeviceSynchronisationCoversEveryStream) {
  Stream streams[3];
  PinnedBlock out(4 * kSize);
  std::vector<aclrtStream> handles = {nullptr};
  for (Stream& stream : streams) handles.push_back(stream.get());
  DeviceBlock source(Pattern(4 * kSize, 9));
  for (size_t i = 0; i < handles.size(); ++i) {
    ASSERT_OK(Go(out.at(i * kSize), source.at(i * kSize), kSize, 2, handles[i]));
  }
  ASSERT_OK(aclrtSynchronizeDevice());
  EXPECT_EQ(out.Read(), Pattern(4 * kSize, 9));
}

}  // namespace
}  // namespace conformance
