#include "memory/malloc_policy.h"

#include <gtest/gtest.h>

#include <ostream>

namespace belay::memory {

inline bool operator==(const PagePlan& a, const PagePlan& b) {
  return a.size == b.size && a.may_fall_back == b.may_fall_back && a.p2p == b.p2p;
}
inline void PrintTo(const PagePlan& plan, std::ostream* out) {
  *out << (plan.size == PageSize::kNormal ? "normal"
           : plan.size == PageSize::kHuge ? "huge"
                                          : "1 GiB")
       << (plan.may_fall_back ? ", else normal" : "") << (plan.p2p ? ", P2P" : "");
}

namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr PagePlan kNormal{PageSize::kNormal, false, false}, kHuge{PageSize::kHuge, false, false};
constexpr PagePlan kHugeElseNormal{PageSize::kHuge, true, false}, kGiant{PageSize::kGiant, false, false};

constexpr PagePlan P2p(PagePlan plan) {
  plan.p2p = true;
  return plan;
}

// The table of SPEC 30 §2.1, at the sizes where its answers change.
struct Row {
  const char* what;
  uint32_t policy;
  PagePlan at_1_mib, above_1_mib, below_2_mib, at_2_mib;
};

constexpr Row kTable[] = {
    {"HUGE_FIRST", 0, kNormal, kHugeElseNormal, kHugeElseNormal, kHugeElseNormal},
    {"HUGE_ONLY", 1, kHuge, kHuge, kHuge, kHuge},
    {"NORMAL_ONLY", 2, kNormal, kNormal, kNormal, kNormal},
    {"HUGE_FIRST_P2P", 3, P2p(kNormal), P2p(kHugeElseNormal), P2p(kHugeElseNormal), P2p(kHugeElseNormal)},
    {"HUGE_ONLY_P2P", 4, P2p(kHuge), P2p(kHuge), P2p(kHuge), P2p(kHuge)},
    {"NORMAL_ONLY_P2P", 5, P2p(kNormal), P2p(kNormal), P2p(kNormal), P2p(kNormal)},
    {"HUGE1G_ONLY", 6, kGiant, kGiant, kGiant, kGiant},
    {"HUGE1G_ONLY_P2P", 7, P2p(kGiant), P2p(kGiant), P2p(kGiant), P2p(kGiant)},
    {"LOW_BAND_WIDTH alone", 0x100, kNormal, kHugeElseNormal, kHugeElseNormal, kHugeElseNormal},
    {"HIGH_BAND_WIDTH alone", 0x1000, kNormal, kHugeElseNormal, kHugeElseNormal, kHugeElseNormal},
    {"USER_SPACE_READONLY alone", 0x100000, kNormal, kHugeElseNormal, kHugeElseNormal, kHugeElseNormal},
    {"HUGE_ONLY, low", 0x101, kHuge, kHuge, kHuge, kHuge},
    {"NORMAL_ONLY, low", 0x102, kNormal, kNormal, kNormal, kNormal},
    {"HUGE_ONLY, high", 0x1001, kHuge, kHuge, kHuge, kHuge},
    {"NORMAL_ONLY, high", 0x1002, kNormal, kNormal, kNormal, kNormal},
    // Not in the table, and no error either: by size.
    {"value 8", 8, kNormal, kNormal, kNormal, kHugeElseNormal},
    {"value 0xff", 0xff, kNormal, kNormal, kNormal, kHugeElseNormal},
    {"both bandwidths", 0x1100, kNormal, kNormal, kNormal, kHugeElseNormal},
    {"both bandwidths, HUGE_ONLY", 0x1101, kNormal, kNormal, kNormal, kHugeElseNormal},
    {"P2P with a bandwidth", 0x103, kNormal, kNormal, kNormal, kHugeElseNormal},
    {"1 GiB with a bandwidth", 0x1006, kNormal, kNormal, kNormal, kHugeElseNormal},
    {"unknown bit", 0x200, kNormal, kNormal, kNormal, kHugeElseNormal},
    {"all bits", ~uint32_t{0}, kNormal, kNormal, kNormal, kHugeElseNormal},
};

TEST(MallocPolicyTest, FollowsTheTable) {
  for (const Row& row : kTable) {
    SCOPED_TRACE(row.what);
    EXPECT_EQ(PlanPages(row.policy, kMiB), row.at_1_mib);
    EXPECT_EQ(PlanPages(row.policy, kMiB + 1), row.above_1_mib);
    EXPECT_EQ(PlanPages(row.policy, 2 * kMiB - 1), row.below_2_mib);
    EXPECT_EQ(PlanPages(row.policy, 2 * kMiB), row.at_2_mib);
  }
}

TEST(MallocPolicyTest, NamesItsFamilies) {
  for (uint32_t policy = 0; policy < 16; ++policy) {
    EXPECT_EQ(MallocPolicy::IsP2p(policy), policy == 3 || policy == 4 || policy == 5 || policy == 7)
        << policy;
    EXPECT_EQ(MallocPolicy::IsHuge1g(policy), policy == 6 || policy == 7) << policy;
  }
}

// SPEC 30 §2.1, §2.2
TEST(PaddedSizeTest, RoundsTo32AndAdds32) {
  EXPECT_EQ(PaddedSize(1, PageSize::kNormal, false), 64u);
  EXPECT_EQ(PaddedSize(32, PageSize::kNormal, false), 64u);
  EXPECT_EQ(PaddedSize(33, PageSize::kHuge, false), 96u);
  EXPECT_EQ(PaddedSize(2 * kMiB, PageSize::kHuge, false), 2 * kMiB + 32) << "which costs two huge pages";
}

TEST(PaddedSizeTest, GiantPagesAndAlign32GetNoMore) {
  EXPECT_EQ(PaddedSize(33, PageSize::kGiant, false), 64u);
  EXPECT_EQ(PaddedSize(33, PageSize::kNormal, true), 64u);
  EXPECT_EQ(PaddedSize(uint64_t{1} << 30, PageSize::kGiant, false), uint64_t{1} << 30);
}

TEST(PaddedSizeTest, OverflowIsZero) {
  constexpr uint64_t kMost = ~uint64_t{0};
  for (uint64_t back = 0; back < 200; ++back) {
    for (PageSize pages : {PageSize::kNormal, PageSize::kGiant}) {
      uint64_t padded = PaddedSize(kMost - back, pages, false);
      EXPECT_TRUE(padded == 0 || padded >= kMost - back) << back;
    }
  }
  EXPECT_EQ(PaddedSize(kMost, PageSize::kNormal, false), 0u);
  EXPECT_EQ(PaddedSize(kMost, PageSize::kGiant, true), 0u);
  EXPECT_EQ(PaddedSize(kMost - 31, PageSize::kNormal, true), kMost - 31);
}

}  // namespace
}  // namespace belay::memory
