// Which devices of a machine are linked, how, and which of them can be peers.
//
// Pairs are decided by a short list of rules over physical ids, never by a matrix: 1024 devices cost nothing.
// Devices beyond the product's count are further copies of its node, and no rule joins two nodes. Threading:
// immutable. Cost: a few divisions.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace belay::machine {

enum class LinkKind : uint8_t { kNone, kSelf, kHccs, kHccsSwitch, kSio, kPcieSwitch, kHostBridge, kSystem };

// "hccs", "pcie-switch", ...: the words of the product file.
const char* LinkKindName(LinkKind kind);

// What aclrtGetDevicesTopo says of a link of this kind; no link counts as across the system. // SPEC 10 §5.4
uint64_t TopologyBit(LinkKind kind);

// Where a number comes from; every number of a product file says so.
enum class Mark : uint8_t { kDoc, kMeasured, kAssumed };
const char* MarkName(Mark mark);

template <class T>
struct Marked {
  T value{};
  Mark mark = Mark::kAssumed;
  std::string note;
};

// Holds for two devices of one node with equal position / group or, for `crosswise`, equal position % group.
struct LinkRule {
  LinkKind kind = LinkKind::kNone;
  int group = 0;
  bool crosswise = false;
  bool peer = false;
  Marked<double> bandwidth_gbps;  // 10^9 bytes a second, one direction; 0 = unknown
  Marked<double> latency_us;      // 0 = unknown
  std::string note;
};

class LinkGraph {
 public:
  LinkGraph() = default;
  LinkGraph(int devices_per_node, std::vector<LinkRule> rules)
      : devices_per_node_(devices_per_node), rules_(std::move(rules)) {}

  // The first rule that holds for two different devices; null when none does.
  const LinkRule* Rule(int a, int b) const;
  LinkKind Link(int a, int b) const;
  // False for a device and itself.
  bool Reachable(int a, int b) const;

  int devices_per_node() const { return devices_per_node_; }
  int NodeOf(int device) const { return device / devices_per_node_; }

 private:
  int devices_per_node_ = 1;
  std::vector<LinkRule> rules_;  // nearest first
};

}  // namespace belay::machine
