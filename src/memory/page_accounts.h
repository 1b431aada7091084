// The page bookkeeping of one device (SPEC 30 §0.3): huge pages of 2 MiB, some of them split into 4 KiB
// pages.
//
//   one 64-bit word:   | huge pages in use : 28 | 4 KiB pages in use : 36 |
//
// Split pages follow from the word: ceil(4 KiB pages in use / 512). So HUGE + NORMAL == MEM always, and a
// page merges back the moment its last 4 KiB page is free. Fragmentation is not modelled.
//
// Threading: lock-free; the words may lie in a page that several processes share. Cost: one compare-exchange.
#pragma once

#include <atomic>
#include <cstdint>

namespace belay::memory {

constexpr uint64_t kNormalPage = 4096;
constexpr uint64_t kHugePage = uint64_t{2} << 20;
constexpr uint64_t kGiantPage = uint64_t{1} << 30;
constexpr uint64_t kNormalPerHuge = kHugePage / kNormalPage;

enum class PageSize : uint8_t { kNormal, kHuge, kGiant };

// Bytes that an allocation of `bytes` costs with such pages.
constexpr uint64_t PageBytes(PageSize size) {
  return size == PageSize::kNormal ? kNormalPage : size == PageSize::kHuge ? kHugePage : kGiantPage;
}
constexpr uint64_t ChargedBytes(uint64_t bytes, PageSize size) {
  return (bytes + PageBytes(size) - 1) & ~(PageBytes(size) - 1);  // a power of two, without the division
}

struct PageTotals {
  uint64_t huge_free = 0, huge_total = 0;      // bytes
  uint64_t normal_free = 0, normal_total = 0;  // bytes, of split pages only
  uint64_t free() const { return huge_free + normal_free; }
  uint64_t total() const { return huge_total + normal_total; }
};

class PageAccounts {
 public:
  // False, and nothing changes, when the capacity does not hold `charged` more bytes (a multiple of the page
  // size).
  bool Charge(uint64_t charged, PageSize size, uint64_t capacity);
  void Refund(uint64_t charged, PageSize size);
  PageTotals Totals(uint64_t capacity) const;
  uint64_t used_bytes() const;

 private:
  std::atomic<uint64_t> word_{0};
};

}  // namespace belay::memory
