#include "memory/host_guard.h"

#include <gtest/gtest.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>
#include <thread>
#include <vector>

namespace belay::memory {
namespace {

using Range = HostGuard::Range;
using Use = HostGuard::Use;
constexpr size_t kPage = 4096;
constexpr size_t kPages = 64;

// The kernel's own word on what may be touched: a system call that cannot touch the page answers EFAULT.
bool Readable(const uint8_t* address) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  bool readable = write(ends[1], address, 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return readable;
}
bool Writable(uint8_t* address) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  const char byte = 0;
  bool writable = write(ends[1], &byte, 1) == 1 && read(ends[0], address, 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return writable;
}

class HostGuardTest : public testing::Test {
 protected:
  void SetUp() override { bytes_ = Map(MAP_PRIVATE); }
  void TearDown() override {
    guard_.ReleaseAll();
    munmap(bytes_, kPages * kPage);
  }
  static uint8_t* Map(int kind) {
    void* bytes = mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(bytes, MAP_FAILED);
    return static_cast<uint8_t*>(bytes);
  }

  Range Rows(size_t at, size_t width, size_t pitch, size_t rows, Use use, uint64_t sequence, int stream = 0) {
    Range range;
    range.begin = reinterpret_cast<uintptr_t>(bytes_) + at;
    range.width = width;
    range.pitch = pitch;
    range.rows = rows;
    range.use = use;
    range.stream = &streams_[stream];
    range.sequence = sequence;
    return range;
  }
  Range Linear(size_t at, size_t bytes, Use use, uint64_t sequence, int stream = 0) {
    return Rows(at, bytes, bytes, 1, use, sequence, stream);
  }
  // A letter for each page: w(ritable), r(eadable), -
  std::string Pages(size_t first, size_t count) {
    std::string text;
    for (size_t page = first; page < first + count; ++page) {
      uint8_t* address = bytes_ + page * kPage;
      text += Writable(address) ? 'w' : Readable(address) ? 'r' : '-';
    }
    return text;
  }

