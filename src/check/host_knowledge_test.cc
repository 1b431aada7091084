#include "check/host_knowledge.h"

#include <gtest/gtest.h>

#include <map>

namespace belay::check {
namespace {

using Point = HostKnowledge::Point;

class HostKnowledgeTest : public testing::Test {
 protected:
  // Streams and signals are only compared.
  const void* Name(int i) const { return &names_[i]; }
  Point At(int stream, uint64_t sequence) const { return {Name(stream), sequence}; }
  std::map<int, uint64_t> Learn(Point point) {
    std::map<int, uint64_t> learned;
    knowledge_.Learn(point, [&](Point now) {
      uint64_t& latest = learned[static_cast<int>(static_cast<const char*>(now.stream) - names_)];
      EXPECT_LT(latest, now.sequence);
      latest = now.sequence;
    });
    return learned;
  }
  using Learned = std::map<int, uint64_t>;

  HostKnowledge knowledge_;
  const char names_[100] = {};
};

TEST_F(HostKnowledgeTest, AStreamIsKnownUpToATask) {
  EXPECT_EQ(Learn(At(1, 5)), (Learned{{1, 5}}));
  EXPECT_EQ(Learn(At(1, 5)), Learned());
  EXPECT_EQ(Learn(At(1, 3)), Learned());
  EXPECT_EQ(Learn(At(1, 6)), (Learned{{1, 6}}));
}

TEST_F(HostKnowledgeTest, WaitsLeadToOtherStreams) {
  knowledge_.AddWait(At(1, 4), At(2, 7));
  knowledge_.AddWait(At(2, 6), At(3, 2));
  EXPECT_EQ(Learn(At(1, 3)), (Learned{{1, 3}}));
  EXPECT_EQ(Learn(At(1, 4)), (Learned{{1, 4}, {2, 7}, {3, 2}}));
}

TEST_F(HostKnowledgeTest, AWaitBehindWhatIsKnownIsNotFollowed) {
  knowledge_.AddWait(At(2, 6), At(3, 2));
  knowledge_.AddWait(At(1, 4), At(2, 5));
  EXPECT_EQ(Learn(At(1, 9)), (Learned{{1, 9}, {2, 5}}));
  EXPECT_EQ(Learn(At(2, 6)), (Learned{{2, 6}, {3, 2}}));
}

TEST_F(HostKnowledgeTest, StreamsMayWaitForEachOtherInTurn) {
  for (uint64_t turn = 1; turn < 1000; ++turn) {
    knowledge_.AddWait(At(1, 2 * turn), At(2, 2 * turn - 1));
    knowledge_.AddWait(At(2, 2 * turn), At(1, 2 * turn));
  }
  EXPECT_EQ(Learn(At(2, 1998)), (Learned{{1, 1998}, {2, 1998}}));
}

TEST_F(HostKnowledgeTest, ASignalLeadsToWhoChangedIt) {
  knowledge_.AddAwait(At(1, 3), Name(50));
  knowledge_.AddChange(At(2, 8), Name(50));
  knowledge_.AddChange(At(2, 9), Name(51));
  EXPECT_TRUE(knowledge_.Before(At(2, 8), At(1, 3)));
  EXPECT_FALSE(knowledge_.Before(At(2, 9), At(1, 3)));
  EXPECT_EQ(Learn(At(1, 3)), (Learned{{1, 3}, {2, 8}}));
}

TEST_F(HostKnowledgeTest, BeforeFollowsStreamsAndWaits) {
  EXPECT_TRUE(knowledge_.Before(At(1, 3), At(1, 4)));
  EXPECT_FALSE(knowledge_.Before(At(1, 3), At(1, 3)));
  knowledge_.AddWait(At(2, 5), At(3, 6));
  knowledge_.AddWait(At(3, 2), At(1, 4));
  EXPECT_TRUE(knowledge_.Before(At(1, 4), At(2, 5)));
  EXPECT_TRUE(knowledge_.Before(At(1, 3), At(2, 9)));
  EXPECT_FALSE(knowledge_.Before(At(1, 5), At(2, 9)));
  EXPECT_FALSE(knowledge_.Before(At(1, 3), At(2, 4)));
  EXPECT_FALSE(knowledge_.Before(At(2, 5), At(1, 3)));
}

TEST_F(HostKnowledgeTest, ManyWaitsThatNobodyLearnsOfAreMergedNotLost) {
  constexpr uint64_t kWaits = 200'000;
  for (uint64_t i = 1; i <= kWaits; ++i) knowledge_.AddWait(At(1, i), At(2, i));
  EXPECT_EQ(Learn(At(1, kWaits)), (Learned{{1, kWaits}, {2, kWaits}}));
}

}  // namespace
}  // namespace belay::check
