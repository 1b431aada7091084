#include "check/run_page.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <string>
#include <thread>
#include <vector>

namespace belay::check {
namespace {

RunPage Anonymous() {
  auto page = RunPage::Open(nullptr);
  if (!page) abort();
  return std::move(*page);
}

std::string PathOf(const RunPage& page) {
  return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(page.fd());
}

uint32_t Append(RunPage& page, std::string_view head, std::string_view tail) {
  RunPage::Reservation reservation = page.Reserve(Severity::kError, 4096);
  if (reservation.data == nullptr) return RunPage::kNoFinding;
  head.copy(reservation.data, head.size());
  tail.copy(reservation.data + head.size(), tail.size());
  page.Publish(reservation, head.size() + tail.size(), head.size());
  return reservation.index;
}

TEST(RunPage, CountsPerThread) {
  RunPage page = Anonymous();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&page] {
      ThreadCounters* slot = page.AcquireSlot();
      for (int k = 0; k < 1000; ++k) slot->AddCall();
      slot->AddCopy(64);
      for (int k = 0; k < 2; ++k) slot->AddUnguardedCopy();
      page.ReleaseSlot(slot);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(page.totals().calls, 8000u);
  EXPECT_EQ(page.totals().copies, 8u);
  EXPECT_EQ(page.totals().bytes, 512u);
  EXPECT_EQ(page.totals().unguarded_copies, 16u);
}

TEST(RunPage, SlotsAreHandedOnAndNeverLost) {
  RunPage page = Anonymous();
  ThreadCounters* first = page.AcquireSlot();
  first->AddCall();
  page.ReleaseSlot(first);
  ThreadCounters* second = page.AcquireSlot();
  EXPECT_EQ(second, first);
  second->AddCall();
  EXPECT_EQ(page.totals().calls, 2u);
}

TEST(RunPage, WithoutFreeSlotsThreadsShareOne) {
  RunPage page = Anonymous();
  std::set<ThreadCounters*> slots;
  for (uint32_t i = 1; i < RunPage::kThreads; ++i) slots.insert(page.AcquireSlot());
  EXPECT_EQ(slots.size(), RunPage::kThreads - 1);
  ThreadCounters* shared = page.AcquireSlot();
  EXPECT_EQ(page.AcquireSlot(), shared);
  shared->AddCall();
  page.ReleaseSlot(shared);
  EXPECT_EQ(page.AcquireSlot(), shared);
  EXPECT_EQ(page.totals().calls, 1u);
}

TEST(RunPage, SlotsOfKilledProcessesComeBack) {
  RunPage page = Anonymous();
  pid_t child = fork();
  if (child == 0) {
    for (uint32_t i = 1; i < RunPage::kThreads; ++i) page.AcquireSlot()->AddCall();
    _exit(0);
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  ThreadCounters* mine = page.AcquireSlot();
  mine->AddCall();
  ThreadCounters* other = page.AcquireSlot();
  EXPECT_NE(mine, other);
  EXPECT_EQ(page.totals().calls, RunPage::kThreads);
}

TEST(RunPage, KeepsFindings) {
  RunPage page = Anonymous();
  uint32_t a = Append(page, "{\"id\":1", "}");
  uint32_t b = Append(page, "{\"id\":2", ",\"x\":3}");
  page.CountRepeats(a, 4);
  RunPage::StoredFinding finding;
  ASSERT_TRUE(page.ReadFinding(a, &finding));
  EXPECT_EQ(finding.head, "{\"id\":1");
  EXPECT_EQ(finding.tail, "}");
  EXPECT_EQ(finding.count, 5u);
  ASSERT_TRUE(page.ReadFinding(b, &finding));
  EXPECT_EQ(finding.tail, ",\"x\":3}");
  EXPECT_EQ(finding.count, 1u);
  EXPECT_FALSE(page.ReadFinding(2, &finding));
  EXPECT_EQ(page.count(Severity::kError), 2u);
  EXPECT_EQ(page.count(Severity::kWarning), 0u);
}

TEST(RunPage, AFullPageCountsOn) {
  RunPage page = Anonymous();
  for (uint32_t i = 0; i < RunPage::kFindings; ++i) ASSERT_EQ(Append(page, "{", "}"), i);
  EXPECT_EQ(Append(page, "{", "}"), RunPage::kNoFinding);
  EXPECT_EQ(page.lost(), 1u);
  EXPECT_EQ(page.count(Severity::kError), RunPage::kFindings + 1u);
}

TEST(RunPage, ProcessesShareThePageThatBelayRunMade) {
  auto page = RunPage::Create();
  ASSERT_TRUE(page.has_value()) << page.error();
  const std::string path = PathOf(*page);
  pid_t child = fork();
  if (child == 0) {
    RunPage::NoteLoaded(path.c_str());
    auto joined = RunPage::Open(path.c_str());
    if (!joined || !joined->from_run()) _exit(1);
    joined->AddProcess();
    joined->AcquireSlot()->AddCopy(7);
    joined->MarkDeviceOpened(3);
    joined->MarkDeviceOpened(1023);
    joined->SetProfile("some-product", "9.0", 8);
    Append(*joined, "{", "}");
    joined->Reserve(Severity::kError, 100);  // and dies before it publishes
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(page->loaded(), 1u);
  EXPECT_EQ(page->processes(), 1u);
  EXPECT_EQ(page->totals().bytes, 7u);
  EXPECT_EQ(page->devices_opened(), 2);
  EXPECT_TRUE(page->device_opened(1023));
  EXPECT_EQ(page->product(), "some-product");
  EXPECT_EQ(page->cann(), "9.0");
  EXPECT_EQ(page->devices(), 8u);
  RunPage::StoredFinding finding;
  EXPECT_TRUE(page->ReadFinding(0, &finding));
  EXPECT_FALSE(page->ReadFinding(1, &finding));
}

TEST(RunPage, WhatIsNoRunPageIsNotJoined) {
  for (const char* path : {"/nonexistent", "/dev/null", "/proc/self/exe"}) {
    auto page = RunPage::Open(path);
    ASSERT_TRUE(page.has_value());
    EXPECT_FALSE(page->from_run()) << path;
    RunPage::NoteLoaded(path);
  }
}

}  // namespace
}  // namespace belay::check
