#include "runtime/handle_table.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace belay::runtime {
namespace {

struct Thing {
  int value = 0;
};
using Table = HandleTable<Thing, 0x57>;
using OtherTable = HandleTable<Thing, 0xE7>;

class HandleTableTest : public testing::Test {
 protected:
  void* Add(int value) {
    void* handle = nullptr;
    Thing* thing = table_->Add(&handle);
    if (thing == nullptr) return nullptr;
    thing->value = value;
    return handle;
  }
  std::unique_ptr<Table> table_ = std::make_unique<Table>();
};

TEST_F(HandleTableTest, TheLiveOnesAreVisitedReadyMade) {
  std::vector<void*> handles;
  for (int i = 0; i < 3000; ++i) {
    void* handle = nullptr;
    table_->Add(&handle, [&](Thing& thing) { thing.value = handle != nullptr ? i : -1; });
    handles.push_back(handle);
  }
  for (size_t i = 0; i < handles.size(); i += 2) table_->Remove(handles[i]);
  std::vector<int> seen;
  table_->ForEachLive([&](const Thing& thing) { seen.push_back(thing.value); });
  ASSERT_EQ(seen.size(), 1500u);
  for (size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], static_cast<int>(2 * i + 1));
}

TEST_F(HandleTableTest, AHandleFindsItsObjectUntilItIsRemoved) {
  void* handle = Add(5);
  ASSERT_NE(handle, nullptr);
  Thing* found = table_->Find(handle);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->value, 5);
  EXPECT_EQ(table_->FindDead(handle), nullptr);
  table_->Remove(handle);
  EXPECT_EQ(table_->Find(handle), nullptr);
  ASSERT_NE(table_->FindDead(handle), nullptr);
  EXPECT_EQ(table_->FindDead(handle)->value, 5) << "the dead keep their story";
}

TEST_F(HandleTableTest, ADeadHandleIsForgottenWhenItsSlotIsUsedAgain) {
  void* first = Add(1);
  table_->Remove(first);
  // 256 slots rest, so the oldest is used again after that many more.
  std::vector<void*> handles;
  for (int i = 0; i < 300; ++i) {
    handles.push_back(Add(i));
    table_->Remove(handles.back());
  }
  EXPECT_EQ(table_->Find(first), nullptr);
  EXPECT_EQ(table_->FindDead(first), nullptr);
  EXPECT_EQ(table_->FindDead(handles.back())->value, 299);
  EXPECT_NE(table_->FindDead(handles[100]), nullptr);
}

TEST_F(HandleTableTest, SlotsRestOldestFirst) {
  std::vector<void*> handles;
  for (int i = 0; i < 400; ++i) handles.push_back(Add(i));
  for (void* handle : handles) table_->Remove(handle);
  for (int i = 0; i < 144; ++i) Add(1000 + i);  // 400 - 256 slots may be used again
  for (int i = 0; i < 400; ++i) {
    const Thing* dead = table_->FindDead(handles[static_cast<size_t>(i)]);
    EXPECT_EQ(dead != nullptr, i >= 144) << i;
    if (dead != nullptr) {
      EXPECT_EQ(dead->value, i);
    }
  }
}

TEST_F(HandleTableTest, AValueIsGivenOutOnce) {
  std::set<void*> seen;
  std::vector<void*> live;
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    if (live.size() < 50 || random() % 2 == 0) {
      live.push_back(Add(i));
      ASSERT_TRUE(seen.insert(live.back()).second);
    } else {
      std::swap(live[random() % live.size()], live.back());
      table_->Remove(live.back());
      live.pop_back();
    }
  }
}

