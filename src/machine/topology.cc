#include "machine/topology.h"

namespace belay::machine {

const char* LinkKindName(LinkKind kind) {
  switch (kind) {
    case LinkKind::kNone:
      return "none";
    case LinkKind::kSelf:
      return "self";
    case LinkKind::kHccs:
      return "hccs";
    case LinkKind::kHccsSwitch:
      return "hccs-switch";
    case LinkKind::kSio:
      return "sio";
    case LinkKind::kPcieSwitch:
      return "pcie-switch";
    case LinkKind::kHostBridge:
      return "host-bridge";
    case LinkKind::kSystem:
      return "system";
  }
  return "none";
}

uint64_t TopologyBit(LinkKind kind) {
  switch (kind) {
    case LinkKind::kHccs:
      return 0x01;
    case LinkKind::kPcieSwitch:
      return 0x02;
    case LinkKind::kHostBridge:
      return 0x08;
    case LinkKind::kSio:
      return 0x20;
    case LinkKind::kHccsSwitch:
      return 0x40;
    case LinkKind::kNone:
    case LinkKind::kSelf:
    case LinkKind::kSystem:
      return 0x10;
  }
  return 0x10;
}

const char* MarkName(Mark mark) {
  switch (mark) {
    case Mark::kDoc:
      return "doc";
    case Mark::kMeasured:
      return "measured";
    case Mark::kAssumed:
      return "assumed";
  }
  return "assumed";
}

const LinkRule* LinkGraph::Rule(int a, int b) const {
  if (a == b || NodeOf(a) != NodeOf(b)) return nullptr;
  const int first = a % devices_per_node_;
  const int second = b % devices_per_node_;
  for (const LinkRule& rule : rules_) {
    bool holds = rule.crosswise ? first % rule.group == second % rule.group
                                : first / rule.group == second / rule.group;
    if (holds) return &rule;
  }
  return nullptr;
}

LinkKind LinkGraph::Link(int a, int b) const {
  if (a == b) return LinkKind::kSelf;
  const LinkRule* rule = Rule(a, b);
  return rule != nullptr ? rule->kind : LinkKind::kNone;
}

bool LinkGraph::Reachable(int a, int b) const {
  const LinkRule* rule = Rule(a, b);
  return rule != nullptr && rule->peer;
}

}  // namespace belay::machine
