// For tests: what a process holds, to be the same before and after.
//
// A joined thread stays visible in /proc for a moment longer, so the comparison looks again for a while.
#pragma once

#include <dirent.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

#include "os/thread.h"

namespace belay::os {

struct Census {
  int threads = 0;
  int descriptors = 0;

  static Census Now() {
    // A sanitizer starts a thread of its own beside the first one of the program.
    static const bool kStarted = (std::thread([] {}).join(), true);
    static_cast<void>(kStarted);
    return {Entries("/proc/self/task"), Entries("/proc/self/fd")};
  }
  friend bool operator==(const Census&, const Census&) = default;

 private:
  static int Entries(const char* path) {
    DIR* directory = opendir(path);
    if (directory == nullptr) return -1;
    int entries = 0;
    while (readdir(directory) != nullptr) ++entries;
    closedir(directory);
    return entries;
  }
};

// A fixture whose tests leave no thread and no descriptor behind.
class LeavesNothing : public testing::Test {
 protected:
  void TearDown() override {
    Census after = Census::Now();
    for (int64_t end = MonotonicNs() + 2'000'000'000; after != before_ && MonotonicNs() < end;) {
      sched_yield();
      after = Census::Now();
    }
    EXPECT_EQ(after.threads, before_.threads);
    EXPECT_EQ(after.descriptors, before_.descriptors);
  }

 private:
  const Census before_ = Census::Now();
};

}  // namespace belay::os