TEST_F(HandleTableTest, GarbageAndForeignHandlesAreNotFound) {
  OtherTable other;
  void* foreign = nullptr;
  other.Add(&foreign);
  void* mine = Add(1);
  EXPECT_NE(foreign, mine);
  for (const void* handle :
       {static_cast<const void*>(nullptr), static_cast<const void*>(foreign), static_cast<const void*>(this),
        static_cast<const void*>(table_.get()), reinterpret_cast<const void*>(uint64_t{0x57} << 56),
        reinterpret_cast<const void*>(~uint64_t{0})}) {
    EXPECT_EQ(table_->Find(handle), nullptr);
    EXPECT_EQ(table_->FindDead(handle), nullptr);
  }
  auto value = reinterpret_cast<uint64_t>(mine);
  EXPECT_EQ(table_->Find(reinterpret_cast<void*>(value + 1)), nullptr) << "the next slot";
  EXPECT_EQ(table_->Find(reinterpret_cast<void*>(value + (1 << 24))), nullptr)
      << "a generation that is to come";
  EXPECT_EQ(table_->FindDead(reinterpret_cast<void*>(value - (1 << 24))), nullptr);
  std::mt19937_64 random(2);
  for (int i = 0; i < 100'000; ++i) {
    uint64_t bits = random();
    if (i % 2 == 0) bits = (bits & ~(uint64_t{0xff} << 56)) | uint64_t{0x57} << 56;
    auto* handle = reinterpret_cast<void*>(bits);
    if (handle == mine) continue;
    ASSERT_EQ(table_->Find(handle), nullptr) << handle;
    ASSERT_EQ(table_->FindDead(handle), nullptr) << handle;
  }
}

TEST_F(HandleTableTest, RandomHistoriesAgreeWithAModel) {
  std::mt19937 random(3);
  std::map<void*, int> live;
  std::vector<void*> all;
  for (int step = 0; step < 30'000; ++step) {
    if (live.size() < 2000 && random() % 5 < 3) {
      void* handle = Add(step);
      live[handle] = step;
      all.push_back(handle);
    } else if (!all.empty()) {
      void* handle = all[random() % all.size()];
      auto found = live.find(handle);
      Thing* thing = table_->Find(handle);
      ASSERT_EQ(thing != nullptr, found != live.end());
      if (thing == nullptr) continue;
      ASSERT_EQ(thing->value, found->second);
      table_->Remove(handle);
      live.erase(found);
    }
  }
}

TEST_F(HandleTableTest, RemovingTwiceIsABrokenInvariant) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  void* handle = Add(1);
  table_->Remove(handle);
  EXPECT_DEATH(table_->Remove(handle), "does not hold");
}

TEST_F(HandleTableTest, ThreadsAddFindAndRemove) {
  std::atomic<void*> shared{Add(77)};
  auto work = [&](int salt) {
    for (int i = 0; i < 5000; ++i) {
      void* handle = nullptr;
      Thing* thing = table_->Add(&handle);
      thing->value = salt;
      ASSERT_EQ(table_->Find(handle), thing);
      Thing* always = table_->Find(shared.load());
      ASSERT_NE(always, nullptr);
      ASSERT_EQ(always->value, 77);
      ASSERT_EQ(thing->value, salt);
      table_->Remove(handle);
      ASSERT_EQ(table_->Find(handle), nullptr);
    }
  };
  std::thread other(work, 1);
  work(2);
  other.join();
}

TEST(SlowHandleTableTest, SixteenMillionAreTheMost) {
  if (getenv("BELAY_STRESS_SECONDS") == nullptr) GTEST_SKIP() << "slow; set BELAY_STRESS_SECONDS";
  auto table = std::make_unique<Table>();
  void *first = nullptr, *handle = nullptr;
  ASSERT_NE(table->Add(&first), nullptr);
  for (int i = 1; i < 1 << 24; ++i) ASSERT_NE(table->Add(&handle), nullptr) << i;
  EXPECT_EQ(table->Add(&handle), nullptr);
  table->Remove(first);
  ASSERT_NE(table->Add(&handle), nullptr) << "then even a slot that rests is used again";
  EXPECT_EQ(table->Find(first), nullptr);
  EXPECT_EQ(table->FindDead(first), nullptr);
}

}  // namespace
}  // namespace belay::runtime
