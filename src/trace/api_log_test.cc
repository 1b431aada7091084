#include "trace/api_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace belay::trace {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

class ApiLogTest : public ::testing::Test {
 protected:
  ApiLogTest() : path_(::testing::TempDir() + "belay_api_log_" + std::to_string(getpid()) + ".jsonl") {
    unlink(path_.c_str());
  }
  ~ApiLogTest() override { unlink(path_.c_str()); }

  std::vector<std::string> Lines() const {
    std::ifstream file(path_);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  const std::string path_;
};

enum class Kind : int32_t { kTwo = 2 };
struct Handle {
  int32_t id;
};

TEST(ArgWriterTest, WritesEachTypeInItsForm) {
  ArgWriter args;
  int local = 0;
  const char* text = "a\"b\\c\n";
  const char* none = nullptr;
  args.Add("pointer", reinterpret_cast<void*>(0x7e80));
  args.Add("null", nullptr);
  args.Add("function", reinterpret_cast<void (*)(void*)>(0x40));
  args.Add("size", size_t{18446744073709551615u});
  args.Add("int", -5);
  args.Add("kind", Kind::kTwo);
  args.Add("real", 0.5);
  args.Add("nan", std::nan(""));
  args.Add("text", text);
  args.Add("none", none);
  args.Add("handle", Handle{1});
  EXPECT_EQ(
      args.view(),
      R"("pointer":"0x7e80","null":"0x0","function":"0x40","size":18446744073709551615,"int":-5,"kind":2,)"
      R"("real":0.5,"nan":null,"text":"a\"b\\c\u000a","none":null,"handle":"?")");
  ArgWriter address;
  address.Add("p", &local);
  EXPECT_THAT(std::string(address.view()), MatchesRegex("\"p\":\"0x[0-9a-f]+\""));
}

TEST(ArgWriterTest, FollowsPointersToOneValue) {
  static_assert(kPointsToValue<int32_t*> && kPointsToValue<Kind*> && kPointsToValue<void**>);
  static_assert(!kPointsToValue<int32_t> && !kPointsToValue<void*> && !kPointsToValue<char*>);
  static_assert(!kPointsToValue<Handle*> && !kPointsToValue<void (*)(void*)>);
}

TEST(ArgWriterTest, LeavesOutWhatDoesNotFitAndSaysSo) {
  ArgWriter args;
  std::string text(250, '\x01');
  for (int i = 0; i < 5; ++i) args.Add("text", text.c_str());
  args.Add("after", 1);
  EXPECT_THAT(std::string(args.view()), StartsWith("\"text\":\"\\u0001"));
  EXPECT_THAT(std::string(args.view()), EndsWith("\",\"cut\":1"));
}

TEST(ArgWriterTest, CutsLongText) {
  ArgWriter args;
  std::string text(5000, 'x');
  args.Add("text", text.c_str());
  EXPECT_EQ(args.view(), "\"text\":\"" + std::string(256, 'x') + "\"");
}

TEST_F(ApiLogTest, WritesOneObjectALine) {
  auto log = ApiLog::Open(path_);
  ASSERT_TRUE(log.has_value()) << log.error();
  EXPECT_TRUE((*log)->enabled());
  ArgWriter args;
  args.Add("dst", reinterpret_cast<void*>(0x10));
  args.Add("destMax", 64u);
  (*log)->Record("aclrtMemcpy", 107000, 812, 95, args, ArgWriter());
  (*log)->Record("aclFinalize", 0, 900, 1, ArgWriter(), ArgWriter());
  ArgWriter outs;
  outs.Add("devPtr", reinterpret_cast<void*>(0x20));
  (*log)->Record("aclrtMalloc", 0, 950, 2, ArgWriter(), outs);
  std::string thread = std::to_string(gettid());
  EXPECT_THAT(Lines(),
              ::testing::ElementsAre("{\"api\":\"aclrtMemcpy\",\"code\":107000,\"thread\":" + thread +
                                         ",\"ns\":812,\"dur\":95,\"args\":{\"dst\":\"0x10\",\"destMax\":64}}",
                                     "{\"api\":\"aclFinalize\",\"code\":0,\"thread\":" + thread +
                                         ",\"ns\":900,\"dur\":1,\"args\":{}}",
                                     "{\"api\":\"aclrtMalloc\",\"code\":0,\"thread\":" + thread +
                                         ",\"ns\":950,\"dur\":2,\"args\":{},\"out\":{\"devPtr\":\"0x20\"}}"));
}

TEST_F(ApiLogTest, ThreadsAndProcessesShareAFile) {
  constexpr int kLines = 500;
  auto write = [&](ApiLog& log) {
    for (int i = 0; i < kLines; ++i) {
      ArgWriter args;
      args.Add("i", i);
      log.Record("aclrtMalloc", 0, ApiLog::Now(), 1, args, ArgWriter());
    }
  };
  pid_t child = fork();
  if (child == 0) {
    auto log = ApiLog::Open(path_);
    if (!log) _exit(1);
    write(**log);
    _exit(0);
  }
  auto log = ApiLog::Open(path_);
  ASSERT_TRUE(log.has_value());
  std::thread other([&] { write(**log); });
  write(**log);
  other.join();
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  std::vector<std::string> lines = Lines();
  EXPECT_EQ(lines.size(), 3u * kLines);
  for (const std::string& line : lines) {
    EXPECT_THAT(line, StartsWith("{\"api\":\"aclrtMalloc\",\"code\":0,\"thread\":"));
    EXPECT_THAT(line, EndsWith("}}"));
  }
}

TEST_F(ApiLogTest, AppendsToWhatIsThere) {
  for (int i = 0; i < 2; ++i) (*ApiLog::Open(path_))->Record("aclInit", 0, 0, 0, ArgWriter(), ArgWriter());
  EXPECT_EQ(Lines().size(), 2u);
}

TEST(ApiLogOpenTest, NamesThePathAndTheReason) {
  auto log = ApiLog::Open("/nonexistent-folder/log");
  ASSERT_FALSE(log.has_value());
  EXPECT_THAT(log.error(), HasSubstr("/nonexistent-folder/log"));
  EXPECT_THAT(log.error(), HasSubstr("No such file"));
}

TEST(ApiLogFullTest, EndsOnceWhenTheDiskIsFull) {
  auto log = ApiLog::Open("/dev/full");
  if (!log) GTEST_SKIP() << log.error();
  ::testing::internal::CaptureStderr();
  (*log)->Record("aclInit", 0, 0, 0, ArgWriter(), ArgWriter());
  (*log)->Record("aclInit", 0, 0, 0, ArgWriter(), ArgWriter());
  EXPECT_FALSE((*log)->enabled());
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "belay: log /dev/full ends here: No space left on device\n");
}

}  // namespace
}  // namespace belay::trace
