// How many bytes each software component (module id) holds of one heap, and the most that it ever held.
//
// Threading: none of its own; it lives under the lock that a heap takes anyway. Cost: for the application an
// addition and a comparison, for other modules a look into a map.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace belay::memory {

class ModuleUsage {
 public:
  // SPEC 30 §1.3
  static constexpr uint16_t kApplication = 33;

  struct Amount {
    uint64_t current = 0, peak = 0;  // bytes
  };
  struct Entry {
    uint16_t module;
    Amount amount;
  };

  void Add(uint16_t module, uint64_t bytes) {
    Amount& amount = Of(module);
    amount.current += bytes;
    amount.peak = std::max(amount.peak, amount.current);
  }
  void Remove(uint16_t module, uint64_t bytes) { Of(module).current -= bytes; }

  // The application, and every other module that ever held something.
  std::vector<Entry> Entries() const {
    std::vector<Entry> entries = {{kApplication, application_}};
    if (others_ == nullptr) return entries;
    for (const auto& [module, amount] : *others_) entries.push_back({module, amount});
    return entries;
  }

 private:
  Amount& Of(uint16_t module) {
    if (module == kApplication) [[likely]]
      return application_;
    if (others_ == nullptr) others_ = std::make_unique<std::map<uint16_t, Amount>>();
    return (*others_)[module];
  }

  Amount application_;
  std::unique_ptr<std::map<uint16_t, Amount>> others_;  // few programs have any
};

}  // namespace belay::memory
