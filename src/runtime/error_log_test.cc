#include "runtime/error_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "belay/facts/codes.h"

namespace belay::runtime {
namespace {

using check::Finding;
using check::FindingId;
using facts::Cann;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr Cann kAll[] = {Cann::k81, Cann::k85, Cann::k90, Cann::k91};

Finding Example(const char* api = "aclrtMemcpy") {
  Finding finding(FindingId::kBadArgument);
  finding.where = {"call", api, 42, 0, -1, Site{}};
  finding.message.Append("count 11 is larger than destMax 10");
  finding.rule.Append("No more bytes are moved than the destination holds (SPEC 31 \u00a70.4)");
  finding.fix.Append("pass the size of the destination");
  return finding;
}

TEST(ErrorLogTest, IsEmptyAtFirstAndAfterEachRead) {
  ErrorLog log;
  EXPECT_EQ(log.Take(Cann::k90), nullptr);
  log.Add(100000, Example());
  EXPECT_NE(log.Take(Cann::k90), nullptr);
  EXPECT_EQ(log.Take(Cann::k90), nullptr);
}

TEST(ErrorLogTest, TheTextStaysGoodUntilTheNextOne) {
  ErrorLog log;
  log.Add(100000, Example());
  const char* text = log.Take(Cann::k90);
  std::string copy = text;
  log.Add(100000, Example("aclrtMalloc"));
  EXPECT_EQ(copy, text);
}

// SPEC 11 §3.2: what clients parse, byte by byte.
TEST(ErrorLogTest, HasTheLayoutThatClientsParse) {
  std::string pid = "\\[PID: " + std::to_string(getpid()) + "\\] ";
  std::string time = "[0-9]{4}-[0-9]{2}-[0-9]{2}-[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}\\.[0-9]{3} ";
  for (Cann cann : kAll) {
    ErrorLog log;
    log.Add(107002, Example("aclrtCreateStream"));
    std::string text = log.Take(cann);
    std::string first =
        cann >= Cann::k90 ? "^" + pid + time + "[A-Z][A-Za-z_]*\\(EE1001\\): " : "^EE1001: " + pid + time;
    EXPECT_THAT(text, ContainsRegex(first + "aclrtCreateStream returned 107002. Reason: count 11 is larger"));
    EXPECT_THAT(text, HasSubstr("\n        Possible Cause: No more bytes"));
    EXPECT_THAT(text, HasSubstr("\n        Solution: pass the size"));
    EXPECT_THAT(text, HasSubstr("\n        TraceBack (most recent call last):\n"));
    EXPECT_THAT(text, ContainsRegex("in thread 42\\[FUNC:[^]]*\\]\\[FILE:[^]]*\\]\\[LINE:[0-9]+\\]\n"));
    EXPECT_EQ(text.back(), '\n');
    EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) {
      return static_cast<unsigned char>(c) < 128;
    })) << "ASCII only";
  }
}

TEST(ErrorLogTest, LeavesOutWhatIsNotKnown) {
  ErrorLog log;
  log.Add(500000, Finding(FindingId::kBadArgument));
  std::string text = log.Take(Cann::k90);
  EXPECT_THAT(text, Not(HasSubstr("Possible Cause")));
  EXPECT_THAT(text, Not(HasSubstr("Solution")));
  EXPECT_THAT(text, HasSubstr("returned 500000"));
}

TEST(ErrorLogTest, NamesEveryoneInvolved) {
  ErrorLog log;
  Finding finding = Example();
  finding.AddRelated({"allocated", "aclrtMalloc", 7, 0, -1, Site{}});
  finding.AddRelated({"freed", nullptr, 8, 0, -1, Site{}});
  log.Add(107000, finding);
  std::string text = log.Take(Cann::k85);
  EXPECT_THAT(text, HasSubstr("allocated by aclrtMalloc in thread 7[FUNC:"));
  EXPECT_THAT(text, HasSubstr("freed by the program in thread 8[FUNC:"));
}

