// SPEC 30 §0.3, §1: capacity queries and how allocations are charged.
#include "support.h"

namespace conformance {
namespace {

struct Info {
  size_t free = kUntouched;
  size_t total = kUntouched;
};

Info Query(int attr) {
  Info info;
  EXPECT_OK(aclrtGetMemInfo(static_cast<aclrtMemAttr>(attr), &info.free, &info.total));
  return info;
}

class MemInfo : public OnDevice0 {
 protected:
  // Bytes that one allocation takes from the pool.
  size_t Charge(size_t size, int policy, aclrtMemAttr attr = ACL_HBM_MEM) {
    const size_t before = Query(attr).free;
    void* ptr = nullptr;
    EXPECT_OK(aclrtMalloc(&ptr, size, static_cast<aclrtMemMallocPolicy>(policy)));
    const size_t after = Query(attr).free;
    EXPECT_OK(aclrtFree(ptr));
    EXPECT_EQ(Query(attr).free, before);
    return before - after;
  }
  bool UsesHuge(size_t size, int policy) {
    void* ptr = nullptr;
    const size_t normal = Query(ACL_HBM_MEM_NORMAL).total;
    EXPECT_OK(aclrtMalloc(&ptr, size, static_cast<aclrtMemMallocPolicy>(policy)));
    const bool huge = Query(ACL_HBM_MEM_NORMAL).total == normal;
    EXPECT_OK(aclrtFree(ptr));
    return huge;
  }
};

TEST_F(MemInfo, NeedsADevice) {
  OnNewThread([] {
    size_t free = kUntouched, total = kUntouched;
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
    EXPECT_EQ(free, kUntouched);
    EXPECT_EQ(total, kUntouched);
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetMemInfo(ACL_HBM_MEM, nullptr, &total))
        << "null comes before context";
  });
}

TEST_F(MemInfo, NeitherOutputIsOptional) {
  size_t value = kUntouched;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetMemInfo(ACL_HBM_MEM, nullptr, &value));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetMemInfo(ACL_HBM_MEM, &value, nullptr));
  EXPECT_EQ(value, kUntouched);
}

TEST_F(MemInfo, UnknownAttributeIsRefused) {
  for (int attr : {18, 100, -1}) {
    size_t free = kUntouched, total = kUntouched;
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetMemInfo(static_cast<aclrtMemAttr>(attr), &free, &total))
        << attr;
    EXPECT_EQ(free, kUntouched);
    EXPECT_EQ(total, kUntouched);
  }
}

TEST_F(MemInfo, DdrDoesNotExistHere) {
  for (int attr :
       {ACL_DDR_MEM, ACL_DDR_MEM_HUGE, ACL_DDR_MEM_NORMAL, ACL_DDR_MEM_P2P_HUGE, ACL_DDR_MEM_P2P_NORMAL}) {
    const Info info = Query(attr);
    EXPECT_EQ(info.free, 0u) << attr;
    EXPECT_EQ(info.total, 0u) << attr;
  }
}

TEST_F(MemInfo, HugeAndNormalMakeTheWhole) {
  DeviceBlock normal(100, ACL_MEM_MALLOC_NORMAL_ONLY), huge(5 * kMiB, ACL_MEM_MALLOC_HUGE_ONLY);
  const Info all = Query(ACL_HBM_MEM), pages = Query(ACL_HBM_MEM_HUGE), small = Query(ACL_HBM_MEM_NORMAL);
  EXPECT_EQ(pages.free + small.free, all.free);
  EXPECT_EQ(pages.total + small.total, all.total);
  EXPECT_LE(all.free, all.total);
  EXPECT_GT(all.free, 0u);
  EXPECT_EQ(Query(ACL_MEM_HUGE).free, pages.free);
  EXPECT_EQ(Query(ACL_MEM_NORMAL).free, small.free);
}

