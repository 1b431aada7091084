// How much memory a device has, and who holds it. SPEC 30 §1.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "abi/call.h"
#include "abi/resolve.h"
#include "belay/abi/bodies.h"

namespace belay::abi {
namespace {
using check::FindingId;
using memory::ModuleUsage;
using runtime::Context;

enum class Pages : uint8_t { kAll, kHuge, kNormal, kGiant };

// What an attribute asks about.
struct Attribute {
  Pages pages;
  bool p2p;
  enum class Kind : uint8_t { kDdr, kHbm, kAny } kind;
};

constexpr Attribute kAttributes[] = {
    {Pages::kAll, false, Attribute::Kind::kDdr},    {Pages::kAll, false, Attribute::Kind::kHbm},
    {Pages::kHuge, false, Attribute::Kind::kDdr},   {Pages::kNormal, false, Attribute::Kind::kDdr},
    {Pages::kHuge, false, Attribute::Kind::kHbm},   {Pages::kNormal, false, Attribute::Kind::kHbm},
    {Pages::kHuge, true, Attribute::Kind::kDdr},    {Pages::kNormal, true, Attribute::Kind::kDdr},
    {Pages::kHuge, true, Attribute::Kind::kHbm},    {Pages::kNormal, true, Attribute::Kind::kHbm},
    {Pages::kGiant, false, Attribute::Kind::kHbm},  {Pages::kGiant, true, Attribute::Kind::kHbm},
    {Pages::kNormal, false, Attribute::Kind::kAny}, {Pages::kHuge, false, Attribute::Kind::kAny},
    {Pages::kGiant, false, Attribute::Kind::kAny},  {Pages::kNormal, true, Attribute::Kind::kAny},
    {Pages::kHuge, true, Attribute::Kind::kAny},    {Pages::kGiant, true, Attribute::Kind::kAny},
};
constexpr int kFirstOf90 = 12;  // ACL_MEM_NORMAL and later came with 9.0

// Whether the product has such memory; SPEC 30 §1.2.
bool Exists(const machine::Machine& machine, const Attribute& attribute) {
  bool ddr_product = machine.memory_kind() == machine::MemoryKind::kDdr;
  if (attribute.kind == Attribute::Kind::kDdr && !ddr_product) return false;
  if (attribute.pages == Pages::kGiant && !machine.has_huge_1g()) return false;
  return !(attribute.p2p && machine.family() == facts::Family::k200I);
}

struct Amount {
  uint64_t free = 0, total = 0;
};

Amount Measure(const Call& call, int device, const Attribute& attribute) {
  const memory::Books& books = call.memory().books();
  memory::PageTotals totals = books.Totals(device);
  Amount amount;
  switch (attribute.pages) {
    case Pages::kAll:
      amount = {totals.free(), totals.total()};
      break;
    case Pages::kHuge:
      amount = {totals.huge_free, totals.huge_total};
      break;
    case Pages::kNormal:
      amount = {totals.normal_free, totals.normal_total};
      break;
    case Pages::kGiant:
      amount = {totals.huge_free / memory::kGiantPage * memory::kGiantPage,
                totals.total() / memory::kGiantPage * memory::kGiantPage};
      break;
  }
  if (attribute.p2p && books.limits().p2p_window != 0) {
    amount.free = std::min(amount.free, books.p2p_free(device));
    amount.total = std::min(amount.total, books.limits().p2p_window);
  }
  return amount;
}

constexpr uint16_t kRuntimeModule = 7;

// SPEC 30 §1.3: the application and Belay are always listed, others once they held something.
std::vector<ModuleUsage::Entry> Components(memory::DeviceMemory* memory) {
  std::vector<ModuleUsage::Entry> components = {{ModuleUsage::kApplication, {}}};
  if (memory != nullptr) components = memory->usage();
  // Belay itself takes nothing of the device's capacity.
  if (std::none_of(components.begin(), components.end(),
                   [](const ModuleUsage::Entry& entry) { return entry.module == kRuntimeModule; })) {
    components.push_back({kRuntimeModule, {}});
  }
  std::sort(components.begin(), components.end(),
            [](const ModuleUsage::Entry& a, const ModuleUsage::Entry& b) {
              return a.amount.current != b.amount.current ? a.amount.current > b.amount.current
                                                          : a.module < b.module;
            });
  return components;
}

void PutName(uint16_t module, aclrtMemUsageInfo* info) {
  if (module == ModuleUsage::kApplication)
    snprintf(info->name, sizeof info->name, "APP");
  else if (module == kRuntimeModule)
    snprintf(info->name, sizeof info->name, "RUNTIME");
  else
    snprintf(info->name, sizeof info->name, "MODULE_%u", module);
}
}  // namespace

namespace body {

Status aclrtGetMemInfo(Call& call, aclrtMemAttr attr, size_t* free, size_t* total) {
  const machine::Machine& machine = call.machine();
  int value = static_cast<int>(attr);
  bool known = value >= 0 && value < static_cast<int>(std::size(kAttributes));
  if (known && value >= kFirstOf90 && machine.cann() < facts::Cann::k90) {
    return call.Refuse(code::kNotSupported, FindingId::kUnsupported)
        .Say("attr %d came with version 9.0, the profile is %s", value, facts::CannName(machine.cann()))
        .Rule("A value that only a newer version knows answers 207000 (SPEC 30 §1.2)")
        .Fix("ask for ACL_HBM_MEM, which every version and product answers")
        .End();
  }
  if (!known) {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("attr is %d", value)
        .Rule("attr is one of aclrtMemAttr, 0 to 17 (SPEC 30 §1.2)")
        .Fix("ask for ACL_HBM_MEM, which every version and product answers")
        .End();
  }
  Context* context = nullptr;
  BELAY_TRY(NeedContext(call, &context));
  Amount amount;  // what the product does not have is 0 of 0, and a success
  if (Exists(machine, kAttributes[value]))
    amount = Measure(call, context->device->logical, kAttributes[value]);
  *free = amount.free;
  *total = amount.total;
  return Status();
}

Status aclrtGetMemUsageInfo(Call& call, int32_t deviceId, aclrtMemUsageInfo* memUsageInfo, size_t inputNum,
                            size_t* outputNum) {
  if (inputNum == 0) {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("inputNum is 0")
        .Rule("The array has room for at least one record (SPEC 30 §1.3)")
        .Fix("pass the number of records in memUsageInfo")
        .End();
  }
  runtime::Device* device = nullptr;
  BELAY_TRY(NeedDevice(call, deviceId, "deviceId", &device));
  std::vector<ModuleUsage::Entry> components = Components(call.memory().Find(device->logical));
  if (components.size() > inputNum) components.resize(inputNum);
  for (size_t i = 0; i < components.size(); ++i) {
    memUsageInfo[i] = {};  // the reserved fields too
    PutName(components[i].module, &memUsageInfo[i]);
    memUsageInfo[i].curMemSize = components[i].amount.current;
    memUsageInfo[i].memPeakSize = components[i].amount.peak;
  }
  *outputNum = components.size();
  return Status();
}

}  // namespace body
}  // namespace belay::abi
