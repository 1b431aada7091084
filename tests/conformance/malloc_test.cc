// SPEC 30 §2.1–§2.6: device allocation.
#include <algorithm>

#include "support.h"

namespace conformance {
namespace {

using Allocate = aclError (*)(void**, size_t, aclrtMemMallocPolicy);

aclError WithNoConfig(void** ptr, size_t size, aclrtMemMallocPolicy policy) {
  return aclrtMallocWithCfg(ptr, size, policy, nullptr);
}
aclError ForScheduler(void** ptr, size_t size, aclrtMemMallocPolicy policy) {
  return aclrtMallocForTaskScheduler(ptr, size, policy, nullptr);
}

size_t FreeBytes() {
  size_t free = 0, total = 0;
  EXPECT_OK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
  return free;
}

class Malloc : public OnDevice0, public testing::WithParamInterface<Allocate> {};

INSTANTIATE_TEST_SUITE_P(Every, Malloc,
                         testing::Values(&aclrtMalloc, &aclrtMallocAlign32, &aclrtMallocCached, &WithNoConfig,
                                         &ForScheduler));

TEST_P(Malloc, GivesAlignedMemoryForEveryPolicy) {
  for (int policy = ACL_MEM_MALLOC_HUGE_FIRST; policy <= ACL_MEM_MALLOC_HUGE1G_ONLY_P2P; ++policy) {
    for (size_t size : {size_t{1}, size_t{100}, 3 * kMiB}) {
      void* ptr = nullptr;
      ASSERT_OK(GetParam()(&ptr, size, static_cast<aclrtMemMallocPolicy>(policy))) << policy;
      EXPECT_NE(ptr, nullptr);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(ptr) % 64, 0u);
      const Bytes content = Pattern(size, policy);
      EXPECT_OK(aclrtMemcpy(ptr, size, content.data(), size, ACL_MEMCPY_HOST_TO_DEVICE));
      Bytes back(size);
      EXPECT_OK(aclrtMemcpy(back.data(), size, ptr, size, ACL_MEMCPY_DEVICE_TO_HOST));
      EXPECT_EQ(back, content);
      EXPECT_OK(aclrtFree(ptr));
    }
  }
}

TEST_P(Malloc, RefusesZeroSizeAndNull) {
  void* ptr = UntouchedPointer();
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, GetParam()(&ptr, 0, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_EQ(ptr, UntouchedPointer());
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, GetParam()(nullptr, 64, ACL_MEM_MALLOC_HUGE_FIRST));
}

TEST_P(Malloc, NeedsADevice) {
  OnNewThread([] {
    void* ptr = UntouchedPointer();
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, GetParam()(&ptr, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_EQ(ptr, UntouchedPointer());
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, GetParam()(&ptr, 0, ACL_MEM_MALLOC_HUGE_FIRST))
        << "size comes before context";
  });
}

TEST_P(Malloc, TooMuchIsRefusedAndTakesNothing) {
  const size_t before = FreeBytes();
  for (size_t size : {before + 1, size_t{SIZE_MAX}, size_t{SIZE_MAX} - 40}) {
    for (int policy : {0, 1, 2, 3, 4, 5, 6, 7, 0x77}) {
      void* ptr = UntouchedPointer();
      EXPECT_ACL(ACL_ERROR_RT_MEMORY_ALLOCATION,
                 GetParam()(&ptr, size, static_cast<aclrtMemMallocPolicy>(policy)))
          << size << " with policy " << policy;
      EXPECT_EQ(ptr, UntouchedPointer());
    }
  }
  EXPECT_EQ(FreeBytes(), before);
}

class MallocShort : public OnDevice0 {
 protected:
  // Takes huge pages until `pages` of them are left.
  void LeaveHugePages(size_t pages) {
    size_t free = 0, total = 0;
    ASSERT_OK(aclrtGetMemInfo(ACL_HBM_MEM_HUGE, &free, &total));
    size_t spare = free / (2 * kMiB) - pages;
    while (spare > 0) {
      const size_t now = std::min<size_t>(spare, 128);  // 256 MiB: any address plan has room for that
      void* ptr = nullptr;
      ASSERT_OK(aclrtMalloc(&ptr, now * 2 * kMiB - 32, ACL_MEM_MALLOC_HUGE_ONLY));
      blocks_.push_back(ptr);
      spare -= now;
    }
  }
  void TearDown() override {
    for (void* ptr : blocks_) EXPECT_OK(aclrtFree(ptr));
    OnDevice0::TearDown();
  }

