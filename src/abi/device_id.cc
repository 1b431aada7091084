// The numberings of devices: SPEC 10 §3.1.
#include <atomic>

#include "abi/call.h"
#include "abi/resolve.h"
#include "belay/abi/bodies.h"

namespace belay::abi::body {
using check::FindingId;
using runtime::Device;

namespace {
Status RefuseId(const Call& call, int32_t id, const char* kind, const char* why) {
  return call.Refuse(code::kDeviceId, FindingId::kBadArgument)
      .Say("%d is no %s device id here: %s", id, kind, why)
      .Rule("An id outside of its numbering, or of a device that is not visible, is refused (SPEC 10 §3.1)")
      .Fix("ask aclrtGetDeviceCount, and look at ASCEND_RT_VISIBLE_DEVICES and the product file")
      .End();
}

Status NeedLogical(const Call& call, int32_t id) {
  if (id >= 0 && id < call.machine().device_count()) return Status();
  return RefuseId(call, id, "logical", "the machine does not have so many devices");
}

Status PhysicalOfUser(const Call& call, int32_t user, const char* parameter, int32_t* physical) {
  Device* device = nullptr;
  BELAY_TRY(NeedDevice(call, user, parameter, &device));
  *physical = call.machine().PhysicalId(device->logical);
  return Status();
}
}  // namespace

Status aclrtGetLogicDevIdByUserDevId(Call& call, const int32_t userDevid, int32_t* const logicDevId) {
  Device* device = nullptr;
  BELAY_TRY(NeedDevice(call, userDevid, "userDevid", &device));
  *logicDevId = device->logical;
  return Status();
}

Status aclrtGetUserDevIdByLogicDevId(Call& call, const int32_t logicDevId, int32_t* const userDevid) {
  BELAY_TRY(NeedLogical(call, logicDevId));
  const int user = call.runtime().UserId(logicDevId);
  if (user < 0) return RefuseId(call, logicDevId, "logical", "ASCEND_RT_VISIBLE_DEVICES masks the device");
  *userDevid = user;
  return Status();
}

Status aclrtGetLogicDevIdByPhyDevId(Call& call, const int32_t phyDevId, int32_t* const logicDevId) {
  const int logical = call.machine().LogicalOfPhysical(phyDevId);
  if (logical < 0) return RefuseId(call, phyDevId, "physical", "no device of this machine has it");
  *logicDevId = logical;
  return Status();
}

// SPEC 10 §3.1: a known defect; the argument is a user id.
Status aclrtGetPhyDevIdByLogicDevId(Call& call, const int32_t logicDevId, int32_t* const phyDevId) {
  const bool by_logic = call.machine().quirks().phyid_by_logic;
  if (by_logic) {
    BELAY_TRY(NeedLogical(call, logicDevId));
    *phyDevId = call.machine().PhysicalId(logicDevId);
  } else {
    BELAY_TRY(PhysicalOfUser(call, logicDevId, "logicDevId", phyDevId));
  }
  const bool both = logicDevId < call.machine().device_count() && logicDevId < call.runtime().device_count();
  if (!both) return Status();
  const int as_logical = call.machine().PhysicalId(logicDevId);
  const int as_user = call.machine().PhysicalId(call.runtime().device(logicDevId).logical);
  static std::atomic<bool> said{false};
  if (as_logical != as_user && !said.exchange(true, std::memory_order_relaxed)) {
    call.Note(FindingId::kVersionDependent)
        .Say("logicDevId %d as a user id is the physical device %d, as a logical id %d; %d was returned",
             logicDevId, as_user, as_logical, *phyDevId)
        .Rule("The argument is really a user id, until a version mends that (SPEC 10 §3.1)")
        .Fix("call aclrtGetPhyDevIdByUserDevId where it exists")
        .Send();
  }
  return Status();
}

Status aclrtGetPhyDevIdByUserDevId(Call& call, const int32_t userDevId, int32_t* const phyDevId) {
  return PhysicalOfUser(call, userDevId, "userDevId", phyDevId);
}

}  // namespace belay::abi::body
