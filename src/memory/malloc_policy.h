// What an allocation policy asks for (SPEC 30 §2.1): which pages, whether they may be normal instead, P2P or
// not.
#pragma once

#include <cstdint>

#include "memory/page_accounts.h"

namespace belay::memory {

struct PagePlan {
  PageSize size = PageSize::kNormal;
  bool may_fall_back = false;  // huge pages short: take normal ones
  bool p2p = false;            // meant for copies between devices
};

// The documented policy values.
struct MallocPolicy {
  static constexpr uint32_t kHugeFirst = 0, kHugeOnly = 1, kNormalOnly = 2;
  static constexpr uint32_t kHugeFirstP2p = 3, kHugeOnlyP2p = 4, kNormalOnlyP2p = 5;
  static constexpr uint32_t kHuge1gOnly = 6, kHuge1gOnlyP2p = 7;
  static constexpr uint32_t kLowBandwidth = 0x100, kHighBandwidth = 0x1000, kUserReadOnly = 0x100000;

  static bool IsP2p(uint32_t policy) {
    return (policy >= kHugeFirstP2p && policy <= kHugeOnlyP2p + 1) || policy == kHuge1gOnlyP2p;
  }
  static bool IsHuge1g(uint32_t policy) { return policy == kHuge1gOnly || policy == kHuge1gOnlyP2p; }
};

// `size` is the size as the caller passed it: the 1 MiB and 2 MiB thresholds look at it before any padding.
// Values that the documentation does not list are not an error: huge from 2 MiB on, else normal.
PagePlan PlanPages(uint32_t policy, uint64_t size);

// The size that is charged before rounding to pages: rounded up to 32, and 32 more unless the pages are of 1
// GiB or the call is MallocAlign32 (SPEC 30 §2.1, §2.2). Overflow yields 0.
uint64_t PaddedSize(uint64_t size, PageSize pages, bool align32);

}  // namespace belay::memory