TEST_F(MemInfo, PeerAttributesShowTheSamePool) {
  EXPECT_EQ(Query(ACL_HBM_MEM_P2P_HUGE).free, Query(ACL_HBM_MEM_HUGE).free);
  EXPECT_EQ(Query(ACL_HBM_MEM_P2P_NORMAL).free, Query(ACL_HBM_MEM_NORMAL).free);
  EXPECT_EQ(Query(ACL_MEM_P2P_HUGE).total, Query(ACL_HBM_MEM_HUGE).total);
  EXPECT_EQ(Query(ACL_MEM_P2P_NORMAL).total, Query(ACL_HBM_MEM_NORMAL).total);
}

TEST_F(MemInfo, GigabytePagesAreRoundedDown) {
  DeviceBlock block(3 * kMiB, ACL_MEM_MALLOC_HUGE_ONLY);
  const Info huge = Query(ACL_HBM_MEM_HUGE), all = Query(ACL_HBM_MEM);
  for (int attr : {ACL_HBM_MEM_HUGE1G, ACL_HBM_MEM_P2P_HUGE1G, ACL_MEM_HUGE1G, ACL_MEM_P2P_HUGE1G}) {
    EXPECT_EQ(Query(attr).free, huge.free / kGiB * kGiB) << attr;
    EXPECT_EQ(Query(attr).total, all.total / kGiB * kGiB) << attr;
  }
}

TEST_F(MemInfo, NormalPagesSplitAndMerge) {
  const Info before = Query(ACL_HBM_MEM_NORMAL);
  EXPECT_EQ(before.total, 0u) << "nothing is split on a fresh device";
  {
    DeviceBlock block(100, ACL_MEM_MALLOC_NORMAL_ONLY);
    EXPECT_EQ(Query(ACL_HBM_MEM_NORMAL).total, 2 * kMiB);
    EXPECT_EQ(Query(ACL_HBM_MEM_NORMAL).free, 2 * kMiB - 4 * kKiB);
  }
  EXPECT_EQ(Query(ACL_HBM_MEM_NORMAL).total, 0u);
}

TEST_F(MemInfo, ChargesPaddingAndPages) {
  EXPECT_EQ(Charge(1, ACL_MEM_MALLOC_NORMAL_ONLY), 4 * kKiB);
  EXPECT_EQ(Charge(4 * kKiB - 32, ACL_MEM_MALLOC_NORMAL_ONLY), 4 * kKiB);
  EXPECT_EQ(Charge(4 * kKiB - 31, ACL_MEM_MALLOC_NORMAL_ONLY), 8 * kKiB) << "rounded to 32, then 32 more";
  EXPECT_EQ(Charge(1, ACL_MEM_MALLOC_HUGE_ONLY), 2 * kMiB);
  EXPECT_EQ(Charge(2 * kMiB - 32, ACL_MEM_MALLOC_HUGE_ONLY), 2 * kMiB);
  EXPECT_EQ(Charge(2 * kMiB, ACL_MEM_MALLOC_HUGE_ONLY), 4 * kMiB);
  EXPECT_EQ(Charge(1, ACL_MEM_MALLOC_HUGE1G_ONLY), kGiB);
  EXPECT_EQ(Charge(kGiB, ACL_MEM_MALLOC_HUGE1G_ONLY), kGiB) << "no 32 extra with pages of 1 GiB";
}

TEST_F(MemInfo, Align32HasNoExtraBytes) {
  const size_t before = Query(ACL_HBM_MEM).free;
  void* ptr = nullptr;
  ASSERT_OK(aclrtMallocAlign32(&ptr, 4 * kKiB, ACL_MEM_MALLOC_NORMAL_ONLY));
  EXPECT_EQ(before - Query(ACL_HBM_MEM).free, 4 * kKiB);
  EXPECT_OK(aclrtFree(ptr));
}

