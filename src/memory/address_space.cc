#include "memory/address_space.h"

#include <algorithm>
#include <bit>
#include <initializer_list>

#include "os/mapping.h"

namespace belay::memory {
namespace {
constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr uint64_t kTiB = uint64_t{1} << 40;
constexpr uint64_t kMostBytes = 16 * kTiB;
// ThreadSanitizer leaves a program about 1.5 TiB; this much fits there twice. Valgrind leaves less again.
constexpr uint64_t kModestBytes = 512 * kGiB;
constexpr uint64_t kLeastShare = uint64_t{64} << 20;
// Address space is free, and room to spare keeps fragmentation out of the model (SPEC 30 §0.3).
constexpr uint64_t kSpareFactor = 4;

// Good addresses for a device window: easy to tell from host pointers in a debugger, and clear of what
// sanitizers use.
constexpr uintptr_t kHighBase = 0x7e8000000000, kLowBase = 0x1a0000000000;

AddressSpace::Range ReserveAnywhere(std::initializer_list<uint64_t> sizes, os::Access access) {
  for (uint64_t bytes : sizes) {
    if (uintptr_t base = os::Reserve(0, bytes, access); base != 0) return {base, bytes};
  }
  return {};
}

AddressSpace::Range ReserveWindow(uint64_t bytes) {
  if (bytes <= kModestBytes) {
    if (uintptr_t base = os::Reserve(kHighBase, bytes, os::Access::kNone); base != 0) return {base, bytes};
  }
  if (uintptr_t base = os::Reserve(kLowBase, bytes, os::Access::kNone); base != 0) return {base, bytes};
  return ReserveAnywhere({bytes}, os::Access::kNone);
}

// In whole huge pages.
uint64_t FirstChunksBytes(int devices) {
  constexpr uint64_t kHugePage = uint64_t{2} << 20;
  uint64_t bytes = AddressSpace::kFirstStride * static_cast<uint64_t>(devices);
  return (bytes + kHugePage - 1) / kHugePage * kHugePage;
}

void Give(AddressSpace::Range& range) {
  if (range.base != 0) os::Release(range.base, range.bytes);
  range = {};
}
}  // namespace

AddressSpace::~AddressSpace() {
  for (Range* range : {&window_, &engine_, &pinned_, &alias_}) Give(*range);
}

bool AddressSpace::ReserveDeviceRegions(int devices, uint64_t share) {
  uint64_t bytes = share * static_cast<uint64_t>(devices);
  window_ = ReserveWindow(bytes);
  uint64_t engine_bytes = bytes + FirstChunksBytes(devices) + kStagger * static_cast<uint64_t>(devices);
  engine_ = window_.base != 0 ? ReserveAnywhere({engine_bytes}, os::Access::kReadWrite) : Range{};
  if (engine_.base == 0) {
    Give(window_);
    return false;
  }
  os::AdviseEngineMemory(engine_.base, engine_.bytes);
  devices_ = devices;
  share_shift_ = std::countr_zero(share);
  return true;
}

AddressSpace::EngineShare AddressSpace::engine_share(int device) const {
  auto number = static_cast<uint64_t>(device);
  uintptr_t rest = engine_.base + FirstChunksBytes(devices_);
  return {reinterpret_cast<uint8_t*>(engine_.base + kFirstStride * number),
          reinterpret_cast<uint8_t*>(rest + (share_bytes() + kStagger) * number)};
}

void AddressSpace::KeepEngineFromChildren() const {
  os::KeepFromChildren(engine_.base, engine_.bytes);
}

bool AddressSpace::Reserve(int devices, uint64_t device_bytes) {
  int count = std::max(devices, 1);
  uint64_t wanted = std::bit_ceil(device_bytes * kSpareFactor);
  uint64_t last_tried = 0;
  for (uint64_t most : {kMostBytes, kModestBytes, kModestBytes / 8, kModestBytes / 32}) {
    uint64_t share = std::min(wanted, std::bit_floor(most / static_cast<uint64_t>(count)));
    if (share < kLeastShare || share == last_tried) continue;
    last_tried = share;
    if (!ReserveDeviceRegions(count, share)) continue;
    pinned_ = ReserveAnywhere({kTiB, 64 * kGiB, 4 * kGiB, kGiB}, os::Access::kReadWrite);
    alias_ = ReserveAnywhere({kTiB, 64 * kGiB, 4 * kGiB, kGiB}, os::Access::kNone);
    if (pinned_.base != 0 && alias_.base != 0) {
      os::AdviseHugePages(pinned_.base, pinned_.bytes);
      return true;
    }
    for (Range* range : {&window_, &engine_, &pinned_, &alias_}) Give(*range);
  }
  return false;
}

}  // namespace belay::memory
