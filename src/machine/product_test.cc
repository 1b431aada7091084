#include "machine/product.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace belay::machine {
namespace {

using testing::HasSubstr;

constexpr int kV81 = static_cast<int>(facts::Cann::k81);
constexpr int kV90 = static_cast<int>(facts::Cann::k90);

// The text of an embedded product with one piece replaced.
std::string Edited(const std::string& from, const std::string& to) {
  std::string text(ProductText("atlas-800t-a2"));
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string ErrorOf(const std::string& text) {
  auto product = ParseProduct(text, "x.toml");
  EXPECT_FALSE(product);
  return product ? "" : product.error();
}

TEST(ProductTest, EveryEmbeddedProductLoadsUnderItsName) {
  std::vector<std::string> names = ProductNames();
  EXPECT_THAT(names, testing::ElementsAre("ascend-910a", "ascend-950", "atlas-200i-500-a2", "atlas-300i-duo",
                                          "atlas-300i-pro", "atlas-800t-a2", "atlas-900-a3"));
  for (const std::string& name : names) {
    auto product = LoadProduct(name);
    ASSERT_TRUE(product) << product.error();
    EXPECT_EQ(product->name, name);
    EXPECT_FALSE(product->soc.empty());
  }
}

TEST(ProductTest, TheDefaultProduct) {
  Product product = LoadProduct("atlas-800t-a2").value();
  EXPECT_EQ(product.family, facts::Family::kA2);
  EXPECT_EQ(product.soc, "Ascend910B3");
  EXPECT_EQ(product.devices.value, 8u);
  EXPECT_EQ(product.devices.mark, Mark::kDoc);
  EXPECT_EQ(product.memory_bytes.value, 61ull << 30);
  EXPECT_EQ(product.memory_bytes.mark, Mark::kMeasured);
  EXPECT_EQ(product.memory_kind, MemoryKind::kHbm);
  EXPECT_EQ(product.limits[kV90].streams.value, 1984u);
  EXPECT_EQ(product.limits[kV81].streams.value, 2048u);
  EXPECT_EQ(product.limits[kV81].events.value, 65536u);
  EXPECT_EQ(product.limits[kV90].processes.value, 63u);
  EXPECT_EQ(product.cores.npu_arch.value, 2201u);
  ASSERT_EQ(product.links.size(), 1u);
  EXPECT_EQ(product.links[0].bandwidth_gbps.mark, Mark::kAssumed);
}

// SPEC 20 §2.1, 10 §4.7, 30 §0.3
TEST(ProductTest, TheLimitsOfEachFamily) {
  struct Row {
    const char* name;
    facts::Family family;
    uint32_t devices, streams, events, notifies, processes;
    uint64_t memory_mib;
  };
  for (const Row& row : {
           Row{"ascend-950", facts::Family::k950, 8, 1984, 65536, 65535, 64, 92 << 10},
           Row{"atlas-900-a3", facts::Family::kA3, 16, 1984, 65536, 8192, 63, 61 << 10},
           Row{"atlas-800t-a2", facts::Family::kA2, 8, 1984, 65536, 8192, 63, 61 << 10},
           Row{"atlas-200i-500-a2", facts::Family::k200I, 1, 512, 65536, 2048, 64, 10810},
           Row{"atlas-300i-duo", facts::Family::kInf, 8, 1024, 1023, 1024, 64, 20 << 10},
           Row{"atlas-300i-pro", facts::Family::kInf, 8, 1024, 1023, 1024, 64, 20 << 10},
           Row{"ascend-910a", facts::Family::kTrn, 8, 2048, 65535, 1024, 64, 30 << 10},
       }) {
    SCOPED_TRACE(row.name);
    Product product = LoadProduct(row.name).value();
    EXPECT_EQ(product.family, row.family);
    EXPECT_EQ(product.devices.value, row.devices);
    EXPECT_EQ(product.memory_bytes.value, row.memory_mib << 20);
    const Limits& limits = product.limits[kV90];
    for (const auto& [limit, value] : {std::pair{limits.streams, row.streams},
                                       {limits.events, row.events},
                                       {limits.notifies, row.notifies},
                                       {limits.processes, row.processes}}) {
      EXPECT_EQ(limit.value, value);
      EXPECT_EQ(limit.mark, Mark::kDoc);
    }
  }
}

TEST(ProductTest, OnlyTheLinksOfA3AreMeasured) {
  for (const std::string& name : ProductNames()) {
    const Product product = LoadProduct(name).value();
    for (const LinkRule& rule : product.links) {
      const Mark expected = name == "atlas-900-a3" ? Mark::kMeasured : Mark::kAssumed;
      EXPECT_EQ(rule.bandwidth_gbps.mark, expected) << name;
      EXPECT_EQ(rule.latency_us.mark, expected) << name;
      EXPECT_GT(rule.bandwidth_gbps.value, 0) << name;
    }
  }
}

TEST(ProductTest, ErrorsNameFileLineKeyAndRule) {
  struct Case {
    const char* from;
    const char* to;
    const char* error;
  };
  for (const Case& c : {
           Case{"schema = 1", "schema = 2", "x.toml:3: schema must be 1"},
           Case{"family = \"A2\"", "family = \"A7\"", "family is 'A7' but must be one of 950, A3, A2"},
           Case{"soc = \"Ascend910B3\"", "soc = 3", "soc must be a text in quotes"},
           Case{"form = \"ep\"", "form = \"rc\"", "form can be \"rc\" for the family 200I only"},
           Case{"count = { value = 8, source = \"doc\" }", "count = 8",
                "devices.count must say where it comes from"},
           Case{"count = { value = 8, source = \"doc\" }", "count = { value = 8 }",
                "devices.count.source is missing"},
           Case{"count = { value = 8, source = \"doc\" }", "count = { value = 8, source = \"me\" }",
                "devices.count.source is 'me' but must be one of doc, measured, assumed"},
           Case{"count = { value = 8,", "count = { value = 0,",
                "devices.count.value must be a whole number from 1"},
           Case{"count = { value = 8,", "count = { value = -8,",
                "devices.count.value must be a whole number"},
           Case{"count = { value = 8,", "count = { value = 8.0,",
                "devices.count.value must be a whole number"},
           Case{"count = { value = 8,", "count = { values = 8,", "devices.count.value is missing"},
           Case{"per_card = { value = 1,", "per_card = { value = 3,", "a multiple of devices.per_card"},
           Case{"per_card = ", "physical = { value = [1, 2], source = \"doc\" }\nper_card = ",
                "devices.physical must give each of the devices.count devices an id of its own"},
           Case{"per_card = ", "physical = { value = [-1], source = \"doc\" }\nper_card = ",
                "devices.physical.value must be a list of whole numbers from 0 to 1023"},
           Case{"[cores]", "[simt]\nwarp_size = 32\n[cores]", "simt.warp_size must say where it comes from"},
           Case{"per_card", "percard", "devices.per_card is missing"},
           Case{"\"61GiB\"", "\"61GB\"", "memory.bytes.value must be bytes, or a whole number with KiB"},
           Case{"\"61GiB\"", "1000000", "memory.bytes must be a multiple of 2MiB"},
           Case{"p2p_window_percent = { value = 0", "p2p_window_percent = { value = 25",
                "but for the family INF"},
           Case{"[limits.\"8.1\"]", "[limits.\"8.2\"]",
                "limits.8.2 is not a key of this table; the nearest are"},
           Case{"kind = \"hccs\"", "kind = \"hcs\"", "links[0].kind is 'hcs' but must be one of hccs"},
           Case{"group = 8", "group = 1", "links[0].group must be a whole number from 2 to 1024"},
           Case{"peer = true", "peer = 1", "links[0].peer must be true or false"},
           Case{"peer = true", "match = \"any\"\npeer = true", "links[0].match is 'any'"},
           Case{"value = 28.0", "value = \"fast\"", "links[0].bandwidth_gbps.value must be a number"},
           Case{"[[links]]", "[links]", "links must be tables of the form [[links]]"},
           Case{"[cores]", "[core]", "cores is missing"},
           Case{"[quirks]", "[quirks]\nevent.cross_device = \"maybe\"", "'maybe' must be one of off, allow"},
           Case{"[quirks]", "[quirks]\nkernels = \"skip\"", "quirk 'kernels' is not built yet"},
           Case{"[quirks]", "[quirk]", "quirk is not a key of this table; the nearest are quirks"},
           Case{"title = ", "titel = \"t\"\ntitle = ",
                "titel is not a key of this table; the nearest are title"},
           Case{"schema = 1", "schema = ", "x.toml:3: "},
       }) {
    EXPECT_THAT(ErrorOf(Edited(c.from, c.to)), HasSubstr(c.error)) << c.to;
  }
}

TEST(ProductTest, QuirksMayBeDotted) {
  auto product = ParseProduct(Edited("[quirks]",
                                     "[quirks]\nevent.cross_device = \"allow\"\npeer.require_both = true\n"
                                     "stream_exhaust_code = 207005\n"),
                              "x.toml");
  ASSERT_TRUE(product) << product.error();
  EXPECT_TRUE(product->quirks.event_cross_device);
  EXPECT_TRUE(product->quirks.peer_require_both);
  EXPECT_EQ(product->quirks.stream_exhaust_code, 207005);
}

TEST(ProductTest, AnUnknownNameListsTheKnownOnes) {
  auto product = LoadProduct("atlas-900");
  ASSERT_FALSE(product);
  EXPECT_EQ(product.error(),
            "there is no product 'atlas-900'; known are ascend-910a, ascend-950, atlas-200i-500-a2, "
            "atlas-300i-duo, atlas-300i-pro, atlas-800t-a2, atlas-900-a3, or the path of a file that ends in "
            ".toml");
  EXPECT_THAT(LoadProduct("nowhere.toml").error(), HasSubstr("'nowhere.toml' cannot be read"));
  EXPECT_THAT(LoadProduct("/tmp/").error(), HasSubstr("cannot be read"));
}

TEST(ProductTest, CutOrSpoiledTextIsAnErrorOrAProductButNeverACrash) {
  const std::string text(ProductText("atlas-300i-duo"));
  for (size_t size = 0; size < text.size(); size += 3)
    (void)ParseProduct(std::string_view(text).substr(0, size), "x");
  for (size_t at = 0; at < text.size(); at += 5) {
    std::string spoiled = text;
    spoiled[at] = '"';
    (void)ParseProduct(spoiled, "x");
  }
}

// The worked example of the guide is the first ```toml block of its page.
TEST(ProductTest, TheExampleOfTheGuideLoads) {
  std::filesystem::path page =
      std::filesystem::path(__FILE__).parent_path() / "../../docs/guide/product-file.md";
  std::ifstream file(page);
  ASSERT_TRUE(file) << page;
  std::stringstream text;
  text << file.rdbuf();
  const std::string guide = text.str();
  const std::string fence = "```toml\n";
  size_t start = guide.find(fence);
  ASSERT_NE(start, std::string::npos);
  start += fence.size();
  auto product = ParseProduct(guide.substr(start, guide.find("```", start) - start), "product-file.md");
  ASSERT_TRUE(product) << product.error();
  EXPECT_EQ(product->name, "lab-box");
  LinkGraph graph(static_cast<int>(product->devices.value), product->links);
  EXPECT_TRUE(graph.Reachable(0, 7));
  EXPECT_TRUE(graph.Reachable(1, 9));
  EXPECT_FALSE(graph.Reachable(1, 10));
  EXPECT_TRUE(product->quirks.event_cross_device);
}

}  // namespace
}  // namespace belay::machine
