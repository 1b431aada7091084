#include "base/interval_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <tuple>
#include <vector>

namespace belay {
namespace {
using testing::ElementsAre;
using Piece = std::tuple<uint64_t, uint64_t, bool>;

std::vector<Piece> Pieces(const IntervalSet& set, uint64_t lo, uint64_t hi) {
  std::vector<Piece> pieces;
  set.ForEachPiece(lo, hi,
                   [&](uint64_t from, uint64_t to, bool inside) { pieces.emplace_back(from, to, inside); });
  return pieces;
}

TEST(IntervalSet, IsEmptyAtFirst) {
  IntervalSet set;
  EXPECT_TRUE(set.empty());
  EXPECT_FALSE(set.Holds(0, 1));
  EXPECT_TRUE(set.Holds(5, 5));
  EXPECT_THAT(Pieces(set, 3, 7), ElementsAre(Piece(3, 7, false)));
  EXPECT_THAT(Pieces(set, 3, 3), ElementsAre());
}

TEST(IntervalSet, JoinsWhatTouches) {
  IntervalSet set;
  set.Add(0, 4);
  set.Add(8, 12);
  EXPECT_EQ(set.intervals(), 2u);
  EXPECT_FALSE(set.Holds(0, 12));
  set.Add(4, 8);
  EXPECT_EQ(set.intervals(), 1u);
  EXPECT_TRUE(set.Holds(0, 12));
  set.Add(20, 20);
  EXPECT_EQ(set.intervals(), 1u);
}

TEST(IntervalSet, CutsARangeIntoPieces) {
  IntervalSet set;
  set.Add(2, 4);
  set.Add(6, 9);
  EXPECT_THAT(Pieces(set, 0, 10), ElementsAre(Piece(0, 2, false), Piece(2, 4, true), Piece(4, 6, false),
                                              Piece(6, 9, true), Piece(9, 10, false)));
  EXPECT_THAT(Pieces(set, 3, 7), ElementsAre(Piece(3, 4, true), Piece(4, 6, false), Piece(6, 7, true)));
  EXPECT_THAT(Pieces(set, 4, 6), ElementsAre(Piece(4, 6, false)));
  EXPECT_THAT(Pieces(set, 6, 9), ElementsAre(Piece(6, 9, true)));
}

TEST(IntervalSet, ReachesToTheLastNumber) {
  IntervalSet set;
  constexpr uint64_t kLast = ~uint64_t{0};
  set.Add(kLast - 1, kLast);
  set.Add(0, 1);
  EXPECT_TRUE(set.Holds(kLast - 1, kLast));
  EXPECT_THAT(Pieces(set, 0, kLast),
              ElementsAre(Piece(0, 1, true), Piece(1, kLast - 1, false), Piece(kLast - 1, kLast, true)));
}

// Against an array with a byte for each number.
TEST(IntervalSet, IsWhatAnArraySays) {
  constexpr uint64_t kNumbers = 96;
  std::mt19937 random(20261201);
  for (int round = 0; round < 300; ++round) {
    IntervalSet set;
    std::vector<bool> array(kNumbers);
    auto draw = [&] {
      uint64_t lo = random() % kNumbers, hi = lo + random() % (round % 2 == 0 ? 5 : 40);
      return std::pair(lo, std::min(hi, kNumbers));
    };
    for (int step = 0; step < 40; ++step) {
      auto [lo, hi] = draw();
      set.Add(lo, hi);
      for (uint64_t i = lo; i < hi; ++i) array[i] = true;

      size_t stretches = 0;
      for (uint64_t i = 0; i < kNumbers; ++i) stretches += array[i] && (i == 0 || !array[i - 1]);
      ASSERT_EQ(set.intervals(), stretches);

      auto [from, to] = draw();
      bool all = true;
      for (uint64_t i = from; i < to; ++i) all = all && array[i];
      ASSERT_EQ(set.Holds(from, to), all) << from << " " << to;
      uint64_t at = from;
      bool last = false;
      for (auto [lo_piece, hi_piece, inside] : Pieces(set, from, to)) {
        ASSERT_EQ(lo_piece, at);
        ASSERT_LT(lo_piece, hi_piece);
        ASSERT_TRUE(lo_piece == from || inside != last) << "two pieces of a kind in a row";
        for (uint64_t i = lo_piece; i < hi_piece; ++i) ASSERT_EQ(array[i], inside);
        at = hi_piece;
        last = inside;
      }
      ASSERT_EQ(at, std::max(from, to));
    }
  }
}

}  // namespace
}  // namespace belay
