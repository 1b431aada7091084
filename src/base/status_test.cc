#include "base/status.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <utility>

#include "base/check.h"
#include "base/site.h"
#include "base/thread_annotations.h"

namespace belay {
namespace {

Status First(Status inner, bool* went_on) {
  BELAY_TRY(inner);
  *went_on = true;
  return Status();
}

Expected<int> Half(int value) {
  if (value % 2 != 0) return Fail(Status(107000));
  return value / 2;
}

TEST(StatusTest, ZeroIsOk) {
  EXPECT_TRUE(Status().ok());
  EXPECT_TRUE(Status(0).ok());
  EXPECT_EQ(Status(), Status(0));
  EXPECT_FALSE(Status(107000).ok());
  EXPECT_EQ(Status(107000).code(), 107000);
  EXPECT_NE(Status(107000), Status(107001));
}

TEST(StatusTest, TryLeavesAtTheFirstFailureOnly) {
  bool went_on = false;
  EXPECT_EQ(First(Status(207001), &went_on), Status(207001));
  EXPECT_FALSE(went_on);
  EXPECT_TRUE(First(Status(), &went_on).ok());
  EXPECT_TRUE(went_on);
}

TEST(StatusTest, TryEvaluatesOnce) {
  int calls = 0;
  auto count = [&] { return ++calls, Status(); };
  auto use = [&]() -> Status {
    BELAY_TRY(count());
    return Status();
  };
  EXPECT_TRUE(use().ok());
  EXPECT_EQ(calls, 1);
}

TEST(ExpectedTest, HoldsAValueOrAStatus) {
  EXPECT_EQ(Half(8).value(), 4);
  EXPECT_EQ(Half(7).error(), Status(107000));
  Expected<std::unique_ptr<int>> moved = std::make_unique<int>(3);
  std::unique_ptr<int> taken = std::move(*moved);
  EXPECT_EQ(*taken, 3);
}

TEST(SiteTest, TellsAddressesFromStacks) {
  EXPECT_FALSE(Site{}.known());
  Site address{0x7fff00001234}, stack{uint64_t{1} << 63 | 5};
  EXPECT_TRUE(address.known());
  EXPECT_FALSE(address.is_stack());
  EXPECT_TRUE(stack.is_stack());
  EXPECT_EQ(address, Site{0x7fff00001234});
}

TEST(CheckDeathTest, BrokenInvariantsSayWhatAndWhere) {
  BELAY_CHECK(1 + 1 == 2);
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(BELAY_CHECK(1 + 1 == 3), "1 \\+ 1 == 3 does not hold at .*status_test.cc:[0-9]+");
}

TEST(CheckTest, ReleaseBuildsDoNotEvaluateDebugChecks) {
  int calls = 0;
  auto count = [&] { return ++calls != 0; };
  BELAY_DCHECK(count());
#ifdef NDEBUG
  EXPECT_EQ(calls, 0);
#else
  EXPECT_EQ(calls, 1);
#endif
}

TEST(MutexTest, ExcludesOthers) {
  Mutex mutex;
  int counter = 0;
  auto add = [&] {
    for (int i = 0; i < 2000; ++i) {
      MutexLock lock(mutex);
      ++counter;
    }
  };
  std::thread first(add), second(add);
  first.join();
  second.join();
  EXPECT_EQ(counter, 4000);
  if (mutex.try_lock()) {
    bool second_try = false;
    std::thread([&] {
      if (!mutex.try_lock()) return;
      second_try = true;
      mutex.unlock();
    }).join();
    EXPECT_FALSE(second_try);
    mutex.unlock();
  } else {
    ADD_FAILURE() << "nobody holds it";
  }
}

}  // namespace
}  // namespace belay