  HostGuard guard_{{}};
  uint8_t* bytes_ = nullptr;
  char streams_[4] = {};
};

TEST_F(HostGuardTest, SourcesAreReadOnlyAndTargetsClosedUntilTheHostKnows) {
  EXPECT_TRUE(guard_.Add(Linear(kPage, 2 * kPage, Use::kSource, 1)));
  EXPECT_TRUE(guard_.Add(Linear(4 * kPage + 100, kPage, Use::kTarget, 2)));
  EXPECT_EQ(Pages(0, 7), "wrrw--w");
  guard_.Release(&streams_[1], 9);
  EXPECT_EQ(Pages(0, 7), "wrrw--w");
  guard_.Release(&streams_[0], 1);
  EXPECT_EQ(Pages(0, 7), "wwww--w");
  guard_.Release(&streams_[0], 2);
  EXPECT_EQ(Pages(0, 7), "wwwwwww");
  EXPECT_EQ(guard_.live(), 0u);
}

TEST_F(HostGuardTest, APageOpensWithItsLastRange) {
  guard_.Add(Linear(0, 2 * kPage, Use::kSource, 1));
  guard_.Add(Linear(kPage, 2 * kPage, Use::kTarget, 2));
  guard_.Add(Linear(kPage, 10, Use::kSource, 1, 1));
  EXPECT_EQ(Pages(0, 4), "r--w");
  guard_.Release(&streams_[0], 1);
  EXPECT_EQ(Pages(0, 4), "w--w");
  guard_.Release(&streams_[0], 2);
  EXPECT_EQ(Pages(0, 4), "wrww");
  guard_.ReleaseAll();
  EXPECT_EQ(Pages(0, 4), "wwww");
}

TEST_F(HostGuardTest, OnlyPagesWithRowsAreClosed) {
  guard_.Add(Rows(kPage + 8, 16, 3 * kPage, 3, Use::kTarget, 1));
  EXPECT_EQ(Pages(0, 9), "w-ww-ww-w");
  guard_.Release(&streams_[0], 1);
  guard_.Add(Rows(kPage + 8, 16, kPage / 2, 5, Use::kTarget, 2));
  EXPECT_EQ(Pages(0, 5), "w---w");
}

TEST_F(HostGuardTest, BytesOfRowsAreExact) {
  Range rows = Rows(0, 10, 100, 5, Use::kTarget, 1);
  EXPECT_TRUE(rows.Contains(rows.begin + 409));
  EXPECT_FALSE(rows.Contains(rows.begin + 410) || rows.Contains(rows.begin + 500) ||
               rows.Contains(rows.begin - 1));
  EXPECT_TRUE(rows.Overlaps(Linear(205, 1, Use::kSource, 1)));
  EXPECT_TRUE(rows.Overlaps(Linear(150, 60, Use::kSource, 1)));
  EXPECT_FALSE(rows.Overlaps(Linear(210, 90, Use::kSource, 1)));
  EXPECT_TRUE(rows.Overlaps(Rows(12, 20, 89, 4, Use::kSource, 1)));
  EXPECT_FALSE(rows.Overlaps(Rows(12, 80, 100, 4, Use::kSource, 1)));
}

TEST_F(HostGuardTest, OverlapsAgreesWithTheBytes) {
  std::mt19937 random(1);
  auto pick = [&](unsigned most) { return 1 + random() % most; };
  for (int round = 0; round < 20'000; ++round) {
    size_t w1 = pick(12), w2 = pick(12);
    Range a = Rows(random() % 40, w1, w1 + random() % 20, pick(6), Use::kSource, 1);
    Range b = Rows(random() % 40, w2, w2 + random() % 20, pick(6), Use::kSource, 1);
    bool shared = false;
    for (uintptr_t at = a.begin; at < a.end(); ++at) shared = shared || (a.Contains(at) && b.Contains(at));
    ASSERT_EQ(a.Overlaps(b), shared) << round;
    ASSERT_EQ(b.Overlaps(a), shared) << round;
  }
}

TEST_F(HostGuardTest, AHarmedRangeIsFoundOnceAndOpens) {
  guard_.Add(Linear(0, 2 * kPage, Use::kSource, 1));
  guard_.Add(Linear(0, 100, Use::kSource, 2));
  Range found[4];
  EXPECT_EQ(guard_.FindTouched(Linear(50, 1, Use::kSource, 0), false, found, 4), 0u)
      << "reading a source is no harm";
  EXPECT_EQ(guard_.FindTouched(Linear(200, 1, Use::kSource, 0), true, found, 4), 1u);
  EXPECT_EQ(guard_.FindTouched(Linear(50, 1, Use::kSource, 0), true, found, 4), 2u);
  EXPECT_TRUE(guard_.ReadOnly(reinterpret_cast<uintptr_t>(bytes_)));
  for (const Range& range : {found[0], found[1]}) EXPECT_TRUE(guard_.Disarm(range));
  EXPECT_FALSE(guard_.Disarm(found[0]));
  EXPECT_EQ(Pages(0, 2), "ww");
  EXPECT_EQ(guard_.FindTouched(Linear(50, 1, Use::kSource, 0), true, found, 4), 0u);
  EXPECT_EQ(guard_.live(), 2u) << "its memory may still go away";
}

TEST_F(HostGuardTest, ANeighbourOpensThePageUntilTheRangeIsReleased) {
  guard_.Add(Linear(0, 2 * kPage + 5, Use::kTarget, 1));
  auto neighbour = reinterpret_cast<uintptr_t>(bytes_) + 2 * kPage + 6;
  EXPECT_EQ(guard_.OpenPage(neighbour), HostGuard::Page::kClosed);
  EXPECT_EQ(guard_.OpenPage(neighbour), HostGuard::Page::kOpen);
  EXPECT_EQ(guard_.OpenPage(neighbour + kPage), HostGuard::Page::kForeign);
  EXPECT_EQ(Pages(0, 3), "--w");
  guard_.Release(&streams_[0], 1);
  guard_.Add(Linear(2 * kPage, 5, Use::kTarget, 2));
  EXPECT_EQ(Pages(0, 3), "ww-");
}

TEST_F(HostGuardTest, WhatWasLentIsTakenBack) {
  guard_.Add(Linear(0, kPage + 1, Use::kSource, 7));
  Range found[1];
  ASSERT_EQ(guard_.FindTouched(Linear(0, 1, Use::kSource, 0), true, found, 1), 1u);
  EXPECT_TRUE(guard_.Lend(found[0], &streams_[2]));
  EXPECT_EQ(Pages(0, 2), "ww");
  guard_.TakeBack(&streams_[3]);
  EXPECT_EQ(Pages(0, 2), "ww");
  guard_.TakeBack(&streams_[2]);
  EXPECT_EQ(Pages(0, 2), "rr");
  ASSERT_EQ(guard_.FindTouched(Linear(0, 1, Use::kSource, 0), true, found, 1), 1u);
  guard_.Lend(found[0], &streams_[2]);
  guard_.Release(&streams_[0], 7);
  guard_.TakeBack(&streams_[2]);
  EXPECT_EQ(Pages(0, 2), "ww");
}

TEST_F(HostGuardTest, MemoryThatGoesAwayTakesItsRanges) {
  guard_.Add(Linear(0, kPage, Use::kSource, 1));
  guard_.Add(Linear(kPage, kPage, Use::kTarget, 2));
  guard_.Add(Linear(3 * kPage, kPage, Use::kTarget, 3));
  Range taken[4];
  EXPECT_EQ(guard_.TakeWithin(reinterpret_cast<uintptr_t>(bytes_), 2 * kPage, taken, 4), 2u);
  EXPECT_EQ(Pages(0, 4), "www-");
  EXPECT_EQ(guard_.TakeWithin(reinterpret_cast<uintptr_t>(bytes_), 2 * kPage, taken, 4), 0u);
  guard_.Add(Linear(0, kPage, Use::kSource, 4));
  guard_.Release(&streams_[0], 3);
  EXPECT_EQ(Pages(0, 4), "rwww");
}

TEST_F(HostGuardTest, OnlyWhatIsWantedCloses) {
  HostGuard sources({true, false});
  sources.Add(Linear(0, kPage, Use::kTarget, 1));
  sources.Add(Linear(kPage, kPage, Use::kSource, 1));
  EXPECT_EQ(Pages(0, 2), "wr");
  sources.ReleaseAll();
}

TEST_F(HostGuardTest, BytesPassClosedPages) {
  for (int kind : {MAP_PRIVATE, MAP_SHARED}) {
    uint8_t* const own = std::exchange(bytes_, Map(kind));
    bytes_[5] = 1;
    guard_.Add(Linear(0, 3 * kPage, Use::kTarget, 1));
    std::vector<uint8_t> from(2 * kPage, 7), to(2 * kPage);
    guard_.Write(bytes_ + 100, from.data(), from.size());
    guard_.Read(bytes_ + 100, to.data(), to.size());
    EXPECT_EQ(Pages(0, 3), "---") << kind;
    EXPECT_EQ(to, from);
    {
      HostGuard::Hold hold(guard_);
      EXPECT_FALSE(hold.MayRead(bytes_ + kPage, kPage) || hold.MayWrite(bytes_ + 2 * kPage, 2 * kPage));
      EXPECT_TRUE(hold.MayWrite(bytes_ + 3 * kPage, 2 * kPage));
      EXPECT_TRUE(HostGuard::Inside());
    }
    EXPECT_FALSE(HostGuard::Inside());
    guard_.ReleaseAll();
    EXPECT_TRUE(bytes_[5] == 1 && bytes_[99] == 0 && bytes_[100] == 7 && bytes_[2 * kPage + 99] == 7);
    EXPECT_EQ(bytes_[2 * kPage + 100], 0);
    munmap(std::exchange(bytes_, own), kPages * kPage);
  }
  EXPECT_EQ(guard_.unguarded(), 0u);
}

TEST_F(HostGuardTest, WhatIsNotMappedStaysUnguarded) {
  guard_.Add(Linear(0, 1, Use::kTarget, 0));  // the guard's own memory must not come to lie in the gap
  munmap(bytes_ + 4 * kPage, kPage);
  EXPECT_FALSE(guard_.Add(Linear(3 * kPage, 3 * kPage, Use::kTarget, 1)));
  EXPECT_EQ(guard_.unguarded(), 1u);
  EXPECT_TRUE(Writable(bytes_ + 3 * kPage) && Writable(bytes_ + 5 * kPage));
  guard_.Release(&streams_[0], 1);
  EXPECT_EQ(guard_.live(), 0u);
}

// Cuts the address space into as many parts as the system allows.
class ManyParts {
 public:
  ManyParts() {
    bytes_ = static_cast<uint8_t*>(
        mmap(nullptr, kParts * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (bytes_ == MAP_FAILED) return;
    for (size_t page = 1; page < kParts && !used_up_; page += 2) {
      used_up_ = mprotect(bytes_ + page * kPage, kPage, PROT_READ) != 0;
    }
  }
  ~ManyParts() { munmap(bytes_, kParts * kPage); }
  bool used_up() const { return used_up_; }

 private:
  static constexpr size_t kParts = 140'000;
  uint8_t* bytes_;
  bool used_up_ = false;
};

TEST_F(HostGuardTest, WhatTheSystemRefusesToCloseStaysOpen) {
  guard_.Add(Linear(0, kPage, Use::kTarget, 1));
  ManyParts parts;
  if (!parts.used_up()) GTEST_SKIP() << "vm.max_map_count is large";
  EXPECT_FALSE(guard_.Add(Linear(20 * kPage, kPage, Use::kTarget, 2)));
  EXPECT_FALSE(guard_.Add(Linear(30 * kPage, kPage, Use::kSource, 3)));
  EXPECT_EQ(guard_.unguarded(), 2u);
  EXPECT_EQ(Pages(0, 32), "-" + std::string(31, 'w'));
  EXPECT_EQ(guard_.live(), 3u) << "their memory may still go away";
  guard_.Release(&streams_[0], 3);
  EXPECT_EQ(Pages(0, 32), std::string(32, 'w'));
}

TEST_F(HostGuardTest, AllOpensWhereAPartCannotOpenAlone) {
  for (uint64_t i = 0; i < 3; ++i)
    guard_.Add(Linear((10 + 3 * i) * kPage, 3 * kPage, Use::kTarget, 1, static_cast<int>(i)));
  EXPECT_EQ(Pages(9, 11), "w---------w");
  ManyParts parts;
  if (!parts.used_up()) GTEST_SKIP() << "vm.max_map_count is large";
  guard_.Release(&streams_[1], 1);
  EXPECT_EQ(Pages(9, 11), std::string(11, 'w'));
  guard_.Release(&streams_[0], 1);
  guard_.Release(&streams_[2], 1);
  EXPECT_EQ(guard_.live(), 0u);
}

TEST_F(HostGuardTest, AForkedChildFindsItsPagesOpen) {
  guard_.Add(Linear(0, kPage, Use::kTarget, 1));
  guard_.Add(Linear(kPage, kPage, Use::kSource, 2));
  guard_.BeforeFork();
  pid_t child = fork();
  if (child == 0) {
    guard_.AfterForkInChild();
    bytes_[0] = bytes_[kPage] = 1;
    _exit(Pages(0, 2) == "ww" && guard_.live() == 0 ? 0 : 1);
  }
  guard_.AfterForkInParent();
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(Pages(0, 2), "-r");
}

TEST_F(HostGuardTest, AProgramThatNeverWaitsDoesNotGrow) {
  constexpr uint64_t kMany = 200'000;
  for (uint64_t i = 1; i <= kMany; ++i) {
    guard_.Add(Linear(i % 50 * kPage, kPage, Use::kSource, i));
    Range found[1];
    ASSERT_EQ(guard_.FindTouched(Linear(i % 50 * kPage, 1, Use::kSource, 0), true, found, 1), 1u);
    ASSERT_EQ(found[0].sequence, i) << "the latest one first";
    ASSERT_TRUE(i % 2 == 0 || guard_.Disarm(found[0]));
  }
  EXPECT_LE(guard_.live(), uint64_t{1} << 16);
  guard_.Release(&streams_[0], kMany);
  EXPECT_EQ(Pages(0, 50), std::string(50, 'w'));
}

TEST_F(HostGuardTest, FaultsAreJudgedWhileTheThreadForks) {
  guard_.Add(Linear(0, 10, Use::kTarget, 1));
  guard_.BeforeFork();
  EXPECT_FALSE(HostGuard::Inside());
  EXPECT_EQ(guard_.OpenPage(reinterpret_cast<uintptr_t>(bytes_) + 100), HostGuard::Page::kClosed);
  guard_.AfterForkInParent();
  EXPECT_EQ(Pages(0, 1), "w");
}

// Ranges come and go while others move bytes: no access faults, and at the end everything is open.
TEST_F(HostGuardTest, ManyThreadsAtOnce) {
  constexpr int kRounds = 2000;
  std::vector<std::thread> threads;
  for (int id = 0; id < 3; ++id) {
    threads.emplace_back([this, id] {
      std::mt19937 random(static_cast<unsigned>(id));
      for (uint64_t round = 1; round <= kRounds; ++round) {
        size_t at = random() % (kPages / 2) * kPage, bytes = 1 + random() % (8 * kPage);
        guard_.Add(Linear(at, bytes, random() % 2 == 0 ? Use::kSource : Use::kTarget, round, id));
        uint8_t buffer[3 * kPage];
        uint8_t* place = bytes_ + at + static_cast<size_t>(id) * 64;
        bool open;
        {
          HostGuard::Hold hold(guard_);
          open = hold.MayWrite(place, 32);
          if (open) memset(place, id, 32);
        }
        if (!open) guard_.Write(place, buffer, 32);
        guard_.Read(bytes_ + at, buffer, sizeof buffer);
        Range found[2];
        size_t count = guard_.FindTouched(Linear(at, 1, Use::kSource, 0), true, found, 2);
        if (count != 0 && random() % 4 == 0) guard_.Disarm(found[0]);
        if (random() % 4 == 0) guard_.OpenPage(reinterpret_cast<uintptr_t>(place));
        guard_.Release(&streams_[id], round - random() % 3);
      }
      guard_.Release(&streams_[id], kRounds);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(guard_.live(), 0u);
  EXPECT_EQ(Pages(0, kPages), std::string(kPages, 'w'));
}

}  // namespace
}  // namespace belay::memory
