// The books of the emulated machine: capacity, limits and peer state of every device.
//
// Everything that processes of one node must agree on stands here, as plain atomics without pointers, so that
// the pages can be shared. The rest of the library sees only this class.
//
// Threading: lock-free. Lifetime: as long as the runtime.
#pragma once

#include <atomic>
#include <cstdint>

#include "memory/page_accounts.h"

namespace belay::memory {

constexpr int kMaxDevices = 1024;

// What the books hold about one device. Lies in zeroed memory.
struct DeviceBook {
  PageAccounts pages;
  std::atomic<uint64_t> p2p_bytes;                // charged by P2P policies where a window limits them
  std::atomic<uint32_t> streams;                  // explicit and default ones
  std::atomic<uint32_t> peer_count;               // set bits of `peers`
  std::atomic<uint64_t> peers[kMaxDevices / 64];  // bit Y: this device may access memory of device Y
};

class Books {
 public:
  struct Limits {
    int devices = 0;
    uint64_t capacity = 0;    // bytes per device
    uint64_t p2p_window = 0;  // bytes; 0 = P2P policies are not limited
    uint32_t streams = 0;     // per device
    uint32_t max_peers = 0;   // per device; 0 = unlimited
  };

  explicit Books(const Limits& limits);
  ~Books();
  Books(const Books&) = delete;
  Books& operator=(const Books&) = delete;

  const Limits& limits() const { return limits_; }

  // Capacity. `charged` is a multiple of the page size.
  bool ChargePages(int device, uint64_t charged, PageSize size, bool p2p);
  void RefundPages(int device, uint64_t charged, PageSize size, bool p2p);
  PageTotals Totals(int device) const { return book(device).pages.Totals(limits_.capacity); }
  uint64_t used_bytes(int device) const { return book(device).pages.used_bytes(); }
  uint64_t p2p_free(int device) const;

  // Streams.
  bool TakeStream(int device);
  void ReturnStream(int device) { book(device).streams.fetch_sub(1, std::memory_order_relaxed); }
  uint32_t streams(int device) const { return book(device).streams.load(std::memory_order_relaxed); }

  // Peer access, one direction at a time (SPEC 32 §1).
  bool PeerEnabled(int from, int to) const {
    auto bit = static_cast<uint32_t>(to);
    return (book(from).peers[bit / 64].load(std::memory_order_acquire) >> (bit % 64) & 1) != 0;
  }
  enum class Enable : uint8_t { kOpened, kAlreadyOpen, kTooMany };
  Enable EnablePeer(int from, int to);
  bool DisablePeer(int from, int to);  // whether it was open
  void ClearPeers(int from);           // outgoing directions only (SPEC 32 §5)

 private:
  DeviceBook& book(int device) const { return books_[device]; }

  Limits limits_;
  DeviceBook* books_;
};

}  // namespace belay::memory
