#include "memory/books.h"

#include "base/check.h"
#include "os/mapping.h"

namespace belay::memory {

Books::Books(const Limits& limits) : limits_(limits) {
  BELAY_CHECK(limits.devices >= 0 && limits.devices <= kMaxDevices);
  // Zero pages from the kernel: a thousand devices that nobody opens cost address space only.
  books_ =
      reinterpret_cast<DeviceBook*>(os::Reserve(0, sizeof(DeviceBook) * kMaxDevices, os::Access::kReadWrite));
  BELAY_CHECK(books_ != nullptr);
}

Books::~Books() {
  os::Release(reinterpret_cast<uintptr_t>(books_), sizeof(DeviceBook) * kMaxDevices);
}

bool Books::ChargePages(int device, uint64_t charged, PageSize size, bool p2p) {
  DeviceBook& book = this->book(device);
  bool windowed = p2p && limits_.p2p_window != 0;
  if (windowed) {
    uint64_t used = book.p2p_bytes.load(std::memory_order_relaxed);
    do {
      if (charged > limits_.p2p_window - used) return false;
    } while (!book.p2p_bytes.compare_exchange_weak(used, used + charged, std::memory_order_relaxed));
  }
  if (book.pages.Charge(charged, size, limits_.capacity)) return true;
  if (windowed) book.p2p_bytes.fetch_sub(charged, std::memory_order_relaxed);
  return false;
}

void Books::RefundPages(int device, uint64_t charged, PageSize size, bool p2p) {
  DeviceBook& book = this->book(device);
  book.pages.Refund(charged, size);
  if (p2p && limits_.p2p_window != 0) book.p2p_bytes.fetch_sub(charged, std::memory_order_relaxed);
}

uint64_t Books::p2p_free(int device) const {
  uint64_t used = book(device).p2p_bytes.load(std::memory_order_relaxed);
  return limits_.p2p_window > used ? limits_.p2p_window - used : 0;
}

bool Books::TakeStream(int device) {
  std::atomic<uint32_t>& streams = book(device).streams;
  uint32_t used = streams.load(std::memory_order_relaxed);
  do {
    if (used >= limits_.streams) return false;
  } while (!streams.compare_exchange_weak(used, used + 1, std::memory_order_relaxed));
  return true;
}

Books::Enable Books::EnablePeer(int from, int to) {
  DeviceBook& book = this->book(from);
  uint64_t bit = uint64_t{1} << (to % 64);
  if ((book.peers[to / 64].load(std::memory_order_acquire) & bit) != 0) return Enable::kAlreadyOpen;
  if (book.peer_count.fetch_add(1, std::memory_order_relaxed) >= limits_.max_peers &&
      limits_.max_peers != 0) {
    book.peer_count.fetch_sub(1, std::memory_order_relaxed);
    return Enable::kTooMany;
  }
  if ((book.peers[to / 64].fetch_or(bit, std::memory_order_acq_rel) & bit) == 0) return Enable::kOpened;
  book.peer_count.fetch_sub(1, std::memory_order_relaxed);  // another thread opened it in between
  return Enable::kAlreadyOpen;
}

bool Books::DisablePeer(int from, int to) {
  DeviceBook& book = this->book(from);
  uint64_t bit = uint64_t{1} << (to % 64);
  bool was_open = (book.peers[to / 64].fetch_and(~bit, std::memory_order_acq_rel) & bit) != 0;
  if (was_open) book.peer_count.fetch_sub(1, std::memory_order_relaxed);
  return was_open;
}

void Books::ClearPeers(int from) {
  for (int to = 0; to < limits_.devices; ++to) DisablePeer(from, to);
}

}  // namespace belay::memory
