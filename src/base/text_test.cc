#include "base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

namespace belay {
namespace {

TEST(TextTest, StartsEmpty) {
  Text<8> text;
  EXPECT_TRUE(text.empty());
  EXPECT_EQ(text.size(), 0u);
  EXPECT_STREQ(text.c_str(), "");
}

TEST(TextTest, FormatsAndAppendsInOrder) {
  Text<32> text;
  text.Format("%d-%s", 7, "a").Append("!").Format("%x", 255);
  EXPECT_EQ(text.view(), "7-a!ff");
  EXPECT_STREQ(text.c_str(), "7-a!ff");
}

TEST(TextTest, AnExactFitIsNotCut) {
  Text<8> appended, formatted;
  appended.Append("1234567");
  formatted.Format("%s", "1234567");
  EXPECT_EQ(appended.view(), "1234567");
  EXPECT_EQ(formatted.view(), "1234567");
}

TEST(TextTest, OneTooManyIsCutWithDots) {
  Text<8> appended, formatted;
  appended.Append("12345678");
  formatted.Format("%s", "12345678");
  EXPECT_EQ(appended.view(), "1234...");
  EXPECT_EQ(formatted.view(), "1234...");
  EXPECT_EQ(appended.size(), 7u);
}

TEST(TextTest, DotsMayReplaceWhatStoodThereBefore) {
  Text<8> text;
  text.Append("123456").Append("78");
  EXPECT_EQ(text.view(), "1234...");
}

TEST(TextTest, FullTextTakesNothingMore) {
  Text<8> text;
  text.Append("123456789");
  text.Append("").Format("%s", "");
  EXPECT_EQ(text.view(), "1234...");
  text.Append("x").Format("%d", 1);
  EXPECT_EQ(text.view(), "1234...");
}

TEST(TextTest, ClearStartsAfresh) {
  Text<8> text;
  text.Append("123456789").clear();
  EXPECT_TRUE(text.empty());
  text.Append("ok");
  EXPECT_EQ(text.view(), "ok");
}

TEST(TextTest, AppendTakesBytesWithoutATerminator) {
  const char raw[] = {'a', 'b', 'c'};
  Text<8> text;
  text.Append(std::string_view(raw, 2));
  EXPECT_EQ(text.view(), "ab");
}

// Against a string of any length: what fits is the same, what does not fit ends in dots and keeps its start.
TEST(TextTest, AgreesWithAString) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    Text<24> text;
    std::string model;
    for (int step = 0; step < 6; ++step) {
      std::string piece(random() % 9, static_cast<char>('a' + random() % 26));
      if (random() % 2 == 0)
        text.Append(piece);
      else
        text.Format("%s", piece.c_str());
      model += piece;
      ASSERT_EQ(strlen(text.c_str()), text.size());
      if (model.size() < 24) {
        ASSERT_EQ(text.view(), model);
      } else {
        ASSERT_EQ(text.size(), 23u);
        ASSERT_EQ(text.view().substr(20), "...");
        ASSERT_EQ(text.view().substr(0, 20), model.substr(0, 20));
      }
    }
  }
}

}  // namespace
}  // namespace belay
