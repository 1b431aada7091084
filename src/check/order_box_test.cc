#include "check/order_box.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace belay::check {
namespace {

std::vector<bool> BytesOf(const OrderBox& box, size_t room) {
  std::vector<bool> bytes(room);
  for (uint64_t row = 0; row < box.rows; ++row) {
    for (uint64_t i = 0; i < box.width; ++i) bytes.at(box.begin + row * box.pitch + i) = true;
  }
  return bytes;
}

OrderBox RandomBox(std::mt19937_64& random, uint64_t room) {
  for (;;) {
    const uint64_t width = random() % 9, pitch = width + random() % 9, rows = random() % 7;
    const OrderBox box = OrderBox::Rows(random() % room, width, pitch, rows);
    if (box.end() <= room) return box;
  }
}

// A box is its rows, whatever the pitches are.
TEST(OrderBox, AgreesWithItsBytes) {
  constexpr uint64_t kRoom = 96;
  std::mt19937_64 random(7);
  int overlaps = 0, covers = 0;
  for (int i = 0; i < 200'000; ++i) {
    const OrderBox a = RandomBox(random, kRoom), b = RandomBox(random, kRoom);
    const std::vector<bool> in_a = BytesOf(a, kRoom), in_b = BytesOf(b, kRoom);
    bool shared = false, all = true;
    for (size_t byte = 0; byte < kRoom; ++byte) {
      shared = shared || (in_a[byte] && in_b[byte]);
      all = all && (in_a[byte] || !in_b[byte]);
    }
    const auto shown = [](const OrderBox& box) {
      return testing::Message() << box.begin << " +" << box.width << " /" << box.pitch << " x" << box.rows;
    };
    ASSERT_EQ(Overlap(a, b), shared) << shown(a) << ", " << shown(b);
    ASSERT_EQ(Overlap(b, a), shared) << shown(a) << ", " << shown(b);
    if (Covers(a, b)) {
      ASSERT_TRUE(all) << shown(a) << ", " << shown(b);
    }
    overlaps += shared ? 1 : 0;
    covers += Covers(a, b) && !b.empty() ? 1 : 0;
  }
  EXPECT_GT(overlaps, 10'000);
  EXPECT_GT(covers, 1'000);
}

TEST(OrderBox, CoversWhatItIsMadeOf) {
  const OrderBox plane = OrderBox::Rows(100, 16, 64, 8);
  EXPECT_TRUE(Covers(plane, plane));
  EXPECT_TRUE(Covers(plane, OrderBox::Rows(164, 16, 64, 7)));
  EXPECT_TRUE(Covers(plane, OrderBox::Linear(100 + 64 * 3, 16)));
  EXPECT_FALSE(Covers(plane, OrderBox::Linear(100, 65)));
  EXPECT_TRUE(Covers(OrderBox::Linear(100, 512), plane));
}

TEST(OrderBox, GapsBelongToNobody) {
  const OrderBox left = OrderBox::Rows(0, 32, 64, 1000), right = OrderBox::Rows(32, 32, 64, 1000);
  EXPECT_FALSE(Overlap(left, right));
  EXPECT_TRUE(Overlap(left, OrderBox::Rows(31, 2, 64, 1000)));
}

}  // namespace
}  // namespace belay::check
