#include "machine/topology.h"

#include <gtest/gtest.h>

namespace belay::machine {
namespace {

LinkRule Rule(LinkKind kind, int group, bool peer, bool crosswise = false) {
  LinkRule rule;
  rule.kind = kind;
  rule.group = group;
  rule.peer = peer;
  rule.crosswise = crosswise;
  return rule;
}

TEST(TopologyTest, TheFirstRuleThatHoldsDecides) {
  LinkGraph graph(8, {Rule(LinkKind::kSio, 2, true), Rule(LinkKind::kPcieSwitch, 4, true),
                      Rule(LinkKind::kHostBridge, 8, false)});
  EXPECT_EQ(graph.Link(0, 0), LinkKind::kSelf);
  EXPECT_EQ(graph.Link(0, 1), LinkKind::kSio);
  EXPECT_EQ(graph.Link(1, 2), LinkKind::kPcieSwitch);
  EXPECT_EQ(graph.Link(3, 4), LinkKind::kHostBridge);
  EXPECT_FALSE(graph.Reachable(0, 0));
  EXPECT_TRUE(graph.Reachable(0, 1));
  EXPECT_TRUE(graph.Reachable(3, 0));
  EXPECT_FALSE(graph.Reachable(3, 4));
}

TEST(TopologyTest, NoRuleJoinsTwoNodes) {
  LinkGraph graph(8, {Rule(LinkKind::kHccs, 8, true)});
  EXPECT_TRUE(graph.Reachable(1016, 1023));
  EXPECT_FALSE(graph.Reachable(7, 8));
  EXPECT_FALSE(graph.Reachable(0, 1016));
  EXPECT_EQ(graph.Link(0, 8), LinkKind::kNone);
}

TEST(TopologyTest, GroupsAreCountedWithinTheNode) {
  // 6 is no multiple of 4: device 6 must start a node and with it a group.
  LinkGraph graph(6, {Rule(LinkKind::kHccs, 4, true)});
  EXPECT_TRUE(graph.Reachable(6, 9));
  EXPECT_FALSE(graph.Reachable(4, 6));
  EXPECT_TRUE(graph.Reachable(4, 5));
  EXPECT_FALSE(graph.Reachable(3, 4));
}

TEST(TopologyTest, CrosswiseJoinsEqualPositionsOfTheGroups) {
  LinkGraph graph(16, {Rule(LinkKind::kHccs, 8, true), Rule(LinkKind::kPcieSwitch, 8, true, true)});
  EXPECT_EQ(graph.Link(0, 7), LinkKind::kHccs);
  EXPECT_EQ(graph.Link(3, 11), LinkKind::kPcieSwitch);
  EXPECT_FALSE(graph.Reachable(3, 12));
}

TEST(TopologyTest, EveryLinkHasExactlyOneTopologyBit) {
  for (LinkKind kind : {LinkKind::kNone, LinkKind::kSelf, LinkKind::kHccs, LinkKind::kHccsSwitch,
                        LinkKind::kSio, LinkKind::kPcieSwitch, LinkKind::kHostBridge, LinkKind::kSystem}) {
    EXPECT_EQ(__builtin_popcountll(TopologyBit(kind)), 1) << LinkKindName(kind);
  }
  EXPECT_EQ(TopologyBit(LinkKind::kHccs), 0x01u);
  EXPECT_EQ(TopologyBit(LinkKind::kPcieSwitch), 0x02u);
  EXPECT_EQ(TopologyBit(LinkKind::kNone), 0x10u);
}

TEST(TopologyTest, ReachabilityIsSymmetricAndFollowsTheLink) {
  LinkGraph graph(8, {Rule(LinkKind::kSio, 2, true), Rule(LinkKind::kHostBridge, 8, false)});
  for (int a = 0; a < 1024; ++a) {
    for (int b = a % 7; b < 1024; b += 7) {
      ASSERT_EQ(graph.Reachable(a, b), graph.Reachable(b, a)) << a << " " << b;
      ASSERT_EQ(graph.Reachable(a, b), graph.Link(a, b) == LinkKind::kSio) << a << " " << b;
    }
  }
}

}  // namespace
}  // namespace belay::machine
