#include "os/futex.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "os/thread.h"

namespace belay::os {
namespace {

constexpr int64_t kMs = 1'000'000;

TEST(FutexTest, ADifferentValueReturnsAtOnce) {
  std::atomic<uint32_t> word{1};
  FutexWait(word, 0);
  EXPECT_EQ(word.load(), 1u);
}

TEST(FutexTest, ReturnsAtTheDeadlineAndNotBefore) {
  std::atomic<uint32_t> word{0};
  int64_t start = MonotonicNs();
  // A signal may end a wait early; the caller looks again, as the contract says.
  for (int64_t left = 20 * kMs; left > 0; left = start + 20 * kMs - MonotonicNs()) FutexWait(word, 0, left);
  EXPECT_GE(MonotonicNs() - start, 20 * kMs);
  FutexWait(word, 0, 0);
}

TEST(FutexTest, TimeoutsOfSecondsAreSeconds) {
  std::atomic<uint32_t> word{0};
  std::thread waker([&] {
    word.store(1);
    FutexWakeAll(word);
  });
  // With seconds taken for nanoseconds this loop would spin; with the remainder lost the kernel would refuse.
  int64_t start = MonotonicNs();
  while (word.load() == 0) FutexWait(word, 0, 3'500 * kMs);
  EXPECT_LT(MonotonicNs() - start, 3'000 * kMs);
  waker.join();
}

TEST(FutexTest, WakeAllWakesEverybody) {
  std::atomic<uint32_t> word{0}, passed{0};
  std::vector<std::thread> sleepers;
  for (int i = 0; i < 4; ++i) {
    sleepers.emplace_back([&] {
      while (word.load() == 0) FutexWait(word, 0);
      passed.fetch_add(1);
    });
  }
  word.store(1);
  FutexWakeAll(word);
  for (std::thread& sleeper : sleepers) sleeper.join();
  EXPECT_EQ(passed.load(), 4u);
}

// Two threads hand a number to and fro; nothing but wakes moves it.
TEST(FutexTest, WakesReachASleeperEveryTime) {
  std::atomic<uint32_t> word{0};
  constexpr uint32_t kTurns = 500;
  auto play = [&](uint32_t parity) {
    for (uint32_t turn = parity; turn < kTurns; turn += 2) {
      for (uint32_t now = word.load(); now != turn; now = word.load()) FutexWait(word, now);
      word.store(turn + 1);
      FutexWakeOne(word);
    }
  };
  std::thread other([&] { play(1); });
  play(0);
  other.join();
  EXPECT_EQ(word.load(), kTurns);
}

}  // namespace
}  // namespace belay::os
