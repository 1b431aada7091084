#include "check/checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace belay::check {
namespace {

using ::testing::HasSubstr;

CheckSet Parse(std::string_view text) {
  auto set = ParseChecks(text);
  EXPECT_TRUE(set.has_value()) << text << ": " << set.error();
  return set.value_or(CheckSet::Off());
}

std::string Error(std::string_view text) {
  auto set = ParseChecks(text);
  return set ? "accepted" : set.error();
}

TEST(Checks, BasicIsWhatIsBuilt) {
  CheckSet set = Parse("basic");
  EXPECT_EQ(set, CheckSet::Basic());
  EXPECT_TRUE(set.Has(FindingId::kPeerNotEnabled));
  EXPECT_TRUE(set.Has(FindingId::kSlowPattern));
  EXPECT_FALSE(set.Has(FindingId::kMissingOrder));
  EXPECT_TRUE(Parse("off").empty());
}

TEST(Checks, ListsAddAndRemove) {
  CheckSet set = Parse("basic,-slow-pattern, -version-dependent");
  EXPECT_FALSE(set.Has(FindingId::kSlowPattern));
  EXPECT_FALSE(set.Has(FindingId::kVersionDependent));
  EXPECT_TRUE(set.Has(FindingId::kUseAfterFree));
  EXPECT_EQ(Parse("-slow-pattern,-version-dependent"), set)
      << "a list that starts with a sign starts from basic";

  CheckSet only = Parse("use-after-free,double-free");
  EXPECT_TRUE(only.Has(FindingId::kDoubleFree));
  EXPECT_FALSE(only.Has(FindingId::kBadArgument));
  EXPECT_EQ(Parse("off,+use-after-free,+double-free"), only);
}

TEST(Checks, WhatIsNotBuiltIsRefusedByName) {
  EXPECT_THAT(Error("basic,+ipc-denied"), HasSubstr("'ipc-denied' is not built yet"));
  EXPECT_THAT(Error("basic,-ipc-denied"), HasSubstr("'ipc-denied' is not built yet"));
}

TEST(Checks, UnknownNamesGetTheNearest) {
  EXPECT_THAT(Error("basic,-use-after-fre"),
              HasSubstr("no finding 'use-after-fre'; the nearest are use-after-free"));
  EXPECT_THAT(Error("Basic"), HasSubstr("basic"));
  EXPECT_THAT(Error("peer"), HasSubstr("peer-not-enabled"));
}

TEST(Checks, ListsMustBeWellFormed) {
  EXPECT_THAT(Error(""), HasSubstr("empty"));
  EXPECT_THAT(Error("basic,"), HasSubstr("empty"));
  EXPECT_THAT(Error("basic,,-leak"), HasSubstr("empty"));
  EXPECT_THAT(Error("+basic"), HasSubstr("only stand first"));
  EXPECT_THAT(Error("-slow-pattern,off"), HasSubstr("only stand first"));
}

TEST(FindingIds, NamesAreUniqueAndFound) {
  for (int i = 0; i < static_cast<int>(FindingId::kCount); ++i) {
    auto id = static_cast<FindingId>(i);
    EXPECT_EQ(FindId(Kind(id).id), id);
  }
  EXPECT_EQ(FindId("nothing"), FindingId::kCount);
  EXPECT_STREQ(Kind(FindingId::kSlowPattern).id, "slow-pattern");
  EXPECT_EQ(Kind(FindingId::kUnsupported).severity, Severity::kWarning);
}

}  // namespace
}  // namespace belay::check
