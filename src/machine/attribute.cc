#include "machine/attribute.h"

#include <algorithm>

#include "base/sha256.h"

namespace belay::machine {
namespace {
using facts::Cann;
using facts::Family;
using Kind = AttributeValue::Kind;

AttributeValue Is(int64_t value) {
  return {Kind::kKnown, value, ""};
}
AttributeValue NotHere(const char* why) {
  return {Kind::kNotHere, 0, why};
}

int64_t SimtValue(const Simt& simt, int32_t attribute) {
  switch (attribute) {
    case 202:
      return simt.warp_size.value;
    case 203:
      return simt.threads_per_vector_core.value;
    case 204:
      return simt.local_bytes_per_vector_core.value;
    case 208:
      return simt.max_blocks_per_grid.value;
    case 209:
      return simt.max_threads_per_block.value;
    default:
      return attribute < 208 ? simt.max_grid[attribute - 205].value : simt.max_block[attribute - 210].value;
  }
}

// 202 to 212: threads of the vector cores.
AttributeValue SimtAttribute(const Machine& machine, int32_t attribute) {
  const Cann since = attribute <= 204 ? Cann::k90 : Cann::k91;
  if (machine.family() != Family::k950) {
    return machine.cann() >= Cann::k91 ? Is(0) : NotHere("only the family 950 has it before 9.1");
  }
  if (machine.cann() < since) return NotHere("it came with a later version");
  if (!machine.product().simt) return NotHere("the product file has no table [simt]");
  return Is(SimtValue(*machine.product().simt, attribute));
}

}  // namespace

AttributeValue Attribute(const Machine& machine, int logical, int32_t attribute) {
  const Family family = machine.family();
  const Cores& cores = machine.product().cores;
  const int physical = machine.PhysicalId(logical);
  const bool super_pod = family == Family::kA3 || family == Family::k950;
  const AttributeValue later = NotHere("it came with a later version");
  switch (attribute) {
    case 1:
      return Is(cores.ai_cpu.value);
    case 101:
    case 102:
      return Is(cores.ai_core.value);
    case 201:
      return Is(family == Family::kTrn ? 0 : cores.vector_core.value);
    case 301:
      return Is(static_cast<int64_t>(machine.memory_bytes()));
    case 302:
      return Is(static_cast<int64_t>(cores.l2_bytes.value));
    case 401:  // every device runs under one system
    case 407:  // main board
    case 501:  // whole devices
      return Is(0);
    case 402:  // two dies are one chip there
      return Is(family == Family::kA3 ? physical / 2 : physical);
    case 403:
      return super_pod ? Is(physical) : NotHere("the product is no part of a super node");
    case 404:
    case 405:
      return super_pod ? Is(0) : NotHere("the product is no part of a super node");
    case 406:
      return family == Family::k950 ? NotHere("the family 950 does not have it") : Is(0);
    case 408:  // PCIe
      return machine.cann() >= Cann::k91 ? Is(0) : later;
    case 409:
      return later;
    case 601:
      return machine.cann() >= Cann::k91 ? Is(cores.npu_arch.value) : later;
    default:
      if (attribute >= 202 && attribute <= 212) return SimtAttribute(machine, attribute);
      return {Kind::kUnknownNumber, 0, ""};
  }
}

bool HasInfNan(Family family) {
  return family == Family::kA2 || family == Family::kA3 || family == Family::k950;
}
bool HasBf16(Family family) {
  return HasInfNan(family);
}
bool HasJitCompile(Family family) {
  return family != Family::k950;
}

PriorityRange StreamPriorities(Family family) {
  return family == Family::k200I ? PriorityRange{0, 0} : PriorityRange{7, 0};
}

std::array<uint8_t, 16> Uuid(const Machine& machine, int logical) {
  const auto digest =
      Sha256("belay:" + machine.product().soc + ":" + std::to_string(machine.PhysicalId(logical)));
  std::array<uint8_t, 16> bytes;
  std::copy_n(digest.begin(), bytes.size(), bytes.begin());
  return bytes;
}

}  // namespace belay::machine
