#include "runtime/leaks.h"

#include <cinttypes>

#include "belay/facts/functions.h"
#include "runtime/runtime.h"

namespace belay::runtime {
using check::Finding;
using check::FindingId;

namespace {
// How a kind is talked about.
struct Words {
  const char *one, *many;
  const char* bytes_on;  // between bytes and device; null: the kind has no bytes
  const char* undone;    // "freed"
  const char* made;      // the role of the creation site
  const char* rule;
  const char* fix;
};

constexpr Words kWords[] = {
    {"block of device memory", "blocks of device memory", "on", "freed", "allocated",
     "Device memory is freed by the program; a reset or the end takes the rest away (SPEC 30 §2.7, §4)",
     "call aclrtFree for each block when its last task is done"},
    {"block of pinned host memory", "blocks of pinned host memory", "", "freed", "allocated",
     "Pinned host memory is freed by the program; finalising takes the rest away (SPEC 30 §3.2, §4)",
     "call aclrtFreeHost for each block when its last task is done"},
    {"registration of host memory", "registrations of host memory", "for", "cancelled", "registered",
     "A registration ends with aclrtHostUnregister, before its memory is freed (SPEC 30 §3.5)",
     "call aclrtHostUnregister for each range before its memory is freed"},
    {"context", "contexts", nullptr, "destroyed", "created",
     "Streams are destroyed first, then contexts, then the device is reset (SPEC 10 §4.2)",
     "call aclrtDestroyContext for each context that aclrtCreateContext gave out"},
    {"stream", "streams", nullptr, "destroyed", "created",
     "Streams are destroyed before their device is reset (SPEC 10 §4.2)",
     "call aclrtDestroyStream for each stream, or create one and use it again"},
    {"event", "events", nullptr, "destroyed", "created",
     "Events are destroyed before their device is reset (SPEC 10 §4.2)",
     "call aclrtDestroyEvent for each event, or create one and record it again"},
    {"notify", "notifies", nullptr, "destroyed", "created",
     "A notify holds its number until it is destroyed (SPEC 20 §5)",
     "call aclrtDestroyNotify for each notify"},
    {"count notify", "count notifies", nullptr, "destroyed", "created",
     "A count notify holds its number until it is destroyed (SPEC 20 §5)",
     "call aclrtCntNotifyDestroy for each count notify"},
};
static_assert(std::size(kWords) == static_cast<size_t>(LeakReport::Kind::kCountNotify) + 1);

bool Broken(const Device& device) {
  return device.fatal.load(std::memory_order_relaxed) != 0;
}

const char* NameOf(uint16_t function) {
  return function < static_cast<uint16_t>(facts::Fn::kCount)
             ? facts::Facts(static_cast<facts::Fn>(function)).name
             : nullptr;
}
}  // namespace

Moment AllocatedAt(const memory::Allocation& block) {
  return {NameOf(block.allocated_by), block.allocated_thread, block.allocated};
}

Moment RegisteredAt(const memory::HostMemory::Registration& range) {
  return {NameOf(range.function), range.thread, range.site};
}

void LeakReport::Add(Kind kind, const Moment& created, int device, uint64_t bytes) {
  uint64_t place = created.site.known() ? created.site.value : reinterpret_cast<uint64_t>(created.api);
  Group& group = groups_[{kind, place}];
  if (group.objects == 0) group.first = created;
  ++group.objects;
  group.bytes += bytes;
  if (device >= 0) group.devices.insert(device);
}

Finding LeakReport::FindingOf(Kind kind, const Group& group, const Ended& ended) {
  const Words& words = kWords[static_cast<size_t>(kind)];
  int device = group.devices.empty() ? -1 : *group.devices.begin();
  Finding finding(FindingId::kLeak);
  finding.times = group.objects;
  finding.where = {words.made, group.first.api, group.first.thread, device, -1, group.first.site};
  finding.message.Format("%" PRIu64 " %s", group.objects, group.objects == 1 ? words.one : words.many);
  if (words.bytes_on != nullptr) finding.message.Format(", %" PRIu64 " bytes", group.bytes);
  if (device >= 0) {
    finding.message.Format(" %s ", words.bytes_on != nullptr ? words.bytes_on : "of");
    group.devices.size() == 1 ? finding.message.Format("device %d", device)
                              : finding.message.Format("%zu devices", group.devices.size());
  }
  finding.message.Format("%s %s never %s", words.bytes_on != nullptr ? "," : "",
                         group.objects == 1 ? "was" : "were", words.undone);
  if (ended.role != nullptr)
    finding.AddRelated({ended.role, ended.by.api, ended.by.thread, device, -1, ended.by.site});
  finding.rule.Append(words.rule);
  finding.fix.Append(words.fix);
  return finding;
}

void LeakReport::Send(check::Reporter& reporter, const Ended& ended) const {
  for (const auto& [key, group] : groups_) reporter.Report(FindingOf(key.first, group, ended));
}

// What goes with a device. A broken one is left out: calls that would have given its objects back may fail.
void Runtime::FindLeakedMemory(Device& device, LeakReport* leaks) {
  if (Broken(device)) return;
  if (memory::DeviceMemory* memory = memory_->Find(device.logical); memory != nullptr) {
    memory->ForEachLive([&](const memory::Allocation& block) {
      leaks->Add(LeakReport::Kind::kDeviceMemory, AllocatedAt(block), device.user, block.size);
    });
  }
  memory_->host().ForEachRegistration([&](const memory::HostMemory::Registration& range) {
    if (range.device != device.logical) return;
    leaks->Add(LeakReport::Kind::kRegistration, RegisteredAt(range), device.user, range.bytes);
  });
}

void Runtime::FindLeakedObjects(LeakReport* leaks) {
  using Kind = LeakReport::Kind;
  {
    MutexLock lock(objects_);
    for (const Device& device : devices_) {
      if (Broken(device)) continue;
      for (const Context* context : device.contexts) {
        if (!context->is_primary) leaks->Add(Kind::kContext, context->created, device.user);
        for (const StreamObject* stream : context->streams) {
          if (!stream->is_default) leaks->Add(Kind::kStream, stream->created, device.user);
        }
      }
    }
  }
  // What survives finalising is told once.
  auto add = [leaks](Kind kind, auto& object) {
    if (object.leak_told || Broken(*object.device)) return;
    object.leak_told = true;
    leaks->Add(kind, object.created, object.device->user);
  };
  events_.ForEachLive([&](EventObject& event) { add(Kind::kEvent, event); });
  notifies_.ForEachLive([&](NotifyObject& notify) { add(Kind::kNotify, notify); });
  counters_.ForEachLive([&](NotifyObject& notify) { add(Kind::kCountNotify, notify); });
  memory_->host().ForEachLive([&](const memory::Allocation& block) {
    leaks->Add(Kind::kPinnedMemory, AllocatedAt(block), -1, block.size);
  });
}

void Runtime::ReportLeaks(const LeakReport::Ended& ended) {
  if (!reporter_->Wants(FindingId::kLeak)) return;
  LeakReport leaks;
  for (Device& device : devices_) FindLeakedMemory(device, &leaks);
  FindLeakedObjects(&leaks);
  leaks.Send(*reporter_, ended);
}

}  // namespace belay::runtime
