#include "options/syntax.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace belay::options {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(SyntaxTest, PairsStandApartBySemicolonsOrBlanks) {
  EXPECT_THAT(ParsePairs("a=1; b=2;c=3 d=4\te=5\n").value(),
              ElementsAre(Pair("a", "1"), Pair("b", "2"), Pair("c", "3"), Pair("d", "4"), Pair("e", "5")));
  EXPECT_THAT(ParsePairs("").value(), IsEmpty());
  EXPECT_THAT(ParsePairs(" ;; \n").value(), IsEmpty());
}

TEST(SyntaxTest, TheFirstEqualsSignEndsTheName) {
  EXPECT_THAT(ParsePairs("quirk=event.cross_device=allow").value(),
              ElementsAre(Pair("quirk", "event.cross_device=allow")));
}

TEST(SyntaxTest, AValueKeepsItsCommas) {
  EXPECT_THAT(ParsePairs("check=basic,+guard,-leak").value(),
              ElementsAre(Pair("check", "basic,+guard,-leak")));
}

TEST(SyntaxTest, QuotesEncloseAValue) {
  EXPECT_THAT(ParsePairs("log='my log; 1.jsonl' suppress='it''s' node=''").value(),
              ElementsAre(Pair("log", "my log; 1.jsonl"), Pair("suppress", "it's"), Pair("node", "")));
}

TEST(SyntaxTest, RefusesWhatIsNoPair) {
  struct Case {
    const char* text;
    const char* error;
  };
  for (const Case& c :
       {Case{"check", "'check' has no value"}, Case{"a=1; check = full", "'check' has no value"},
        Case{"=full", "has no name"}, Case{"check=", "'check' has no value"},
        Case{"check=; a=1", "'check' has no value"}, Case{"log='a b", "never closed"},
        Case{"log='a'b", "enclose the whole value"}, Case{"log=it's", "enclose the whole value"}}) {
    auto pairs = ParsePairs(c.text);
    ASSERT_FALSE(pairs) << c.text;
    EXPECT_THAT(pairs.error(), HasSubstr(c.error)) << c.text;
  }
}

TEST(SyntaxTest, FormatQuotesOnlyWhereNeeded) {
  EXPECT_EQ(FormatPairs({{"devices", "4"}, {"log", "a b"}, {"suppress", "it's"}, {"node", ""}}),
            "devices=4; log='a b'; suppress='it''s'; node=''");
}

TEST(SyntaxTest, WhatIsFormattedReadsBack) {
  std::mt19937 random(20240917);
  const std::string letters = "ab=;,' \t\n\"\\.+-";
  for (int round = 0; round < 2000; ++round) {
    std::vector<Pair> pairs;
    for (unsigned count = random() % 5; count > 0; --count) {
      std::string value;
      for (unsigned size = random() % 8; size > 0; --size) value += letters[random() % letters.size()];
      pairs.emplace_back("name" + std::to_string(random() % 10), value);
    }
    auto read = ParsePairs(FormatPairs(pairs));
    ASSERT_TRUE(read) << FormatPairs(pairs) << ": " << read.error();
    ASSERT_EQ(*read, pairs) << FormatPairs(pairs);
  }
}

}  // namespace
}  // namespace belay::options