  std::vector<void*> blocks_;
};

TEST_F(MallocShort, OnlyFirstFallsBackToNormalPages) {
  LeaveHugePages(2);
  DeviceBlock splitter(1, ACL_MEM_MALLOC_NORMAL_ONLY);  // one huge page left, the other is split
  void* ptr = UntouchedPointer();
  EXPECT_ACL(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMalloc(&ptr, 2 * kMiB, ACL_MEM_MALLOC_HUGE_ONLY));
  EXPECT_ACL(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMalloc(&ptr, 2 * kMiB, ACL_MEM_MALLOC_HUGE_ONLY_P2P));
  EXPECT_ACL(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMalloc(&ptr, 1, ACL_MEM_MALLOC_HUGE1G_ONLY));
  for (int policy : {0, 3, 0x77}) {
    EXPECT_OK(aclrtMalloc(&ptr, 2 * kMiB, static_cast<aclrtMemMallocPolicy>(policy))) << policy;
    EXPECT_OK(aclrtFree(ptr));
  }
}

TEST_F(MallocShort, NormalPagesTakeTheRestOfTheHugeOnes) {
  LeaveHugePages(2);
  {
    DeviceBlock all(4 * kMiB - 32, ACL_MEM_MALLOC_NORMAL_ONLY);
    void* ptr = UntouchedPointer();
    EXPECT_ACL(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMalloc(&ptr, 1, ACL_MEM_MALLOC_NORMAL_ONLY));
    EXPECT_EQ(FreeBytes(), 0u);
  }
  EXPECT_EQ(FreeBytes(), 4 * kMiB);
}

using AllocateWith = aclError (*)(void**, size_t, aclrtMemMallocPolicy, aclrtMallocConfig*);

class MallocConfig : public OnDevice0, public testing::WithParamInterface<AllocateWith> {
 protected:
  static aclrtMallocAttribute Attribute(int kind, uint32_t value) {
    aclrtMallocAttribute attribute;
    std::memset(&attribute, 0, sizeof(attribute));
    attribute.attr = static_cast<aclrtMallocAttrType>(kind);
    if (kind == ACL_RT_MEM_ATTR_MODULE_ID) {
      attribute.value.moduleId = static_cast<uint16_t>(value);
    } else {
      attribute.value.deviceId = value;
    }
    return attribute;
  }
  void Expect(aclError code, std::vector<aclrtMallocAttribute> attributes) {
    aclrtMallocConfig config = {attributes.data(), attributes.size()};
    void* ptr = UntouchedPointer();
    EXPECT_ACL(code, GetParam()(&ptr, 100, ACL_MEM_MALLOC_HUGE_FIRST, &config));
    if (code != ACL_SUCCESS) {
      EXPECT_EQ(ptr, UntouchedPointer());
    } else {
      EXPECT_OK(aclrtFree(ptr));
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Both, MallocConfig,
                         testing::Values(&aclrtMallocWithCfg, &aclrtMallocForTaskScheduler));

TEST_P(MallocConfig, AttributesWithoutEffectAreTaken) {
  Expect(ACL_SUCCESS, {});
  Expect(ACL_SUCCESS, {Attribute(ACL_RT_MEM_ATTR_RSV, 77)});
  Expect(ACL_SUCCESS, {Attribute(ACL_RT_MEM_ATTR_MODULE_ID, 33)});
}

TEST_P(MallocConfig, DeviceMustBeTheCurrentOne) {
  Expect(ACL_SUCCESS, {Attribute(ACL_RT_MEM_ATTR_DEVICE_ID, 0)});
  Expect(ACL_ERROR_RT_PARAM_INVALID, {Attribute(ACL_RT_MEM_ATTR_DEVICE_ID, 1)});
}

TEST_P(MallocConfig, LastDuplicateWins) {
  Expect(ACL_SUCCESS, {Attribute(ACL_RT_MEM_ATTR_DEVICE_ID, 1), Attribute(ACL_RT_MEM_ATTR_DEVICE_ID, 0)});
  Expect(ACL_ERROR_RT_PARAM_INVALID,
         {Attribute(ACL_RT_MEM_ATTR_DEVICE_ID, 0), Attribute(ACL_RT_MEM_ATTR_DEVICE_ID, 1)});
}

TEST_P(MallocConfig, FlagOfHostMemoryIsRefused) {
  Expect(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, {Attribute(ACL_RT_MEM_ATTR_VA_FLAG, 1)});
}

TEST_P(MallocConfig, BadShapeIsRefused) {
  aclrtMallocConfig config = {nullptr, 1};
  void* ptr = UntouchedPointer();
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, GetParam()(&ptr, 100, ACL_MEM_MALLOC_HUGE_FIRST, &config));
  EXPECT_EQ(ptr, UntouchedPointer());
  Expect(ACL_ERROR_INVALID_PARAM, {Attribute(99, 0)});
}

class MallocMany : public OnTwoDevices {};

TEST_F(MallocMany, BlocksNeverOverlap) {
  struct Range {
    uintptr_t begin, end;
    bool operator<(const Range& other) const { return begin < other.begin; }
  };
  std::vector<Range> ranges;
  std::vector<void*> blocks;
  for (int device : {0, 1}) {
    ASSERT_OK(aclrtSetDevice(device));
    for (size_t size : {size_t{1}, size_t{63}, size_t{64}, 4 * kKiB, 100 * kKiB, kMiB, 2 * kMiB, 33 * kMiB}) {
      for (int policy : {0, 1, 2}) {
        void* ptr = nullptr;
        ASSERT_OK(aclrtMalloc(&ptr, size, static_cast<aclrtMemMallocPolicy>(policy)));
        const auto begin = reinterpret_cast<uintptr_t>(ptr);
        ranges.push_back({begin, begin + size});
        blocks.push_back(ptr);
      }
    }
  }
  std::sort(ranges.begin(), ranges.end());
  for (size_t i = 1; i < ranges.size(); ++i) EXPECT_LE(ranges[i - 1].end, ranges[i].begin);
  for (void* ptr : blocks) EXPECT_OK(aclrtFree(ptr));
}

TEST_F(MallocMany, ThreadsDoNotDisturbEachOther) {
  const size_t before = FreeBytes();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      ASSERT_OK(aclrtSetDevice(0));
      std::minstd_rand random(t + 1);
      std::vector<void*> live;
      for (int i = 0; i < 200; ++i) {
        const size_t size = 1 + random() % (64 * kKiB);
        void* ptr = nullptr;
        ASSERT_OK(aclrtMalloc(&ptr, size, static_cast<aclrtMemMallocPolicy>(random() % 3)));
        ASSERT_OK(aclrtMemset(ptr, size, t, std::min<size_t>(size, 64)));
        live.push_back(ptr);
        if (live.size() > 8) {
          uint8_t first = 0xff;
          ASSERT_OK(aclrtMemcpy(&first, 1, live.front(), 1, ACL_MEMCPY_DEVICE_TO_HOST));
          EXPECT_EQ(first, t);
          ASSERT_OK(aclrtFree(live.front()));
          live.erase(live.begin());
        }
      }
      for (void* ptr : live) ASSERT_OK(aclrtFree(ptr));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(FreeBytes(), before);
}

}  // namespace
}  // namespace conformance
