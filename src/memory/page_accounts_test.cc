#include "memory/page_accounts.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>
#include <vector>

namespace belay::memory {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30, kMiB = uint64_t{1} << 20;

TEST(ChargedBytesTest, RoundsUpToPages) {
  EXPECT_EQ(ChargedBytes(1, PageSize::kNormal), 4096u);
  EXPECT_EQ(ChargedBytes(4096, PageSize::kNormal), 4096u);
  EXPECT_EQ(ChargedBytes(4097, PageSize::kNormal), 8192u);
  EXPECT_EQ(ChargedBytes(1, PageSize::kHuge), 2 * kMiB);
  EXPECT_EQ(ChargedBytes(2 * kMiB + 32, PageSize::kHuge), 4 * kMiB);
  EXPECT_EQ(ChargedBytes(1, PageSize::kGiant), kGiB);
}

// SPEC 30 §0.3: the first normal page splits a huge one, the last one merges it back.
TEST(PageAccountsTest, SplitsAndMerges) {
  PageAccounts accounts;
  constexpr uint64_t kCapacity = 8 * kMiB;
  EXPECT_EQ(accounts.Totals(kCapacity).huge_free, kCapacity);
  EXPECT_EQ(accounts.Totals(kCapacity).normal_total, 0u);

  ASSERT_TRUE(accounts.Charge(4096, PageSize::kNormal, kCapacity));
  PageTotals totals = accounts.Totals(kCapacity);
  EXPECT_EQ(totals.huge_total, 6 * kMiB);
  EXPECT_EQ(totals.huge_free, 6 * kMiB);
  EXPECT_EQ(totals.normal_total, 2 * kMiB);
  EXPECT_EQ(totals.normal_free, 2 * kMiB - 4096);

  ASSERT_TRUE(accounts.Charge(2 * kMiB - 4096, PageSize::kNormal, kCapacity));
  EXPECT_EQ(accounts.Totals(kCapacity).normal_total, 2 * kMiB)
      << "the split page is full, no second one is needed";
  ASSERT_TRUE(accounts.Charge(4096, PageSize::kNormal, kCapacity));
  EXPECT_EQ(accounts.Totals(kCapacity).normal_total, 4 * kMiB);

  accounts.Refund(4096, PageSize::kNormal);
  accounts.Refund(4096, PageSize::kNormal);
  EXPECT_EQ(accounts.Totals(kCapacity).normal_total, 2 * kMiB);
  accounts.Refund(2 * kMiB - 4096, PageSize::kNormal);
  EXPECT_EQ(accounts.Totals(kCapacity).huge_free, kCapacity);
}

TEST(PageAccountsTest, AnythingUpToWhatIsFreeSucceeds) {
  constexpr uint64_t kCapacity = 61 * kGiB;
  PageAccounts accounts;
  EXPECT_FALSE(accounts.Charge(kCapacity + kHugePage, PageSize::kHuge, kCapacity));
  EXPECT_FALSE(accounts.Charge(~uint64_t{0} - kHugePage + 1, PageSize::kHuge, kCapacity));
  ASSERT_TRUE(accounts.Charge(60 * kGiB, PageSize::kGiant, kCapacity));
  ASSERT_TRUE(accounts.Charge(kGiB - kHugePage, PageSize::kHuge, kCapacity));
  EXPECT_FALSE(accounts.Charge(2 * kHugePage, PageSize::kHuge, kCapacity));
  ASSERT_TRUE(accounts.Charge(kHugePage, PageSize::kNormal, kCapacity));
  EXPECT_EQ(accounts.Totals(kCapacity).free(), 0u);
  EXPECT_FALSE(accounts.Charge(4096, PageSize::kNormal, kCapacity));
  EXPECT_EQ(accounts.used_bytes(), kCapacity);
}

TEST(PageAccountsTest, ASplitPageCannotBeTakenAsAHugeOne) {
  PageAccounts accounts;
  ASSERT_TRUE(accounts.Charge(4096, PageSize::kNormal, 4 * kMiB));
  EXPECT_FALSE(accounts.Charge(4 * kMiB, PageSize::kHuge, 4 * kMiB));
  EXPECT_TRUE(accounts.Charge(2 * kMiB, PageSize::kHuge, 4 * kMiB));
}

// Counts pages one by one.
struct Model {
  uint64_t huge = 0, normal = 0;
  uint64_t split() const { return (normal + 511) / 512; }
};

TEST(PageAccountsTest, AgreesWithAModel) {
  std::mt19937_64 random(7);
  for (uint64_t capacity : {2 * kMiB, 10 * kMiB, 3 * kGiB, 61 * kGiB + 12345 * 4096}) {
    PageAccounts accounts;
    Model model;
    uint64_t pages = capacity / kHugePage;
    std::vector<std::pair<uint64_t, PageSize>> live;
    for (int step = 0; step < 4000; ++step) {
      if (random() % 5 < 3) {
        auto size = static_cast<PageSize>(random() % 3);
        uint64_t charged = (1 + random() % 700) * PageBytes(size);
        if (size == PageSize::kGiant) charged = kGiantPage;
        Model next = model;
        (size == PageSize::kNormal ? next.normal : next.huge) +=
            charged / (size == PageSize::kNormal ? kNormalPage : kHugePage);
        bool fits = next.huge + next.split() <= pages;
        ASSERT_EQ(accounts.Charge(charged, size, capacity), fits);
        if (fits) {
          model = next;
          live.emplace_back(charged, size);
        }
      } else if (!live.empty()) {
        std::swap(live[random() % live.size()], live.back());
        auto [charged, size] = live.back();
        live.pop_back();
        accounts.Refund(charged, size);
        if (size == PageSize::kNormal)
          model.normal -= charged / kNormalPage;
        else
          model.huge -= charged / kHugePage;
      }
      PageTotals totals = accounts.Totals(capacity);
      ASSERT_EQ(totals.total(), pages * kHugePage) << "HUGE + NORMAL == MEM";
      ASSERT_EQ(totals.normal_total, model.split() * kHugePage);
      ASSERT_EQ(totals.normal_free, model.split() * kHugePage - model.normal * kNormalPage);
      ASSERT_EQ(totals.huge_free, totals.huge_total - model.huge * kHugePage);
      ASSERT_EQ(accounts.used_bytes(), model.huge * kHugePage + model.normal * kNormalPage);
      ASSERT_EQ(totals.free() + accounts.used_bytes(), pages * kHugePage);
    }
  }
}

TEST(PageAccountsTest, ThreadsNeverOverdraw) {
  constexpr uint64_t kCapacity = 64 * kMiB;
  PageAccounts accounts;
  auto work = [&](uint32_t seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < 3000; ++i) {
      PageSize size = random() % 2 == 0 ? PageSize::kNormal : PageSize::kHuge;
      uint64_t charged = (1 + random() % 20) * PageBytes(size);
      if (!accounts.Charge(charged, size, kCapacity)) continue;
      ASSERT_LE(accounts.used_bytes(), kCapacity);
      accounts.Refund(charged, size);
    }
  };
  std::thread first(work, 1), second(work, 2);
  first.join();
  second.join();
  EXPECT_EQ(accounts.used_bytes(), 0u);
  EXPECT_EQ(accounts.Totals(kCapacity).huge_free, kCapacity);
}

}  // namespace
}  // namespace belay::memory
