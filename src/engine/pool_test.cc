#include "engine/pool.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>

#include "engine/engine_test.h"
#include "os/thread.h"

namespace belay::engine {
namespace {

class PoolTest : public EngineFixture {
 protected:
  // A stream with work that is too large to run inside the call.
  void Submit(Stream& stream) { HostCopy(stream, to_.data(), from_.data(), from_.size()); }

  std::vector<uint8_t> from_ = std::vector<uint8_t>(300 * kKiB, 7), to_ = std::vector<uint8_t>(300 * kKiB);
};

TEST_F(PoolTest, ThreadsStartAtTheFirstPostAndEndWithTheEngine) {
  os::Census before = os::Census::Now();
  Build({"", Policy::Async(), 2});
  Stream* stream = NewStream();
  uint8_t byte = 1, other = 0;
  HostCopy(*stream, &other, &byte, 1);
  EXPECT_EQ(os::Census::Now().threads, before.threads) << "small work needs none";
  Submit(*stream);
  EXPECT_EQ(os::Census::Now().threads, before.threads + 2);
  DestroyStream(stream);
}

TEST_F(PoolTest, WithoutWorkersThereAreNoThreads) {
  os::Census before = os::Census::Now();
  Build({"", Policy::Async(), 0});
  Stream* stream = NewStream();
  for (int i = 0; i < 50; ++i) Submit(*stream);
  EXPECT_FALSE(stream->Idle());
  engine_->Wait(*stream, stream->submitted());
  EXPECT_EQ(os::Census::Now().threads, before.threads);
  DestroyStream(stream);
}

TEST_F(PoolTest, ASleepingWorkerIsWokenEveryTime) {
  Build({"", Policy::Async(), 1});
  Stream *first = NewStream(), *second = NewStream();
  for (int round = 0; round < 300; ++round) {
    Submit(round % 2 == 0 ? *first : *second);
    // Only looked at: the worker alone can end this.
    int64_t end = os::MonotonicNs() + 20'000'000'000;
    while ((!first->Idle() || !second->Idle()) && os::MonotonicNs() < end) sched_yield();
    ASSERT_TRUE(first->Idle() && second->Idle()) << round;
  }
  DestroyStream(first);
  DestroyStream(second);
}

using PoolDeathTest = PoolTest;

TEST_F(PoolDeathTest, WithoutAnyThreadTheCallersRunTheStreams) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer needs more address space than the limit leaves";
#endif
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto run = [this] {
    Build({"", Policy::Async(), 2});
    Stream *first = NewStream(), *second = NewStream();
    Event* event = NewEvent();
    std::atomic<uint32_t> never{0};
    std::thread holder([&never] { os::FutexWait(never, 0); });  // takes the stack that an ended thread left
    long pages = 0;
    FILE* file = fopen("/proc/self/statm", "re");
    if (file == nullptr || fscanf(file, "%ld", &pages) != 1) _exit(2);
    fclose(file);
    rlimit limit;
    limit.rlim_cur = limit.rlim_max = static_cast<rlim_t>(pages) * 4096 + 2 * kMiB;  // less than one stack
    setrlimit(RLIMIT_AS, &limit);
    pthread_t thread;
    if (os::StartThread(
            "", [](void*) {}, nullptr, &thread))
      _exit(3);
    Submit(*first);
    Record(*first, *event);
    WaitForLatest(*second, *event);
    Submit(*second);
    int64_t end = os::MonotonicNs() + 20'000'000'000;
    while (!engine_->Query(*second) && os::MonotonicNs() < end) {
    }
    _exit(first->Idle() && second->Idle() && to_ == from_ ? 0 : 1);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace belay::engine
