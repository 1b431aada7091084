#include "machine/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace belay::machine {
namespace {

using facts::Cann;
using facts::Fn;
using testing::HasSubstr;

options::Options Of(const std::string& product) {
  options::Options options;
  options.product = product;
  return options;
}

TEST(MachineTest, TheDefaultsAreTheProduct) {
  Machine machine = Machine::Build(options::Options()).value();
  EXPECT_EQ(machine.device_count(), 8);
  EXPECT_EQ(machine.memory_bytes(), 61ull << 30);
  EXPECT_EQ(machine.p2p_window_bytes(), 0u);
  EXPECT_STREQ(machine.soc_name(), "Ascend910B3");
  EXPECT_EQ(machine.cann(), Cann::k90);
  EXPECT_EQ(machine.limits().streams.value, 1984u);
  EXPECT_TRUE(machine.has_huge_1g());
  EXPECT_TRUE(machine.Reachable(0, 7));
  EXPECT_EQ(machine.Link(0, 7), LinkKind::kHccs);
}

TEST(MachineTest, OptionsOverrideTheProduct) {
  options::Options options = Of("atlas-800t-a2");
  options.cann = Cann::k81;
  options.devices = 20;
  options.hbm_bytes = 8ull << 30;
  options.quirks = {{"event.cross_device", "allow"}};
  Machine machine = Machine::Build(options).value();
  EXPECT_EQ(machine.device_count(), 20);
  EXPECT_EQ(machine.memory_bytes(), 8ull << 30);
  EXPECT_EQ(machine.limits().streams.value, 2048u);
  EXPECT_TRUE(machine.quirks().event_cross_device);
  EXPECT_FALSE(machine.Reachable(7, 8));
  EXPECT_TRUE(machine.Reachable(8, 15));
  EXPECT_TRUE(machine.Reachable(16, 19));
}

TEST(MachineTest, TheInferenceProductHasCardsSwitchesAndAWindow) {
  Machine machine = Machine::Build(Of("atlas-300i-duo")).value();
  EXPECT_EQ(machine.family(), facts::Family::kInf);
  EXPECT_EQ(machine.memory_kind(), MemoryKind::kDdr);
  EXPECT_FALSE(machine.has_huge_1g());
  EXPECT_EQ(machine.p2p_window_bytes(), 5ull << 30);
  EXPECT_TRUE(machine.Reachable(0, 1));
  EXPECT_TRUE(machine.Reachable(1, 2));
  EXPECT_FALSE(machine.Reachable(3, 4));
  EXPECT_EQ(TopologyBit(machine.Link(0, 1)), 0x02u);
  EXPECT_EQ(TopologyBit(machine.Link(0, 4)), 0x08u);
}

// SPEC 10 §5.4, 32 §2.1
TEST(MachineTest, TheLinksOfTheOtherProducts) {
  Machine a3 = Machine::Build(Of("atlas-900-a3")).value();
  EXPECT_EQ(TopologyBit(a3.Link(6, 7)), 0x20u);
  EXPECT_EQ(TopologyBit(a3.Link(7, 8)), 0x40u);
  EXPECT_TRUE(a3.Reachable(0, 1));
  EXPECT_TRUE(a3.Reachable(0, 15));
  EXPECT_EQ(a3.limits().max_peers.value, 0u);

  Machine training = Machine::Build(Of("ascend-910a")).value();
  EXPECT_EQ(TopologyBit(training.Link(0, 3)), 0x01u);
  EXPECT_EQ(TopologyBit(training.Link(3, 4)), 0x10u);
  EXPECT_TRUE(training.Reachable(3, 4));
  EXPECT_FALSE(training.has_huge_1g());

  Machine pro = Machine::Build(Of("atlas-300i-pro")).value();
  EXPECT_EQ(TopologyBit(pro.Link(0, 3)), 0x02u);
  EXPECT_EQ(TopologyBit(pro.Link(3, 4)), 0x08u);
  EXPECT_TRUE(pro.Reachable(0, 3));
  EXPECT_FALSE(pro.Reachable(3, 4));
  EXPECT_EQ(pro.p2p_window_bytes(), 5ull << 30);

  Machine board = Machine::Build(Of("atlas-200i-500-a2")).value();
  EXPECT_EQ(board.device_count(), 1);
  EXPECT_TRUE(board.Lacks(Fn::aclrtDeviceCanAccessPeer));
  EXPECT_TRUE(board.Lacks(Fn::aclrtGetDevicesTopo));

  Machine newest = Machine::Build(Of("ascend-950")).value();
  EXPECT_TRUE(newest.Reachable(0, 7));
  EXPECT_EQ(TopologyBit(newest.Link(0, 7)), 0x40u);
}

TEST(MachineTest, TheWindowFollowsTheMemoryInWholePages) {
  options::Options options = Of("atlas-300i-duo");
  options.hbm_bytes = 10ull << 20;
  EXPECT_EQ(Machine::Build(options).value().p2p_window_bytes(), 2ull << 20);
}

TEST(MachineTest, ErrorsNameTheOption) {
  options::Options options;
  options.hbm_bytes = 3000000;
  EXPECT_THAT(Machine::Build(options).error(),
              HasSubstr("option 'hbm': '3000000' must be a multiple of 2MiB"));
  options.hbm_bytes = 1ull << 63;
  EXPECT_THAT(Machine::Build(options).error(), HasSubstr("at most 16TiB"));
  options = {};
  options.quirks = {{"peer.lenient", "perhaps"}};
  EXPECT_THAT(Machine::Build(options).error(), HasSubstr("option 'quirk': quirk 'peer.lenient': 'perhaps'"));
  EXPECT_THAT(Machine::Build(Of("atlas")).error(),
              HasSubstr("option 'product': there is no product 'atlas'"));
}

TEST(MachineTest, LacksFollowsProductAndVersion) {
  options::Options options;
  EXPECT_FALSE(Machine::Build(options)->Lacks(Fn::aclrtMalloc));
  EXPECT_TRUE(Machine::Build(options)->Lacks(Fn::aclrtDeviceGetP2PAtomicCapabilities));
  options.cann = Cann::k91;
  EXPECT_FALSE(Machine::Build(options)->Lacks(Fn::aclrtDeviceGetP2PAtomicCapabilities));
  options.cann = Cann::k81;
  EXPECT_TRUE(Machine::Build(options)->Lacks(Fn::aclrtGetDevicesTopo));
}

TEST(MachineTest, TheBoardFormLacksMore) {
  std::string text(ProductText("atlas-800t-a2"));
  auto replace = [&](const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  };
  replace("family = \"A2\"", "family = \"200I\"");
  std::string path = testing::TempDir() + "belay_board_XXXXXX.toml";
  close(mkstemps(path.data(), 5));
  std::ofstream(path) << text;
  Machine card = Machine::Build(Of(path)).value();
  replace("form = \"ep\"", "form = \"rc\"");
  std::ofstream(path) << text;
  Machine board = Machine::Build(Of(path)).value();
  unlink(path.c_str());

  EXPECT_FALSE(card.Lacks(Fn::aclrtGetDevicesTopo));
  EXPECT_TRUE(board.Lacks(Fn::aclrtGetDevicesTopo));
  EXPECT_TRUE(board.Lacks(Fn::aclrtMemcpy2d));
  EXPECT_TRUE(board.Lacks(Fn::aclrtReserveMemAddress));
  EXPECT_TRUE(board.Lacks(Fn::aclrtDeviceEnablePeerAccess));
  EXPECT_FALSE(board.Lacks(Fn::aclrtMemcpy));
}

TEST(MachineTest, VersionsPerProfile) {
  EXPECT_EQ(AclVersionOf(Cann::k81).minor, 14);
  EXPECT_EQ(AclVersionOf(Cann::k90).minor, 15);
  EXPECT_STREQ(CannVersionText(Cann::k81), "8.1.RC1");
  EXPECT_STREQ(CannVersionText(Cann::k91), "9.1.0");
}

}  // namespace
}  // namespace belay::machine
