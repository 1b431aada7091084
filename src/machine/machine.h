// The emulated machine: a product with the user's options applied.
//
// All ids are logical ids unless a name says otherwise. Threading: immutable once built, share it as const.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "machine/product.h"
#include "machine/topology.h"
#include "options/options.h"

namespace belay::machine {

struct AclVersion {
  int32_t major = 0;
  int32_t minor = 0;
  int32_t patch = 0;
};

// SPEC 11 §5
AclVersion AclVersionOf(facts::Cann cann);
const char* CannVersionText(facts::Cann cann);  // "9.0.0"
constexpr char kDriverVersionText[] = "25.5.0";

class Machine {
 public:
  static tl::expected<Machine, std::string> Build(const options::Options& options);

  const Product& product() const { return product_; }
  facts::Cann cann() const { return cann_; }
  facts::Family family() const { return product_.family; }
  const char* soc_name() const { return product_.soc.c_str(); }
  int device_count() const { return device_count_; }
  uint64_t memory_bytes() const { return memory_bytes_; }          // per device
  uint64_t p2p_window_bytes() const { return p2p_window_bytes_; }  // 0 = no separate window
  MemoryKind memory_kind() const { return product_.memory_kind; }
  const Limits& limits() const { return product_.limits[static_cast<int>(cann_)]; }
  const Quirks& quirks() const { return quirks_; }
  const LinkGraph& links() const { return links_; }
  AclVersion acl_version() const { return AclVersionOf(cann_); }

  // SPEC 10 §3.1: they differ in a container only. -1: no device here has that physical id.
  int PhysicalId(int logical) const {
    return physical_ids_.empty() ? logical : physical_ids_[static_cast<size_t>(logical)];
  }
  int LogicalOfPhysical(int64_t physical) const;

  // Whether the topology has a peer path from a to b; false for a == b.
  bool Reachable(int a, int b) const { return links_.Reachable(PhysicalId(a), PhysicalId(b)); }
  LinkKind Link(int a, int b) const { return links_.Link(PhysicalId(a), PhysicalId(b)); }
  // Pages of 1 GiB exist on A2 and A3 only. // SPEC 30 §1.2
  bool has_huge_1g() const;
  // True when the call answers 207000 on this product and version.
  bool Lacks(facts::Fn fn) const;

 private:
  Machine() = default;

  Product product_;
  facts::Cann cann_ = facts::Cann::k90;
  Quirks quirks_;
  LinkGraph links_;
  std::vector<int> physical_ids_;  // by logical id; empty: they are equal
  int device_count_ = 0;
  uint64_t memory_bytes_ = 0;
  uint64_t p2p_window_bytes_ = 0;
};

}  // namespace belay::machine
