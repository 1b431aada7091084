#include "memory/books.h"

#include <gtest/gtest.h>

#include <bitset>
#include <random>
#include <thread>

namespace belay::memory {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

Books::Limits SomeLimits() {
  Books::Limits limits;
  limits.devices = 4;
  limits.capacity = 64 * kMiB;
  limits.streams = 3;
  return limits;
}

TEST(BooksTest, DevicesHaveSeparateBooks) {
  Books books(SomeLimits());
  ASSERT_TRUE(books.ChargePages(1, 2 * kMiB, PageSize::kHuge, false));
  EXPECT_EQ(books.used_bytes(0), 0u);
  EXPECT_EQ(books.used_bytes(1), 2 * kMiB);
  EXPECT_EQ(books.Totals(1).huge_free, 62 * kMiB);
  EXPECT_EQ(books.Totals(2).huge_free, 64 * kMiB);
  books.RefundPages(1, 2 * kMiB, PageSize::kHuge, false);
  EXPECT_EQ(books.used_bytes(1), 0u);
}

TEST(BooksTest, TheP2pWindowLimitsP2pOnly) {
  Books::Limits limits = SomeLimits();
  limits.p2p_window = 8 * kMiB;
  Books books(limits);
  EXPECT_EQ(books.p2p_free(0), 8 * kMiB);
  ASSERT_TRUE(books.ChargePages(0, 6 * kMiB, PageSize::kHuge, true));
  EXPECT_EQ(books.p2p_free(0), 2 * kMiB);
  EXPECT_FALSE(books.ChargePages(0, 4 * kMiB, PageSize::kHuge, true));
  EXPECT_EQ(books.p2p_free(0), 2 * kMiB);
  EXPECT_EQ(books.used_bytes(0), 6 * kMiB) << "a refusal changes nothing";
  EXPECT_TRUE(books.ChargePages(0, 40 * kMiB, PageSize::kHuge, false));
  EXPECT_TRUE(books.ChargePages(1, 8 * kMiB, PageSize::kHuge, true)) << "every device has its window";
  books.RefundPages(0, 6 * kMiB, PageSize::kHuge, true);
  EXPECT_EQ(books.p2p_free(0), 8 * kMiB);
}

TEST(BooksTest, CapacityRefusesP2pAndGivesTheWindowBack) {
  Books::Limits limits = SomeLimits();
  limits.p2p_window = 16 * kMiB;
  Books books(limits);
  ASSERT_TRUE(books.ChargePages(0, 60 * kMiB, PageSize::kHuge, false));
  EXPECT_FALSE(books.ChargePages(0, 8 * kMiB, PageSize::kHuge, true));
  EXPECT_EQ(books.p2p_free(0), 16 * kMiB);
}

TEST(BooksTest, WithoutAWindowP2pIsLikeTheRest) {
  Books books(SomeLimits());
  EXPECT_TRUE(books.ChargePages(0, 64 * kMiB, PageSize::kHuge, true));
  EXPECT_EQ(books.p2p_free(0), 0u);
  books.RefundPages(0, 64 * kMiB, PageSize::kHuge, true);
  EXPECT_EQ(books.used_bytes(0), 0u);
}

TEST(BooksTest, StreamsAreLimitedPerDevice) {
  Books books(SomeLimits());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(books.TakeStream(0));
  EXPECT_FALSE(books.TakeStream(0));
  EXPECT_EQ(books.streams(0), 3u);
  EXPECT_TRUE(books.TakeStream(1));
  books.ReturnStream(0);
  EXPECT_TRUE(books.TakeStream(0));
}

TEST(BooksTest, PeerStateHasADirection) {
  Books books(SomeLimits());
  EXPECT_EQ(books.EnablePeer(0, 1), Books::Enable::kOpened);
  EXPECT_TRUE(books.PeerEnabled(0, 1));
  EXPECT_FALSE(books.PeerEnabled(1, 0));
  EXPECT_EQ(books.EnablePeer(0, 1), Books::Enable::kAlreadyOpen);
  EXPECT_TRUE(books.DisablePeer(0, 1));
  EXPECT_FALSE(books.DisablePeer(0, 1));
  EXPECT_FALSE(books.PeerEnabled(0, 1));
}

TEST(BooksTest, ClearingTakesOutgoingDirectionsOnly) {
  Books books(SomeLimits());
  for (int to : {1, 2, 3}) books.EnablePeer(0, to);
  books.EnablePeer(2, 0);
  books.ClearPeers(0);
  for (int to : {1, 2, 3}) EXPECT_FALSE(books.PeerEnabled(0, to));
  EXPECT_TRUE(books.PeerEnabled(2, 0));
}

TEST(BooksTest, PeersAreLimitedWhereTheProductSaysSo) {
  Books::Limits limits = SomeLimits();
  limits.max_peers = 2;
  Books books(limits);
  EXPECT_EQ(books.EnablePeer(0, 1), Books::Enable::kOpened);
  EXPECT_EQ(books.EnablePeer(0, 2), Books::Enable::kOpened);
  EXPECT_EQ(books.EnablePeer(0, 3), Books::Enable::kTooMany);
  EXPECT_EQ(books.EnablePeer(0, 2), Books::Enable::kAlreadyOpen) << "what is open stays the better answer";
  EXPECT_EQ(books.EnablePeer(1, 0), Books::Enable::kOpened);
  books.DisablePeer(0, 1);
  EXPECT_EQ(books.EnablePeer(0, 3), Books::Enable::kOpened);
  books.ClearPeers(0);
  EXPECT_EQ(books.EnablePeer(0, 1), Books::Enable::kOpened);
  EXPECT_EQ(books.EnablePeer(0, 2), Books::Enable::kOpened);
}

TEST(BooksTest, EveryPairOfAThousandDevicesHasItsBit) {
  Books::Limits limits = SomeLimits();
  limits.devices = kMaxDevices;
  Books books(limits);
  std::mt19937 random(3);
  std::bitset<kMaxDevices> model[3];
  constexpr int kFrom[3] = {0, 511, kMaxDevices - 1};
  for (int step = 0; step < 5000; ++step) {
    int row = static_cast<int>(random() % 3), to = static_cast<int>(random() % kMaxDevices);
    auto bit = model[row][static_cast<size_t>(to)];
    if (random() % 2 == 0) {
      ASSERT_EQ(books.EnablePeer(kFrom[row], to) == Books::Enable::kOpened, !bit);
      bit = true;
    } else {
      ASSERT_EQ(books.DisablePeer(kFrom[row], to), static_cast<bool>(bit));
      bit = false;
    }
  }
  for (int row = 0; row < 3; ++row) {
    for (int to = 0; to < kMaxDevices; ++to) {
      ASSERT_EQ(books.PeerEnabled(kFrom[row], to), model[row][static_cast<size_t>(to)]) << row << " " << to;
    }
  }
}

TEST(BooksTest, ThreadsOpenADirectionOnce) {
  Books::Limits limits = SomeLimits();
  limits.max_peers = 3;
  for (int round = 0; round < 200; ++round) {
    Books books(limits);
    std::atomic<int> opened{0};
    auto work = [&] {
      for (int to : {1, 2, 3}) opened += books.EnablePeer(0, to) == Books::Enable::kOpened;
    };
    std::thread other(work);
    work();
    other.join();
    EXPECT_LE(opened.load(), 3);
    books.ClearPeers(0);
    for (int to : {1, 2, 3})
      EXPECT_EQ(books.EnablePeer(0, to), Books::Enable::kOpened) << "the count is exact";
  }
}

}  // namespace
}  // namespace belay::memory
