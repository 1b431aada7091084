#include "abi/malloc_config.h"

namespace belay::abi {
namespace {
using check::FindingId;

// SPEC 30 §2.6: since 8.5, for pinned memory, on A2 and A3.
bool HasVaFlag(const machine::Machine& machine) {
  return machine.cann() >= facts::Cann::k85 &&
         (machine.family() == facts::Family::kA2 || machine.family() == facts::Family::kA3);
}

Status RefuseVaFlag(const Call& call, MallocConfig::For use) {
  return call.Refuse(code::kNotSupported, FindingId::kUnsupported)
      .Say("cfg sets ACL_RT_MEM_ATTR_VA_FLAG for %s",
           use == MallocConfig::For::kDevice ? "device memory" : "this product or version")
      .Rule("The VA flag is for aclrtMallocHostWithCfg, on A2 and A3, since 8.5 (SPEC 30 §2.6)")
      .Fix("leave the attribute out")
      .End();
}
}  // namespace

Status ReadMallocConfig(const Call& call, const aclrtMallocConfig& cfg, MallocConfig::For use,
                        MallocConfig* config) {
  if (cfg.numAttrs > 0 && cfg.attrs == nullptr) {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("cfg->attrs is a null pointer, cfg->numAttrs is %zu", cfg.numAttrs)
        .Rule("The array holds numAttrs attributes (SPEC 30 §2.6)")
        .Fix("pass the array, or 0 as numAttrs")
        .End();
  }
  for (size_t i = 0; i < cfg.numAttrs; ++i) {
    const aclrtMallocAttribute& attribute = cfg.attrs[i];
    switch (attribute.attr) {
      case ACL_RT_MEM_ATTR_RSV:
        break;
      case ACL_RT_MEM_ATTR_MODULE_ID:
        config->module = attribute.value.moduleId;
        break;
      case ACL_RT_MEM_ATTR_DEVICE_ID:
        config->has_device = true;
        config->device = attribute.value.deviceId;
        break;
      case ACL_RT_MEM_ATTR_VA_FLAG:
        if (use == MallocConfig::For::kDevice || !HasVaFlag(call.machine())) return RefuseVaFlag(call, use);
        config->va_flag = attribute.value.vaFlag != 0;
        break;
      default:
        return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
            .Say("cfg->attrs[%zu].attr is %d", i, static_cast<int>(attribute.attr))
            .Rule("Attributes are 0 to 3 (SPEC 30 §2.6)")
            .Fix("pass ACL_RT_MEM_ATTR_ values")
            .End();
    }
  }
  return Status();
}

Status NeedConfigDevice(const Call& call, const MallocConfig& config, const runtime::Device& current) {
  if (!config.has_device || config.device == static_cast<uint32_t>(current.user)) [[likely]]
    return Status();
  return call.Refuse(code::kRtParam, FindingId::kBadArgument)
      .Say("cfg names device %u, but device %d is current", config.device, current.user)
      .Rule("The device attribute equals the current device (SPEC 30 §2.6)")
      .Fix("leave the attribute out, or call aclrtSetDevice(%u) first", config.device)
      .With("current device bound", call.thread().bound, current.user)
      .End();
}

}  // namespace belay::abi
