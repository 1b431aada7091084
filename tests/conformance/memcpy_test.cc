// SPEC 31 §0, §1.1: the synchronous copy.
#include "support.h"

namespace conformance {
namespace {

constexpr size_t kSize = 8 * kKiB;

aclrtMemcpyKind Kind(int value) {
  return static_cast<aclrtMemcpyKind>(value);
}

class Memcpy : public OnTwoDevices {};

TEST_F(Memcpy, GoesWhereTheAddressesSay) {
  // The kind is reserved here: each one moves each pair.
  for (int kind = 0; kind <= 7; ++kind) {
    DeviceBlock a(Pattern(kSize, 1)), b(Pattern(kSize, 2));
    const Bytes source = Pattern(kSize, 10 + kind);
    Bytes target(kSize);
    EXPECT_OK(aclrtMemcpy(a.get(), kSize, source.data(), kSize, Kind(kind)))
        << "host to device, kind " << kind;
    EXPECT_EQ(a.Read(), source);
    EXPECT_OK(aclrtMemcpy(b.get(), kSize, a.get(), kSize, Kind(kind))) << "device to device, kind " << kind;
    EXPECT_EQ(b.Read(), source);
    EXPECT_OK(aclrtMemcpy(target.data(), kSize, b.get(), kSize, Kind(kind)))
        << "device to host, kind " << kind;
    EXPECT_EQ(target, source);
    Bytes other(kSize);
    EXPECT_OK(aclrtMemcpy(other.data(), kSize, source.data(), kSize, Kind(kind)))
        << "host to host, kind " << kind;
    EXPECT_EQ(other, source);
  }
}

TEST_F(Memcpy, BadArgumentsMoveNothing) {
  DeviceBlock block(Pattern(kSize, 1));
  Bytes host = Pattern(kSize, 2);
  for (size_t count : {size_t{0}, size_t{64}}) {
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
               aclrtMemcpy(nullptr, count, host.data(), count, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
               aclrtMemcpy(block.get(), count, nullptr, count, ACL_MEMCPY_HOST_TO_DEVICE));
  }
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
             aclrtMemcpy(block.get(), 63, host.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(block.get(), 64, host.data(), 64, Kind(8)));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(block.get(), 64, host.data(), 64, Kind(-1)));
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL,
               aclrtMemcpy(block.get(), 64, host.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL,
               aclrtMemcpy(block.get(), 64, host.data(), 0, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
               aclrtMemcpy(block.get(), 1, host.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE));
  });
  EXPECT_EQ(block.Read(), Pattern(kSize, 1));
  EXPECT_EQ(host, Pattern(kSize, 2));
}

TEST_F(Memcpy, NothingIsASuccess) {
  DeviceBlock block(Pattern(64, 1));
  const Bytes host = Pattern(64, 2);
  EXPECT_OK(aclrtMemcpy(block.get(), 64, host.data(), 0, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_OK(aclrtMemcpy(block.get(), 0, host.data(), 0, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_EQ(block.Read(), Pattern(64, 1));
}

TEST_F(Memcpy, RangesStayInsideOneBlock) {
  DeviceBlock block(Pattern(kSize, 1)), neighbour(Pattern(kSize, 3));
  const size_t more = kSize + 64;  // beyond any padding
  Bytes host = Pattern(2 * kSize, 2);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpy(block.get(), more, host.data(), more, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpy(host.data(), more, block.get(), more, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpy(block.at(128), kSize, host.data(), kSize, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpy(neighbour.get(), more, block.get(), more, ACL_MEMCPY_DEVICE_TO_DEVICE));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpy(block.at(64), SIZE_MAX, host.data(), SIZE_MAX, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpy(FreedDeviceAddress(), 64, host.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_EQ(block.Read(), Pattern(kSize, 1));
  EXPECT_EQ(neighbour.Read(), Pattern(kSize, 3));
  EXPECT_EQ(host, Pattern(2 * kSize, 2));
  EXPECT_OK(aclrtMemcpy(block.at(kSize - 1), 1, host.data(), 1, ACL_MEMCPY_HOST_TO_DEVICE))
      << "the last byte";
}

TEST_F(Memcpy, AnyPartOfABlock) {
  Bytes device(100 * kKiB), host = Pattern(100 * kKiB, 1);
  DeviceBlock block(device);
  std::minstd_rand random(5);
  for (int i = 0; i < 300; ++i) {
    const size_t count = random() % (random() % 4 == 0 ? 70 * kKiB : 300);
    const size_t to = random() % (device.size() - count), from = random() % (host.size() - count);
    if (random() % 2 == 0) {
      ASSERT_OK(aclrtMemcpy(block.at(to), device.size() - to, &host[from], count, ACL_MEMCPY_HOST_TO_DEVICE));
      std::copy_n(&host[from], count, &device[to]);
    } else {
      ASSERT_OK(aclrtMemcpy(&host[from], host.size() - from, block.at(to), count, ACL_MEMCPY_DEVICE_TO_HOST));
      std::copy_n(&device[to], count, &host[from]);
    }
  }
  EXPECT_EQ(block.Read(), device);
}

TEST_F(Memcpy, OverlapIsAsIfThroughATemporary) {
  for (size_t size : {size_t{1000}, 700 * kKiB}) {
    for (const auto& [to, from] : {std::pair<size_t, size_t>{0, 100}, {100, 0}, {1, 0}, {64, 65}, {0, 0}}) {
      Bytes expected = Pattern(size + 200, 7);
      DeviceBlock block(expected);
      Bytes host = expected;
      std::memmove(&expected[to], &expected[from], size);
      EXPECT_OK(aclrtMemcpy(block.at(to), size, block.at(from), size, ACL_MEMCPY_DEVICE_TO_DEVICE));
      EXPECT_EQ(block.Read(), expected) << to << " from " << from;
      EXPECT_OK(aclrtMemcpy(&host[to], size, &host[from], size, ACL_MEMCPY_HOST_TO_HOST));
      EXPECT_EQ(host, expected) << to << " from " << from;
    }
  }
}

TEST_F(Memcpy, LargeCopies) {
  const size_t size = 40 * kMiB + 13;
  DeviceBlock a(size), b(size);
  const Bytes source = Pattern(size, 8);
  ASSERT_OK(aclrtMemcpy(a.get(), size, source.data(), size, ACL_MEMCPY_HOST_TO_DEVICE));
  ASSERT_OK(aclrtMemcpy(b.get(), size, a.get(), size, ACL_MEMCPY_DEVICE_TO_DEVICE));
  EXPECT_TRUE(b.Read() == source);
}

TEST_F(Memcpy, AddressNamesTheDevice) {
  // SPEC 32 §3: only one device's memory is involved, so the current device does not matter.
  ASSERT_OK(aclrtSetDevice(1));
  DeviceBlock a(Pattern(kSize, 1)), b(kSize);
  ASSERT_OK(aclrtSetDevice(0));
  EXPECT_EQ(a.Read(), Pattern(kSize, 1));
  a.Write(Pattern(kSize, 2));
  EXPECT_OK(aclrtMemcpy(b.get(), kSize, a.get(), kSize, ACL_MEMCPY_DEVICE_TO_DEVICE));
  EXPECT_EQ(b.Read(), Pattern(kSize, 2));
}

TEST_F(Memcpy, ThreadsCopyAtOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      ASSERT_OK(aclrtSetDevice(t % 2));
      for (int i = 0; i < 30; ++i) {
        const Bytes content = Pattern(1000 + 3000 * i, 100 * t + i);
        DeviceBlock block(content);
        EXPECT_EQ(block.Read(), content);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace conformance