TEST(ErrorLogTest, NewestFirst) {
  ErrorLog log;
  log.Add(100000, Example("aclrtMalloc"));
  log.Add(100000, Example("aclrtFree"));
  std::string text = log.Take(Cann::k90);
  EXPECT_LT(text.find("aclrtFree"), text.find("aclrtMalloc"));
}

TEST(ErrorLogTest, TheOldestAreDroppedAndCounted) {
  ErrorLog log;
  for (int i = 0; i < 40; ++i) {
    Finding finding = Example();
    finding.message.clear();
    finding.message.Format("message number %d.", i);
    log.Add(100000, finding);
  }
  std::string text = log.Take(Cann::k90);
  EXPECT_THAT(text, HasSubstr("number 39."));
  EXPECT_THAT(text, HasSubstr("number 8."));
  EXPECT_THAT(text, Not(HasSubstr("number 7.")));
  EXPECT_THAT(text, HasSubstr("8 older messages"));
  log.Add(100000, Example());
  EXPECT_THAT(log.Take(Cann::k90), Not(HasSubstr("older messages"))) << "the count starts again";
}

// SPEC 11 §3.3
TEST(MessageClassTest, FollowsTheTable) {
  struct {
    int32_t code;
    bool memory_call;
    const char* classes[4];  // 8.1, 8.5, 9.0, 9.1
  } rows[] = {
      {107002, false, {"EE1001", "EE1001", "EE1001", "EE1001"}},
      {507046, false, {"EE1002", "EE1002", "EE1002", "EE1002"}},
      {507047, false, {"EE1002", "EE1002", "EE1002", "EE1002"}},
      {100000, false, {"EE1001", "EE1011", "EE1011", "EE1011"}},
      {107000, false, {"EE1001", "EE1011", "EE1011", "EE1011"}},
      {107000, true, {"EL0003", "EL0003", "EL0003", "EL0003"}},
      {207001, true, {"EL0004", "EL0004", "EL0004", "EL0019"}},
      {207018, false, {"EL0004", "EL0004", "EL0004", "EL0019"}},
      {507033, false, {"EL0001", "EL0001", "EL0001", "EL0001"}},
      {207005, false, {"EL0005", "EL0005", "EL0005", "EL0005"}},
      {207006, false, {"EL0007", "EL0007", "EL0007", "EL0007"}},
      {207007, false, {"EL0008", "EL0008", "EL0008", "EL0008"}},
      {207008, false, {"EL0009", "EL0009", "EL0009", "EL0009"}},
      {207009, false, {"EL0010", "EL0010", "EL0010", "EL0010"}},
      {207010, false, {"EL0011", "EL0011", "EL0011", "EL0011"}},
      {207000, false, {"EL0014", "EL0014", "EL0014", "EL0014"}},
      {507899, false, {"EL9999", "EL9999", "EL9999", "EL9999"}},
      {507000, false, {"EE9999", "EE9999", "EE9999", "EE9999"}},
      {123456, false, {"EE1001", "EE1001", "EE1001", "EE1001"}},
  };
  for (const auto& row : rows) {
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_STREQ(MessageClass(row.code, kAll[i], row.memory_call), row.classes[i]) << row.code << " " << i;
    }
  }
}

// A client looks for this word to tell that memory ran out, and for a start with E?9999 to tell an internal
// error.
TEST(MessageClassTest, KeepsTheHooksOfClients) {
  for (Cann cann : kAll) {
    for (int32_t code : {207001, 207018}) {
      ErrorLog log;
      log.Add(code, Example("aclrtMalloc"));
      EXPECT_THAT(log.Take(cann), HasSubstr("EL0004")) << code;
    }
    ErrorLog log;
    log.Add(100000, Example());
    std::string text = log.Take(cann);
    EXPECT_THAT(text, Not(HasSubstr("EL0004")));
    EXPECT_THAT(text, Not(ContainsRegex("^E[1-9A-Z]9999")));
  }
}

}  // namespace
}  // namespace belay::runtime
