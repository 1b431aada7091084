// The address plan: where device, pinned and alias addresses lie, found again by arithmetic (design:
// docs/design/memory.md).
//
//   window   no access      user addresses of device memory, one equal share a device
//   engine   read, write    the bytes of the window; only the engine uses it. The first chunks of all shares
//   lie
//                           side by side in front of the rest of the shares
//   pinned   read, write    host memory of aclrtMallocHost
//   alias    no access      device-side names of registered host memory
//
// Guarantees: a host dereference of a device or alias address faults. Shares and regions never move.
// Threading: immutable after Reserve. Cost of a lookup: one subtraction and one comparison a region.
#pragma once

#include <cstdint>

#include "base/status.h"

namespace belay::memory {

class AddressSpace {
 public:
  enum class Region : uint8_t { kHost, kDevice, kPinned, kAlias };

  // A region's range.
  struct Range {
    uintptr_t base = 0;
    uint64_t bytes = 0;
    bool Holds(uintptr_t address) const { return address - base < bytes; }
  };

  AddressSpace() = default;
  ~AddressSpace();
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;

  // Reserves the regions for `devices` shares of at least `device_bytes` each if the address space allows it,
  // smaller equal shares otherwise. False when not even small shares fit (a very tight RLIMIT_AS).
  bool Reserve(int devices, uint64_t device_bytes);

  // From now on forked children get no engine region. Before the first device is opened they do: they may use
  // it.
  void KeepEngineFromChildren() const;

  Region Classify(uintptr_t address) const {
    if (window_.Holds(address)) return Region::kDevice;
    if (pinned_.Holds(address)) return Region::kPinned;
    if (alias_.Holds(address)) return Region::kAlias;
    return Region::kHost;
  }

  // For addresses inside the window.
  int DeviceOf(uintptr_t address) const { return static_cast<int>((address - window_.base) >> share_shift_); }

  // Small blocks of many devices in turn: the page tables stay in the cache where the blocks are neighbours.
  // A page further each, or all their lines would be of one set of the cache.
  static constexpr uint64_t kFirstChunk = uint64_t{2} << 20;
  static constexpr uint64_t kFirstStride = kFirstChunk + 4096;

  // The engine addresses of a share by offset: no block lies in its first chunk and in the rest.
  struct EngineShare {
    uint8_t* first = nullptr;
    uint8_t* rest = nullptr;  // of offset 0, though it begins with the second chunk
    uint8_t* At(uint64_t offset) const { return (offset < kFirstChunk ? first : rest) + offset; }
  };
  EngineShare engine_share(int device) const;

  uintptr_t ShareBase(int device) const {
    return window_.base + (static_cast<uint64_t>(device) << share_shift_);
  }
  uint64_t share_bytes() const { return uint64_t{1} << share_shift_; }
  const Range& window() const { return window_; }
  const Range& pinned() const { return pinned_; }
  const Range& alias() const { return alias_; }

 private:
  bool ReserveDeviceRegions(int devices, uint64_t share);

  // Between the rest of two shares in the engine region. AMD processors since Zen guess the way of their
  // first cache from address bits 12 to 27: copies between places that are alike in these bits take up to
  // three times as long, and buffers of the same number on two devices would be. A whole huge page, so that a
  // share begins with one. First chunks differ by themselves.
  static constexpr uint64_t kStagger = uint64_t{2} << 20;

  Range window_, engine_, pinned_, alias_;
  int devices_ = 0;
  int share_shift_ = 0;
};

}  // namespace belay::memory
