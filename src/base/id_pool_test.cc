#include "base/id_pool.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

namespace belay {
namespace {

TEST(IdPoolTest, TheLowestFreeNumberGoesOut) {
  IdPool pool(4);
  for (uint32_t id = 0; id < 4; ++id) EXPECT_EQ(pool.Take(), id);
  EXPECT_TRUE(pool.full());
  EXPECT_EQ(pool.Take(), IdPool::kNone);
  pool.Return(3);
  pool.Return(1);
  EXPECT_EQ(pool.held(), 2u);
  EXPECT_EQ(pool.Take(), 1u);
  EXPECT_EQ(pool.Take(), 3u);
  EXPECT_EQ(pool.limit(), 4u);
}

TEST(IdPoolTest, NoNumberIsOutTwice) {
  IdPool pool(64);
  std::vector<std::thread> threads;
  std::atomic<int> out[64] = {};
  std::atomic<int> twice{0};
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int round = 0; round < 5000; ++round) {
        uint32_t id = pool.Take();
        if (id == IdPool::kNone) continue;
        if (out[id].fetch_add(1) != 0) ++twice;
        out[id].fetch_sub(1);
        pool.Return(id);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(twice, 0);
  EXPECT_EQ(pool.held(), 0u);
}

}  // namespace
}  // namespace belay
