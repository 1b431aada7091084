#include "machine/attribute.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <set>

namespace belay::machine {
namespace {
using facts::Cann;
using Kind = AttributeValue::Kind;

// The default product, edited.
Machine Edited(const std::vector<std::pair<std::string, std::string>>& edits, Cann cann,
               const std::string& more = "") {
  std::string text(ProductText("atlas-800t-a2"));
  for (const auto& [from, to] : edits) text.replace(text.find(from), from.size(), to);
  std::string path = testing::TempDir() + "belay_attribute_XXXXXX.toml";
  close(mkstemps(path.data(), 5));
  std::ofstream(path) << text.substr(0, text.find("[[links]]")) << more
                      << text.substr(text.find("[[links]]"));
  options::Options options;
  options.product = path;
  options.cann = cann;
  auto machine = Machine::Build(options);
  unlink(path.c_str());
  EXPECT_TRUE(machine) << machine.error();
  return std::move(*machine);
}

Machine OfFamily(const char* family, Cann cann, const std::string& more = "") {
  return Edited({{"family = \"A2\"", "family = \"" + std::string(family) + "\""}}, cann, more);
}

// -1: no such number, -2: not here.
int64_t Value(const Machine& machine, int32_t attribute, int logical = 3) {
  AttributeValue got = Attribute(machine, logical, attribute);
  return got.kind == Kind::kKnown ? got.value : got.kind == Kind::kNotHere ? -2 : -1;
}

constexpr char kSimt[] = R"([simt]
warp_size = { value = 32, source = "assumed" }
threads_per_vector_core = { value = 2048, source = "assumed" }
local_bytes_per_vector_core = { value = 253952, source = "assumed" }
max_grid_x = { value = 11, source = "assumed" }
max_grid_y = { value = 12, source = "assumed" }
max_grid_z = { value = 13, source = "assumed" }
max_blocks_per_grid = { value = 14, source = "assumed" }
max_threads_per_block = { value = 15, source = "assumed" }
max_block_x = { value = 16, source = "assumed" }
max_block_y = { value = 17, source = "assumed" }
max_block_z = { value = 18, source = "assumed" }

)";

TEST(AttributeTest, ComeFromTheProduct) {
  Machine a2 = OfFamily("A2", Cann::k90);
  const std::pair<int32_t, int64_t> rows[] = {
      {1, 6},    {101, 20},          {102, 20}, {201, 40}, {202, -2}, {205, -2}, {212, -2}, {301, 61ll << 30},
      {401, 0},  {302, 192ll << 20}, {402, 3},  {403, -2}, {404, -2}, {405, -2}, {406, 0},  {407, 0},
      {408, -2}, {409, -2},          {501, 0},  {601, -2}, {0, -1},   {2, -1},   {213, -1}, {-1, -1}};
  for (const auto& [attribute, value] : rows) EXPECT_EQ(Value(a2, attribute), value) << attribute;
  Machine newest = OfFamily("A2", Cann::k91);
  for (int attribute = 202; attribute <= 212; ++attribute) EXPECT_EQ(Value(newest, attribute), 0);
  EXPECT_EQ(Value(newest, 408), 0);
  EXPECT_EQ(Value(newest, 409), -2);
  EXPECT_EQ(Value(newest, 601), 2201);
}

TEST(AttributeTest, DifferByFamily) {
  Machine a3 = OfFamily("A3", Cann::k90);
  EXPECT_EQ(Value(a3, 402), 1) << "two dies are one chip";
  EXPECT_EQ(Value(a3, 403), 3);
  EXPECT_EQ(Value(a3, 404), 0);
  EXPECT_EQ(Value(a3, 405), 0);
  EXPECT_EQ(Value(OfFamily("TRN", Cann::k90), 201), 0);
  Machine bare = OfFamily("950", Cann::k91);
  EXPECT_EQ(Value(bare, 406), -2);
  EXPECT_EQ(Value(bare, 202), -2) << "no [simt], no number";
}

TEST(AttributeTest, ThreadsOfVectorCores) {
  Machine newest = OfFamily("950", Cann::k91, kSimt);
  const int64_t values[] = {32, 2048, 253952, 11, 12, 13, 14, 15, 16, 17, 18};
  for (int i = 0; i < 11; ++i) EXPECT_EQ(Value(newest, 202 + i), values[i]) << 202 + i;
  Machine older = OfFamily("950", Cann::k90, kSimt);
  EXPECT_EQ(Value(older, 204), 253952);
  EXPECT_EQ(Value(older, 205), -2);
  EXPECT_EQ(Value(OfFamily("950", Cann::k85, kSimt), 202), -2);
}

TEST(AttributeTest, AContainerSeesSomeDevicesOfItsHost) {
  const std::vector<std::pair<std::string, std::string>> edits = {
      {"count = { value = 8, source = \"doc\" }",
       "count = { value = 3, source = \"assumed\" }\nphysical = { value = [1, 6, 9], source = \"assumed\" "
       "}"}};
  Machine machine = Edited(edits, Cann::k90);
  EXPECT_EQ(machine.device_count(), 3);
  EXPECT_EQ(machine.PhysicalId(1), 6);
  EXPECT_EQ(machine.LogicalOfPhysical(9), 2);
  EXPECT_EQ(machine.LogicalOfPhysical(0), -1);
  EXPECT_EQ(Value(machine, 402, 1), 6);
  EXPECT_TRUE(machine.Reachable(0, 1)) << "both in the first group of eight";
  EXPECT_FALSE(machine.Reachable(0, 2));
}

TEST(AttributeTest, UuidsAreStableAndDiffer) {
  Machine machine = OfFamily("A2", Cann::k90);
  std::set<std::array<uint8_t, 16>> seen;
  for (int device = 0; device < 8; ++device) seen.insert(Uuid(machine, device));
  EXPECT_EQ(seen.size(), 8u);
  EXPECT_EQ(Uuid(machine, 3), Uuid(OfFamily("A2", Cann::k81), 3));
}

}  // namespace
}  // namespace belay::machine
