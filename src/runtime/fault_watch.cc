#include "runtime/fault_watch.h"

#include <unistd.h>
#include <atomic>
#include <cinttypes>
#include <cstdio>

#include "os/fault.h"
#include "os/symbolizer.h"
#include "os/thread.h"
#include "runtime/runtime.h"

namespace belay::runtime {
namespace {
using check::Finding;
using check::FindingId;
using memory::AddressSpace;
using memory::Allocation;
using memory::NodeMemory;

std::atomic<Runtime*> g_watched{nullptr};

void Describe(Finding& finding, Runtime& runtime, uintptr_t address) {
  NodeMemory::Place place = runtime.memory().Locate(address);
  int device = place.device >= 0 ? runtime.UserId(place.device) : -1;
  finding.where.device = device;
  const Allocation* block = place.block;
  if (place.region == AddressSpace::Region::kAlias) {
    finding.message.Append("the address is the device-side alias of registered host memory");
  } else if (block == nullptr || block->state.load(std::memory_order_acquire) == Allocation::State::kNever) {
    finding.message.Format("device %d, where nothing was ever allocated", device);
  } else {
    finding.message.Format("device %d, byte %" PRIu64 " of a block of %" PRIu64 " bytes%s", device, place.at,
                           block->size, block->live() ? "" : " that was freed");
    finding.AddRelated({"allocated", "aclrtMalloc", block->allocated_thread, device, -1, block->allocated});
    if (!block->live()) finding.AddRelated({"freed", nullptr, block->freed_thread, device, -1, block->freed});
  }
}

// Signal context: nothing here allocates.
os::FaultVerdict Watch(const os::Fault& fault) {
  constexpr os::FaultVerdict kExplained = os::FaultVerdict::kExplained;
  const uintptr_t address = fault.address, pc = fault.pc;
  const bool is_write = fault.is_write;
  Runtime* runtime = g_watched.load(std::memory_order_acquire);
  const AddressSpace& space = runtime->memory().space();
  if (!space.window().Holds(address) && !space.alias().Holds(address)) {
    HostWatch* watch = runtime->host_watch();
    return watch != nullptr ? watch->OnFault(fault) : os::FaultVerdict::kNotOurs;
  }
  if (!runtime->reporter().Wants(FindingId::kDevicePointerTouched)) return os::FaultVerdict::kNotOurs;

  // The plain line first: whatever happens next, this much was said.
  os::Symbol symbol = os::Symbolize(pc + 1, os::SymbolContext::kSignal);
  Text<512> line;
  line.Format("belay: host code touched device address 0x%" PRIxPTR " at %s+0x%" PRIx64 "\n", address,
              symbol.module.c_str(), symbol.offset);
  if (!runtime->options().quiet && write(STDERR_FILENO, line.c_str(), line.size()) < 0) return kExplained;

  Finding finding(FindingId::kDevicePointerTouched);
  finding.where.role = is_write ? "write" : "read";
  finding.where.thread = os::ThreadId();
  finding.where.site = Site{pc + 1};  // sites are return addresses: one past the instruction is inside it
  finding.message.Format("host code %s address 0x%" PRIxPTR ": ", is_write ? "wrote to" : "read from",
                         address);
  Describe(finding, *runtime, address);
  finding.rule.Append(
      "Device memory is reachable by copies and kernels only, never by loads and stores of the host "
      "(SPEC 30 §4)");
  finding.fix.Append(
      "copy the bytes to host memory with aclrtMemcpy(host, size, device, size, "
      "ACL_MEMCPY_DEVICE_TO_HOST) and use them there");
  runtime->reporter().ReportFromSignal(finding);
  return kExplained;
}
}  // namespace

void WatchFaults(Runtime& runtime) {
  g_watched.store(&runtime, std::memory_order_release);
  os::InstallFaultHandler(Watch);
}

}  // namespace belay::runtime
