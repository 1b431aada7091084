#include "os/shared_lock.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>
#include <vector>

namespace belay::os {
namespace {

TEST(SharedLockTest, WritersAreAloneAndReadersAreNot) {
  SharedLock lock;
  lock.lock_shared();
  lock.lock_shared();
  lock.unlock_shared();
  std::atomic<bool> written{false};
  std::thread writer([&] {
    ExclusiveHold hold(lock);
    written = true;
  });
  EXPECT_FALSE(written);
  lock.unlock_shared();
  writer.join();
  EXPECT_TRUE(written);
}

TEST(SharedLockTest, NothingIsLostBetweenManyThreads) {
  SharedLock lock;
  int64_t first = 0, second = 0;
  std::atomic<bool> torn{false};
  constexpr int kRounds = 5'000, kThreads = 8;
  std::vector<std::thread> threads;
  for (int id = 0; id < kThreads; ++id) {
    threads.emplace_back([&, id] {
      for (int round = 0; round < kRounds; ++round) {
        if ((round + id) % 3 == 0) {
          ExclusiveHold hold(lock);
          ++first;
          sched_yield();
          ++second;
        } else {
          lock.lock_shared();
          if (first != second) torn = true;
          sched_yield();
          lock.unlock_shared();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(torn);
  EXPECT_EQ(first, second);
}

}  // namespace
}  // namespace belay::os