TEST_F(MemInfo, PolicyChoosesThePages) {
  EXPECT_FALSE(UsesHuge(kMiB, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_TRUE(UsesHuge(kMiB + 1, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_FALSE(UsesHuge(kMiB, ACL_MEM_MALLOC_HUGE_FIRST_P2P));
  EXPECT_TRUE(UsesHuge(kMiB + 1, ACL_MEM_MALLOC_HUGE_FIRST_P2P));
  EXPECT_TRUE(UsesHuge(1, ACL_MEM_MALLOC_HUGE_ONLY));
  EXPECT_TRUE(UsesHuge(1, ACL_MEM_MALLOC_HUGE_ONLY_P2P));
  EXPECT_FALSE(UsesHuge(3 * kMiB, ACL_MEM_MALLOC_NORMAL_ONLY));
  EXPECT_FALSE(UsesHuge(3 * kMiB, ACL_MEM_MALLOC_NORMAL_ONLY_P2P));
  EXPECT_FALSE(UsesHuge(kMiB, ACL_MEM_TYPE_LOW_BAND_WIDTH)) << "alone it implies HUGE_FIRST";
  EXPECT_TRUE(UsesHuge(kMiB + 1, ACL_MEM_TYPE_HIGH_BAND_WIDTH));
  EXPECT_TRUE(UsesHuge(1, ACL_MEM_MALLOC_HUGE_ONLY | ACL_MEM_TYPE_LOW_BAND_WIDTH));
  EXPECT_FALSE(UsesHuge(3 * kMiB, ACL_MEM_MALLOC_NORMAL_ONLY | ACL_MEM_TYPE_HIGH_BAND_WIDTH));
}

TEST_F(MemInfo, UnlistedPolicyGoesBySize) {
  const int both_bands = ACL_MEM_TYPE_LOW_BAND_WIDTH | ACL_MEM_TYPE_HIGH_BAND_WIDTH;
  const int peer_with_band = ACL_MEM_MALLOC_NORMAL_ONLY_P2P | ACL_MEM_TYPE_LOW_BAND_WIDTH;
  for (int policy : {0x77, 8, both_bands, peer_with_band}) {
    EXPECT_FALSE(UsesHuge(2 * kMiB - 1, policy)) << policy;
    EXPECT_TRUE(UsesHuge(2 * kMiB, policy)) << policy;
  }
}

TEST_F(MemInfo, FollowsTheCurrentDevice) {
  ASSERT_OK(aclrtSetDevice(1));
  const size_t other = Query(ACL_HBM_MEM).free;
  ASSERT_OK(aclrtSetDevice(0));
  const Info mine = Query(ACL_HBM_MEM);
  DeviceBlock block(10 * kMiB);
  EXPECT_LT(Query(ACL_HBM_MEM).free, mine.free);
  EXPECT_EQ(Query(ACL_HBM_MEM).total, mine.total);
  ASSERT_OK(aclrtSetDevice(1));
  EXPECT_EQ(Query(ACL_HBM_MEM).free, other);
}

TEST_F(MemInfo, SeesOtherThreadsAtOnce) {
  const size_t before = Query(ACL_HBM_MEM).free;
  void* ptr = nullptr;
  OnNewThread([&] {
    ASSERT_OK(aclrtSetDevice(0));
    ASSERT_OK(aclrtMalloc(&ptr, 2 * kMiB - 32, ACL_MEM_MALLOC_HUGE_ONLY));
  });
  EXPECT_EQ(Query(ACL_HBM_MEM).free, before - 2 * kMiB);
  EXPECT_OK(aclrtFree(ptr));
  EXPECT_EQ(Query(ACL_HBM_MEM).free, before);
}

TEST_F(MemInfo, ResetGivesEverythingBack) {
  const size_t before = Query(ACL_HBM_MEM).free;
  void* ptr = nullptr;
  ASSERT_OK(aclrtMalloc(&ptr, 64 * kMiB, ACL_MEM_MALLOC_HUGE_FIRST));  // LEAK
  ASSERT_OK(aclrtResetDevice(0));
  ASSERT_OK(aclrtSetDevice(0));
  EXPECT_EQ(Query(ACL_HBM_MEM).free, before);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(ptr)) << "the reset freed it";
}

}  // namespace
}  // namespace conformance
