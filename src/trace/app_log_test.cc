#include "trace/app_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

namespace belay::trace {
namespace {
using testing::MatchesRegex;

class AppLogTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "belay_app_log_XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  static std::vector<std::string> Lines(const std::string& path) {
    std::vector<std::string> lines;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
  AppLog::Settings All() const { return {AppLog::kDebug, false, folder_ + "/a/b"}; }

  std::string folder_;
};

TEST_F(AppLogTest, AnEntryHasTheDocumentedShape) {
  AppLog log(All());
  log.Write("APP", AppLog::kWarning, {"Load", "main.cc", 12}, "%d files", 3);
  log.Write("APP", 77, {}, "%s", "odd level");
  const std::string path = log.path();
  EXPECT_THAT(path, MatchesRegex(".*/a/b/debug/plog/plog-[0-9]+_[0-9]{17}\\.log"));
  const auto lines = Lines(path);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_THAT(lines[0], MatchesRegex("\\[WARNING\\] APP\\([0-9]+,test_trace\\):[0-9]{4}-[0-9]{2}-[0-9]{2}-"
                                     "[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}\\.[0-9]{3} "
                                     "\\[main\\.cc:12\\][0-9]+ Load:3 files"));
  EXPECT_THAT(lines[1], MatchesRegex("\\[ERROR\\] .* \\[\\(null\\):0\\][0-9]+ \\(null\\):odd level"));
}

TEST_F(AppLogTest, LongMessagesAreCut) {
  AppLog log(All());
  log.Write("APP", AppLog::kError, {"f", "x", 1}, "%s", std::string(5000, 'x').c_str());
  const std::string line = Lines(log.path()).at(0);
  EXPECT_EQ(line.size() - line.find(" f:") - 3, 1024u);
}

TEST_F(AppLogTest, WhatIsNotWrittenMakesNoFolder) {
  AppLog log({AppLog::kError, false, folder_ + "/a"});
  log.Write("APP", AppLog::kWarning, {}, "quiet");
  AppLog none({AppLog::kNone, false, folder_ + "/a"});
  none.Write("APP", AppLog::kError, {}, "quiet");
  const char* nothing = nullptr;
  log.Write("APP", AppLog::kError, {}, nothing);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/a"));
}

TEST_F(AppLogTest, ThreadsDoNotMixEntries) {
  AppLog log(All());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 100; ++j) log.Write("APP", AppLog::kInfo, {"f", "x", 1}, "%s", "whole");
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto lines = Lines(log.path());
  EXPECT_EQ(lines.size(), 400u);
  for (const std::string& line : lines) EXPECT_TRUE(line.ends_with(" f:whole")) << line;
}

TEST_F(AppLogTest, AFolderThatCannotBeMadeIsSaidOnce) {
  std::ofstream(folder_ + "/file") << "x";
  testing::internal::CaptureStderr();
  AppLog log({AppLog::kDebug, false, folder_ + "/file/below"});
  log.Write("APP", AppLog::kError, {}, "one");
  log.Write("APP", AppLog::kError, {}, "two");
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, testing::HasSubstr("cannot be written"));
  EXPECT_EQ(said.find("belay:"), said.rfind("belay:"));
}

TEST_F(AppLogTest, TheEnvironmentDecides) {
  for (const char* name : {"ASCEND_GLOBAL_LOG_LEVEL", "ASCEND_SLOG_PRINT_TO_STDOUT",
                           "ASCEND_PROCESS_LOG_PATH", "ASCEND_WORK_PATH"})
    unsetenv(name);
  setenv("HOME", "/h", 1);
  AppLog::Settings settings = AppLog::FromEnvironment();
  EXPECT_EQ(settings.least, AppLog::kError);
  EXPECT_FALSE(settings.to_stdout);
  EXPECT_EQ(settings.folder, "/h/ascend/log");
  setenv("ASCEND_WORK_PATH", "/w", 1);
  EXPECT_EQ(AppLog::FromEnvironment().folder, "/w");
  setenv("ASCEND_PROCESS_LOG_PATH", "/p", 1);
  setenv("ASCEND_SLOG_PRINT_TO_STDOUT", "1", 1);
  setenv("ASCEND_GLOBAL_LOG_LEVEL", "4", 1);
  settings = AppLog::FromEnvironment();
  EXPECT_EQ(settings.folder, "/p");
  EXPECT_TRUE(settings.to_stdout);
  EXPECT_EQ(settings.least, AppLog::kNone);
  for (const char* odd : {"", "5", "x", "10"}) {
    setenv("ASCEND_GLOBAL_LOG_LEVEL", odd, 1);
    EXPECT_EQ(AppLog::FromEnvironment().least, AppLog::kError) << odd;
  }
}

}  // namespace
}  // namespace belay::trace
