#include "machine/machine.h"

#include "options/values.h"

namespace belay::machine {
namespace {

constexpr int kMostPhysicalIds = 1024;

// What the board form of the 200I family refuses on top of its support table. // SPEC 00 rule 11
bool BoardFormLacks(facts::Fn fn) {
  switch (fn) {
    case facts::Fn::aclrtMemcpy2d:
    case facts::Fn::aclrtMemcpy2dAsync:
    case facts::Fn::aclrtGetDevicesTopo:
      return true;
    default:
      return std::string_view(facts::Facts(fn).section).find("33 §2.") != std::string_view::npos;
  }
}

}  // namespace

AclVersion AclVersionOf(facts::Cann cann) {
  return cann == facts::Cann::k81 ? AclVersion{1, 14, 0} : AclVersion{1, 15, 0};
}

const char* CannVersionText(facts::Cann cann) {
  switch (cann) {
    case facts::Cann::k81:
      return "8.1.RC1";
    case facts::Cann::k85:
      return "8.5.0";
    case facts::Cann::k90:
      return "9.0.0";
    case facts::Cann::k91:
      return "9.1.0";
    case facts::Cann::kCount:
      break;
  }
  return "";
}

tl::expected<Machine, std::string> Machine::Build(const options::Options& options) {
  auto product = LoadProduct(options.product);
  if (!product) return tl::unexpected("option 'product': " + product.error());

  Machine machine;
  machine.product_ = std::move(*product);
  machine.cann_ = options.cann;
  machine.quirks_ = machine.product_.quirks;
  for (const auto& [name, value] : options.quirks) {
    auto set = SetQuirk(machine.quirks_, name, value);
    if (!set) return tl::unexpected("option 'quirk': " + set.error());
  }

  const int per_node = static_cast<int>(machine.product_.devices.value);
  machine.device_count_ = options.devices != 0 ? options.devices : per_node;
  machine.physical_ids_ = machine.product_.physical_ids.value;
  if (machine.physical_ids_.empty()) {
    machine.links_ = LinkGraph(per_node, machine.product_.links);
  } else {
    if (machine.device_count_ > per_node) {
      return tl::unexpected("option 'devices': the product is a container with " + std::to_string(per_node) +
                            " devices, which has no further copies");
    }
    // The devices of a container are part of one host, wherever they stand in it.
    machine.links_ = LinkGraph(kMostPhysicalIds, machine.product_.links);
    machine.physical_ids_.resize(static_cast<size_t>(machine.device_count_));
  }

  machine.memory_bytes_ = options.hbm_bytes != 0 ? options.hbm_bytes : machine.product_.memory_bytes.value;
  if (machine.memory_bytes_ % kPageBytes != 0 || machine.memory_bytes_ > kMaxMemoryBytes) {
    return tl::unexpected("option 'hbm': '" + options::FormatSize(machine.memory_bytes_) +
                          "' must be a multiple of 2MiB, the page of device memory, and at most 16TiB");
  }
  // Whole pages, because P2P allocations are charged like others. // SPEC 30 §0.3
  const uint64_t window = machine.memory_bytes_ * machine.product_.p2p_window_percent.value / 100;
  machine.p2p_window_bytes_ = window - window % kPageBytes;
  return machine;
}

int Machine::LogicalOfPhysical(int64_t physical) const {
  for (int logical = 0; logical < device_count_; ++logical) {
    if (PhysicalId(logical) == physical) return logical;
  }
  return -1;
}

bool Machine::has_huge_1g() const {
  return family() == facts::Family::kA2 || family() == facts::Family::kA3;
}

bool Machine::Lacks(facts::Fn fn) const {
  if (facts::Lacks(facts::Facts(fn), cann_, family())) return true;
  return product_.form == Form::kRc && BoardFormLacks(fn);
}

}  // namespace belay::machine
