#include "options/values.h"

#include <gtest/gtest.h>

#include "options/nearest.h"

namespace belay::options {
namespace {

TEST(ValuesTest, SizesAreBytesOrBinaryUnits) {
  EXPECT_EQ(ParseSize("0"), 0u);
  EXPECT_EQ(ParseSize("4096"), 4096u);
  EXPECT_EQ(ParseSize("3KiB"), 3072u);
  EXPECT_EQ(ParseSize("2MiB"), 2u << 20);
  EXPECT_EQ(ParseSize("61GiB"), 61ull << 30);
  EXPECT_EQ(ParseSize("16TiB"), 16ull << 40);
  for (const char* bad : {"", "8G", "8GB", "8 GiB", "1.5GiB", "-1", "+1", "GiB", "8gib",
                          "99999999999999999999", "16777216TiB", "0x10", "8GiB "}) {
    EXPECT_FALSE(ParseSize(bad)) << bad;
  }
}

TEST(ValuesTest, ASizeIsWrittenInItsLargestWholeUnit) {
  EXPECT_EQ(FormatSize(0), "0");
  EXPECT_EQ(FormatSize(1000), "1000");
  EXPECT_EQ(FormatSize(1536ull << 20), "1536MiB");
  EXPECT_EQ(FormatSize(2ull << 40), "2TiB");
  for (uint64_t bytes : {1ull, 1024ull, 61ull << 30, (1ull << 40) - 1})
    EXPECT_EQ(ParseSize(FormatSize(bytes)), bytes);
}

TEST(ValuesTest, NumbersAreReadStrictly) {
  EXPECT_EQ(ParseWhole("18446744073709551615"), UINT64_MAX);
  EXPECT_FALSE(ParseWhole("18446744073709551616"));
  EXPECT_FALSE(ParseWhole("1 "));
  EXPECT_EQ(ParseDecimal("0.25"), 0.25);
  EXPECT_EQ(ParseDecimal("10"), 10.0);
  for (const char* bad : {"", "-1", "1e3", "inf", "nan", "-0", "1.2.3", " 1"})
    EXPECT_FALSE(ParseDecimal(bad)) << bad;
}

TEST(NearestTest, CountsLettersAddedDroppedChangedAndSwapped) {
  EXPECT_EQ(EditDistance("", ""), 0);
  EXPECT_EQ(EditDistance("", "abc"), 3);
  EXPECT_EQ(EditDistance("check", "chek"), 1);
  EXPECT_EQ(EditDistance("check", "cehck"), 1);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3);
}

TEST(NearestTest, ListsTheBestAndLeavesOutTheFar) {
  const std::string_view names[] = {"peer.lenient", "peer.require_both", "event.cross_device", "strict_init"};
  EXPECT_EQ(Join(Nearest("event.cross_devise", names)), "event.cross_device");
  EXPECT_EQ(Join(Nearest("peer", names)), "peer.lenient, peer.require_both");
  EXPECT_EQ(Nearest("zzzzzzz", names).size(), 3u);
}

}  // namespace
}  // namespace belay::options
