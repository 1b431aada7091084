// What a program can ask of a device: SPEC 10 §§4.6, 5.1 to 5.4.
#include <cstring>

#include "abi/call.h"
#include "abi/resolve.h"
#include "belay/abi/bodies.h"
#include "machine/attribute.h"

namespace belay::abi::body {
using check::FindingId;
using facts::Family;
using runtime::Device;

namespace {
Status RefuseNumber(const Call& call, const char* parameter, int64_t value, const char* rule) {
  return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
      .Say("%s is %lld", parameter, static_cast<long long>(value))
      .Rule(rule)
      .Fix("pass one of the documented values as %s", parameter)
      .End();
}

// A number that the caller knows to exist.
int64_t Known(const Call& call, const Device& device, int32_t attribute) {
  return machine::Attribute(call.machine(), device.logical, attribute).value;
}
}  // namespace

Status aclrtSetTsDevice(Call& call, aclrtTsId tsId) {
  if (tsId == ACL_TS_ID_AICORE || tsId == ACL_TS_ID_AIVECTOR) return Status();
  return RefuseNumber(call, "tsId", tsId, "The schedulers are ACL_TS_ID_AICORE and _AIVECTOR (SPEC 10 §4.6)");
}

Status aclrtQueryDeviceStatus(Call& call, int32_t deviceId, aclrtDeviceStatus* deviceStatus) {
  Device* device = nullptr;
  BELAY_TRY(NeedDevice(call, deviceId, "deviceId", &device));
  *deviceStatus = device->fatal.load(std::memory_order_acquire) != 0 ? ACL_RT_DEVICE_STATUS_ABNORMAL
                                                                     : ACL_RT_DEVICE_STATUS_NORMAL;
  return Status();
}

// Copies and host functions occupy no core, and nothing else runs: every unit that exists is idle.
Status aclrtGetDeviceUtilizationRate(Call& call, int32_t deviceId, aclrtUtilizationInfo* utilizationInfo) {
  if (utilizationInfo->utilizationExtend != nullptr) {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("utilizationInfo->utilizationExtend is %p",
             static_cast<const void*>(utilizationInfo->utilizationExtend))
        .Rule("The member is reserved and must be null (SPEC 10 §5.1)")
        .Fix("set all of the structure to zero before the call")
        .End();
  }
  Device* device = nullptr;
  BELAY_TRY(NeedDevice(call, deviceId, "deviceId", &device));
  constexpr int32_t kNone = -1;
  utilizationInfo->cubeUtilization = 0;
  utilizationInfo->vectorUtilization = call.machine().family() == Family::kTrn ? kNone : 0;
  utilizationInfo->aicpuUtilization = 0;
  utilizationInfo->memoryUtilization = kNone;
  return Status();
}

Status aclrtGetDeviceInfo(Call& call, uint32_t deviceId, aclrtDevAttr attr, int64_t* value) {
  using Kind = machine::AttributeValue::Kind;
  const machine::AttributeValue got = machine::Attribute(call.machine(), 0, attr);
  if (got.kind == Kind::kNotHere) {
    return call.Refuse(code::kNotSupported, FindingId::kUnsupported)
        .Say("attribute %d does not exist on %s with version %s: %s", static_cast<int>(attr),
             call.machine().product().name.c_str(), facts::CannName(call.machine().cann()), got.why)
        .Rule("An attribute that the product or version lacks answers 207000 (SPEC 10 §5.2)")
        .Fix("test for 207000 and go on without the number")
        .End();
  }
  if (got.kind == Kind::kUnknownNumber)
    return RefuseNumber(call, "attr", attr, "The attribute is a value of aclrtDevAttr (SPEC 10 §5.2)");
  Device* device = nullptr;
  BELAY_TRY(NeedDevice(call, deviceId, "deviceId", &device));
  *value = Known(call, *device, attr);
  return Status();
}

Status aclGetDeviceCapability(Call& call, uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t* value) {
  int32_t attribute;
  switch (deviceInfo) {
    case ACL_DEVICE_INFO_AI_CORE_NUM:
      attribute = ACL_DEV_ATTR_AICORE_CORE_NUM;
      break;
    case ACL_DEVICE_INFO_VECTOR_CORE_NUM:
      attribute = ACL_DEV_ATTR_VECTOR_CORE_NUM;
      break;
    case ACL_DEVICE_INFO_L2_SIZE:
      attribute = ACL_DEV_ATTR_L2_CACHE_SIZE;
      break;
    default:
      return RefuseNumber(call, "deviceInfo", deviceInfo, "The numbers are 0, 1 and 2 (SPEC 10 §5.3)");
  }
  Device* device = nullptr;
  BELAY_TRY(NeedDevice(call, deviceId, "deviceId", &device));
  *value = Known(call, *device, attribute);
  return Status();
}

Status aclrtGetDeviceCapability(Call& call, int32_t deviceId, aclrtDevFeatureType devFeatureType,
                                int32_t* value) {
  if (devFeatureType != ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV &&
      devFeatureType != ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV)
    return RefuseNumber(call, "devFeatureType", devFeatureType, "The features are 1 and 21 (SPEC 10 §5.3)");
  Device* device = nullptr;
  BELAY_TRY(NeedDevice(call, deviceId, "deviceId", &device));
  const Family family = call.machine().family();
  const bool newer = family == Family::kA2 || family == Family::kA3 || family == Family::k950;
  *value = devFeatureType == ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV && newer ? 1 : 0;
  return Status();
}

Status aclGetCannAttribute(Call& call, aclCannAttr cannAttr, int32_t* value) {
  const Family family = call.machine().family();
  switch (cannAttr) {
    case ACL_CANN_ATTR_INF_NAN:
      *value = machine::HasInfNan(family) ? 1 : 0;
      return Status();
    case ACL_CANN_ATTR_BF16:
      *value = machine::HasBf16(family) ? 1 : 0;
      return Status();
    case ACL_CANN_ATTR_JIT_COMPILE:
      *value = machine::HasJitCompile(family) ? 1 : 0;
      return Status();
    default:
      return RefuseNumber(call, "cannAttr", cannAttr, "The attributes are 0, 1 and 2 (SPEC 10 §5.3)");
  }
}

Status aclGetCannAttributeList(Call& call, const aclCannAttr** cannAttrList, size_t* num) {
  static constexpr aclCannAttr kAll[] = {ACL_CANN_ATTR_INF_NAN, ACL_CANN_ATTR_BF16,
                                         ACL_CANN_ATTR_JIT_COMPILE};
  const Family family = call.machine().family();
  const bool formats = machine::HasInfNan(family), compiles = machine::HasJitCompile(family);
  *cannAttrList = formats ? kAll : kAll + 2;
  *num = (formats ? 2u : 0u) + (compiles ? 1u : 0u);
  return Status();
}

Status aclrtDeviceGetStreamPriorityRange(Call& call, int32_t* leastPriority, int32_t* greatestPriority) {
  const machine::PriorityRange range = machine::StreamPriorities(call.machine().family());
  *leastPriority = range.least;
  *greatestPriority = range.greatest;
  return Status();
}

Status aclrtDeviceGetUuid(Call& call, int32_t deviceId, aclrtUuid* uuid) {
  Device* device = nullptr;
  BELAY_TRY(NeedDevice(call, deviceId, "deviceId", &device));
  const auto bytes = machine::Uuid(call.machine(), device->logical);
  static_assert(sizeof(uuid->bytes) == bytes.size());
  memcpy(uuid->bytes, bytes.data(), bytes.size());
  return Status();
}

Status aclrtGetDevicesTopo(Call& call, uint32_t deviceId, uint32_t otherDeviceId, uint64_t* value) {
  if (deviceId == otherDeviceId) {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("deviceId and otherDeviceId are both %u", deviceId)
        .Rule("A link joins two different devices (SPEC 10 §5.4)")
        .Fix("pass two different ids")
        .End();
  }
  Device *device = nullptr, *other = nullptr;
  BELAY_TRY(NeedDevice(call, deviceId, "deviceId", &device));
  BELAY_TRY(NeedDevice(call, otherDeviceId, "otherDeviceId", &other));
  *value = machine::TopologyBit(call.machine().Link(device->logical, other->logical));
  return Status();
}

}  // namespace belay::abi::body
