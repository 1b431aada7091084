#include "machine/visibility.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace belay::machine {
namespace {

using Ids = std::vector<int>;

struct Case {
  const char* list;
  int devices;
  Ids visible;
  bool rejected;
  const char* dropped;
};

TEST(VisibilityTest, FollowsTheDocumentedTable) {
  const Case cases[] = {
      {nullptr, 4, {0, 1, 2, 3}, false, ""},
      {"2", 4, {2}, false, ""},
      {"0,1,3", 4, {0, 1, 3}, false, ""},
      {"0,1,3,4", 4, {0, 1, 3}, false, "4"},
      {"4", 4, {}, false, "4"},
      {"1,0", 4, {}, true, "1,0"},
      {"2,2", 4, {}, true, "2,2"},
      {"", 4, {}, false, ""},
      {" 1", 4, {}, false, " 1"},
      {"-1", 4, {}, false, "-1"},
      {"a", 4, {}, false, "a"},
      {"1, 2,3", 8, {1}, false, " 2,3"},
      {"1,3,8", 8, {1, 3}, false, "8"},
      {"0,,1", 8, {0}, false, ",1"},
      {"1,9,0", 8, {1}, false, "9,0"},
      {"1,1,9", 8, {}, true, "1,1,9"},
      {"1 ,2", 8, {1}, false, " ,2"},
      {"1x,2", 8, {1}, false, "x,2"},
      {"00,007", 8, {0, 7}, false, ""},
      {"0,", 8, {0}, false, ""},
      {",0", 8, {}, false, ",0"},
      {"99999999999999999999999", 8, {}, false, "99999999999999999999999"},
      {"0,4294967297", 8, {0}, false, "4294967297"},
  };
  for (const Case& c : cases) {
    Visibility seen = ParseVisibility(c.list, c.devices);
    EXPECT_EQ(seen.logical, c.visible) << (c.list ? c.list : "unset");
    EXPECT_EQ(seen.rejected, c.rejected) << (c.list ? c.list : "unset");
    EXPECT_EQ(seen.dropped, c.dropped) << (c.list ? c.list : "unset");
  }
}

TEST(VisibilityTest, TheReasonNamesRuleAndEntry) {
  using testing::HasSubstr;
  EXPECT_EQ(ParseVisibility(nullptr, 8).reason, "");
  EXPECT_EQ(ParseVisibility("0,7", 8).reason, "");
  EXPECT_THAT(ParseVisibility("3,1", 8).reason, HasSubstr("must ascend, but 1 follows 3"));
  EXPECT_THAT(ParseVisibility("1,8", 8).reason, HasSubstr("device 8 does not exist: there are 8 devices"));
  EXPECT_THAT(ParseVisibility("0;1", 8).reason, HasSubstr("';' is neither a digit nor a comma"));
  EXPECT_THAT(ParseVisibility("0,,1", 8).reason, HasSubstr("an element is empty"));
  EXPECT_THAT(ParseVisibility("", 8).reason, HasSubstr("the list is empty"));
}

TEST(VisibilityTest, WhateverTheTextTheIdsAscendAndExist) {
  std::mt19937 random(7);
  const std::string letters = "0123456789,,,, -x";
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (unsigned size = random() % 10; size > 0; --size) text += letters[random() % letters.size()];
    Visibility seen = ParseVisibility(text.c_str(), 12);
    for (int id : seen.logical) ASSERT_LT(id, 12) << text;
    ASSERT_TRUE(std::is_sorted(seen.logical.begin(), seen.logical.end(), std::less_equal<>())) << text;
    ASSERT_TRUE(!seen.rejected || seen.logical.empty()) << text;
    ASSERT_EQ(std::string_view(text).substr(text.size() - seen.dropped.size()), seen.dropped) << text;
  }
}

}  // namespace
}  // namespace belay::machine
