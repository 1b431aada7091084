#include "memory/page_accounts.h"

#include "base/check.h"

namespace belay::memory {
namespace {
constexpr int kNormalBits = 36;
constexpr uint64_t kNormalMask = (uint64_t{1} << kNormalBits) - 1;

constexpr uint64_t Huge(uint64_t word) {
  return word >> kNormalBits;
}
constexpr uint64_t Normal(uint64_t word) {
  return word & kNormalMask;
}
constexpr uint64_t Split(uint64_t word) {
  return (Normal(word) + kNormalPerHuge - 1) / kNormalPerHuge;
}

// What `charged` bytes add to the word; addition never carries between the fields for any capacity below 256
// TiB.
constexpr uint64_t Increment(uint64_t charged, PageSize size) {
  return size == PageSize::kNormal ? charged / kNormalPage : (charged / kHugePage) << kNormalBits;
}
}  // namespace

bool PageAccounts::Charge(uint64_t charged, PageSize size, uint64_t capacity) {
  if (charged > capacity) return false;
  uint64_t increment = Increment(charged, size);
  uint64_t word = word_.load(std::memory_order_relaxed);
  do {
    uint64_t next = word + increment;
    if (Huge(next) + Split(next) > capacity / kHugePage) return false;
  } while (!word_.compare_exchange_weak(word, word + increment, std::memory_order_relaxed));
  return true;
}

void PageAccounts::Refund(uint64_t charged, PageSize size) {
  uint64_t before = word_.fetch_sub(Increment(charged, size), std::memory_order_relaxed);
  BELAY_DCHECK(before >= Increment(charged, size));
  static_cast<void>(before);
}

PageTotals PageAccounts::Totals(uint64_t capacity) const {
  uint64_t word = word_.load(std::memory_order_relaxed);
  uint64_t pages = capacity / kHugePage;
  PageTotals totals;
  totals.huge_total = (pages - Split(word)) * kHugePage;
  totals.huge_free = totals.huge_total - Huge(word) * kHugePage;
  totals.normal_total = Split(word) * kHugePage;
  totals.normal_free = totals.normal_total - Normal(word) * kNormalPage;
  return totals;
}

uint64_t PageAccounts::used_bytes() const {
  uint64_t word = word_.load(std::memory_order_relaxed);
  return Huge(word) * kHugePage + Normal(word) * kNormalPage;
}

}  // namespace belay::memory
