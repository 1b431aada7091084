#include "engine/op_queue.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <random>

namespace belay::engine {
namespace {

Op Numbered(uint32_t number) {
  Op op;
  op.task = number;
  return op;
}

TEST(OpQueueTest, IsEmptyUntilSomethingIsAppended) {
  OpQueue queue;
  EXPECT_TRUE(queue.empty());
  queue.Append(Numbered(7));
  EXPECT_FALSE(queue.empty());
  EXPECT_EQ(queue.Front().task, 7u);
  queue.Pop();
  EXPECT_TRUE(queue.empty());
  queue.Append(Numbered(8));
  EXPECT_EQ(queue.Front().task, 8u);
}

// 31 ops fill a chunk.
TEST(OpQueueTest, KeepsOrderAcrossChunks) {
  for (uint32_t count : {1u, 30u, 31u, 32u, 61u, 62u, 63u, 93u, 1000u}) {
    OpQueue queue;
    for (int round = 0; round < 3; ++round) {
      for (uint32_t i = 0; i < count; ++i) queue.Append(Numbered(i));
      for (uint32_t i = 0; i < count; ++i) {
        ASSERT_FALSE(queue.empty()) << count;
        ASSERT_EQ(queue.Front().task, i) << count;
        queue.Pop();
      }
      ASSERT_TRUE(queue.empty()) << count;
    }
  }
}

TEST(OpQueueTest, AgreesWithADeque) {
  std::mt19937 random(4);
  for (uint32_t bias : {1u, 2u, 3u, 4u}) {
    OpQueue queue;
    std::deque<uint32_t> model;
    uint32_t next = 0;
    for (int step = 0; step < 20'000; ++step) {
      // In turns growing and shrinking, so that both ends cross chunks often.
      bool grow = random() % 5 < (step / 500 % 2 == 0 ? bias : 5 - bias);
      if (grow) {
        queue.Append(Numbered(next));
        model.push_back(next++);
      } else if (!model.empty()) {
        queue.Pop();
        model.pop_front();
      }
      ASSERT_EQ(queue.empty(), model.empty());
      if (!model.empty()) {
        ASSERT_EQ(queue.Front().task, model.front());
      }
      if (step % 97 != 0) continue;
      auto expected = model.begin();
      queue.ForEach([&](const Op& op) {
        ASSERT_NE(expected, model.end());
        ASSERT_EQ(op.task, *expected++);
      });
      ASSERT_EQ(expected, model.end());
    }
  }
}

TEST(OpQueueTest, AnOpKeepsItsPlaceUntilItIsPopped) {
  OpQueue queue;
  Op* front = &queue.Append(Numbered(0));
  for (uint32_t i = 1; i < 500; ++i) queue.Append(Numbered(i));
  EXPECT_EQ(&queue.Front(), front);
  EXPECT_EQ(front->task, 0u);
}

TEST(OpQueueTest, ADroppedQueueFreesItsChunks) {
  OpQueue queue;
  for (uint32_t i = 0; i < 200; ++i) queue.Append(Numbered(i));
  for (int i = 0; i < 40; ++i) queue.Pop();  // leak checkers watch the rest
}

}  // namespace
}  // namespace belay::engine
