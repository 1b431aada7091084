#include "memory/malloc_policy.h"

namespace belay::memory {
namespace {
constexpr uint64_t kHugeFirstThreshold = uint64_t{1} << 20;

PagePlan HugeFirst(uint64_t size, bool p2p) {
  if (size <= kHugeFirstThreshold) return {PageSize::kNormal, false, p2p};
  return {PageSize::kHuge, true, p2p};
}
}  // namespace

PagePlan PlanPages(uint32_t policy, uint64_t size) {
  switch (policy) {
    case MallocPolicy::kHugeFirst:
    case MallocPolicy::kHugeFirstP2p:
      return HugeFirst(size, MallocPolicy::IsP2p(policy));
    case MallocPolicy::kHugeOnly:
    case MallocPolicy::kHugeOnlyP2p:
      return {PageSize::kHuge, false, MallocPolicy::IsP2p(policy)};
    case MallocPolicy::kNormalOnly:
    case MallocPolicy::kNormalOnlyP2p:
      return {PageSize::kNormal, false, MallocPolicy::IsP2p(policy)};
    case MallocPolicy::kHuge1gOnly:
    case MallocPolicy::kHuge1gOnlyP2p:
      return {PageSize::kGiant, false, MallocPolicy::IsP2p(policy)};
    case MallocPolicy::kUserReadOnly:
      return HugeFirst(size, false);
    default:
      break;
  }
  uint32_t bandwidth = policy & (MallocPolicy::kLowBandwidth | MallocPolicy::kHighBandwidth);
  uint32_t rest = policy & ~(bandwidth | MallocPolicy::kUserReadOnly);
  bool one_bandwidth = bandwidth == MallocPolicy::kLowBandwidth || bandwidth == MallocPolicy::kHighBandwidth;
  if (one_bandwidth || bandwidth == 0) {
    if (rest == MallocPolicy::kHugeFirst) return HugeFirst(size, false);
    if (rest == MallocPolicy::kHugeOnly) return {PageSize::kHuge, false, false};
    if (rest == MallocPolicy::kNormalOnly) return {PageSize::kNormal, false, false};
  }
  // Neither documented nor refused: by size, and never an error for want of huge pages.
  if (size >= kHugePage) return {PageSize::kHuge, true, false};
  return {PageSize::kNormal, false, false};
}

uint64_t PaddedSize(uint64_t size, PageSize pages, bool align32) {
  uint64_t extra = pages == PageSize::kGiant || align32 ? 0 : 32;
  if (size > ~uint64_t{0} - 31 - extra) return 0;
  return (size + 31) / 32 * 32 + extra;
}

}  // namespace belay::memory
