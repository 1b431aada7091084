#include "check/suppressions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace belay::check {
namespace {

using ::testing::HasSubstr;

os::Symbol SymbolOf(const char* function, const char* file, uint32_t line, const char* module) {
  os::Symbol symbol;
  symbol.function.Append(function);
  symbol.file.Append(file);
  symbol.line = line;
  symbol.module.Append(module);
  return symbol;
}

Suppressions Parse(std::string_view text) {
  auto parsed = Suppressions::Parse(text, "list");
  EXPECT_TRUE(parsed.has_value()) << parsed.error();
  return parsed.value_or(Suppressions());
}

TEST(Glob, FollowsTheUsualRules) {
  EXPECT_TRUE(GlobMatches("a*c", "abbc"));
  EXPECT_TRUE(GlobMatches("*", ""));
  EXPECT_TRUE(GlobMatches("a?c", "abc"));
  EXPECT_FALSE(GlobMatches("a?c", "ac"));
  EXPECT_TRUE(GlobMatches("[a-c]x", "bx"));
  EXPECT_FALSE(GlobMatches("[!a-c]x", "bx"));
  EXPECT_TRUE(GlobMatches("*/lib*.so", "/usr/lib/libfoo.so"));
  EXPECT_TRUE(GlobMatches("*ab*ab", "xabyabab"));
  EXPECT_FALSE(GlobMatches("abc", "abcd"));
  EXPECT_TRUE(GlobMatches("Buffer::operator[]", "Buffer::operator[]")) << "the text itself always matches";
}

TEST(Suppressions, IdsAndComments) {
  Suppressions list = Parse("# all of these\n\nslow-pattern\n  double-free  # known\r\n");
  EXPECT_TRUE(list.everywhere().Has(FindingId::kSlowPattern));
  EXPECT_TRUE(list.everywhere().Has(FindingId::kDoubleFree));
  EXPECT_FALSE(list.everywhere().Has(FindingId::kUseAfterFree));
  EXPECT_FALSE(list.has_sites());
}

TEST(Suppressions, SitesByFunctionFileLineAndModule) {
  const os::Symbol site = SymbolOf("train::step", "/src/app/train.cc", 41, "/opt/app/libtrain.so");
  for (const char* glob : {"train::step", "train::*", "train.cc", "train.cc:41", "/src/app/train.cc",
                           "/src/app/*:41", "libtrain.so", "/opt/*", "*"}) {
    EXPECT_TRUE(Parse(std::string("double-free:") + glob).Matches(FindingId::kDoubleFree, site)) << glob;
  }
  for (const char* glob : {"step", "train.cc:4", "train.cc:411", "app/train.cc", "libtrain"}) {
    EXPECT_FALSE(Parse(std::string("double-free:") + glob).Matches(FindingId::kDoubleFree, site)) << glob;
  }
  EXPECT_FALSE(Parse("double-free:*").Matches(FindingId::kUseAfterFree, site));
  EXPECT_TRUE(Parse("*-free:train::step").Matches(FindingId::kUseAfterFree, site));
  EXPECT_FALSE(Parse("double-free:*").Matches(FindingId::kDoubleFree, os::Symbol()))
      << "an unknown site has no name";
}

TEST(Suppressions, BadLinesAreNamed) {
  auto unknown = Suppressions::Parse("double-free\n\nduble-free:main\n", "my.supp");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_THAT(unknown.error(),
              HasSubstr("my.supp:3: there is no finding 'duble-free'; the nearest are double-free"));
  auto empty = Suppressions::Parse("double-free:\n", "my.supp");
  ASSERT_FALSE(empty.has_value());
  EXPECT_THAT(empty.error(), HasSubstr("my.supp:1: nothing follows"));
  auto missing = Suppressions::Load("/nonexistent/list");
  ASSERT_FALSE(missing.has_value());
  EXPECT_THAT(missing.error(), HasSubstr("cannot read '/nonexistent/list'"));
}

}  // namespace
}  // namespace belay::check
