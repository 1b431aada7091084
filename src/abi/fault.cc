#include "abi/fault.h"

#include <cstring>
#include <map>

#include "abi/resolve.h"
#include "base/thread_annotations.h"
#include "belay/abi/bodies.h"
#include "os/thread.h"

namespace belay::abi {
namespace {
using check::FindingId;
using runtime::Device;

// The injected records by device. Leaked, like the runtime.
struct Records {
  Mutex mutex;
  std::map<int, aclrtErrorInfo> infos BELAY_GUARDED_BY(mutex);
};
Records& TheRecords() {
  static auto* records = new Records;
  return *records;
}

aclrtErrorInfo RecordOf(const Device& device) {
  Records& records = TheRecords();
  MutexLock lock(records.mutex);
  auto found = records.infos.find(device.logical);
  return found != records.infos.end() ? found->second : aclrtErrorInfo{};
}

// The ranges of a memory fault.
size_t Ranges(const aclrtErrorInfo& info) {
  bool memory = info.errorType == ACL_RT_ERROR_MEMORY && info.hasDetail != 0;
  return memory ? std::min<size_t>(info.detail.uceInfo.arraySize, 20) : 0;
}

bool Same(const aclrtMemUceInfo& a, const aclrtMemUceInfo& b) {
  return a.addr == b.addr && a.len == b.len;
}

constexpr size_t kMostRanges = 128;  // SPEC 21 §8

Status RefuseRanges(const Call& call, size_t count) {
  return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
      .Say("arraySize is %zu", count)
      .Rule("At most 128 ranges are read or repaired at once (SPEC 21 §8)")
      .Fix("pass at most 128")
      .End();
}

// SPEC 21 §8: after the abort, with the record that was read.
Status Repair(const Call& call, Device& device, bool matches, const char* why) {
  const char* missing = device.fatal.load(std::memory_order_acquire) == 0 ? "it is not broken"
                        : !device.aborted.load(std::memory_order_relaxed)
                            ? "aclrtDeviceTaskAbort was not called since the fault"
                        : !matches ? why
                                   : nullptr;
  if (missing != nullptr) {
    return call.Refuse(code::kRtParam, FindingId::kDeviceFault)
        .On(device.user)
        .Say("device %d cannot be repaired: %s", device.user, missing)
        .Rule("A fault is read, the tasks are aborted, then the same record is repaired (SPEC 21 §8)")
        .Fix("call aclrtGetErrorVerbose, aclrtDeviceTaskAbort and aclrtRepairError, in this order")
        .End();
  }
  call.runtime().MendDevice(device);
  ForgetFault(device);
  return Status();
}
}  // namespace

void InjectFault(const Call& call, Device& device, int32_t code, const aclrtErrorInfo* info) {
  if (info != nullptr) {
    Records& records = TheRecords();
    MutexLock lock(records.mutex);
    records.infos[device.logical] = *info;
  }
  engine::Failure failure;
  failure.code = code;
  failure.api = call.name();
  failure.thread = call.thread().id;
  failure.site = call.site();
  failure.device = device.logical;
  failure.sequence = 1;
  call.runtime().BreakDevice(failure);
}

void ForgetFault(const Device& device) {
  Records& records = TheRecords();
  MutexLock lock(records.mutex);
  records.infos.erase(device.logical);
}

namespace body {

Status aclrtGetErrorVerbose(Call& call, int32_t deviceId, aclrtErrorInfo* errorInfo) {
  Device* device = nullptr;
  BELAY_TRY(NeedDevice(call, deviceId, "deviceId", &device));
  *errorInfo = RecordOf(*device);
  return Status();
}

Status aclrtRepairError(Call& call, int32_t deviceId, const aclrtErrorInfo* errorInfo) {
  Device* device = nullptr;
  BELAY_TRY(NeedDevice(call, deviceId, "deviceId", &device));
  aclrtErrorInfo record = RecordOf(*device);
  bool same = record.tryRepair == errorInfo->tryRepair && record.errorType == errorInfo->errorType &&
              record.hasDetail == errorInfo->hasDetail && Ranges(record) == Ranges(*errorInfo);
  for (size_t i = 0; same && i < Ranges(record); ++i) {
    same = Same(record.detail.uceInfo.memUceInfoArray[i], errorInfo->detail.uceInfo.memUceInfoArray[i]);
  }
  return Repair(call, *device, same && record.tryRepair != 0,
                same ? "its record says that repair is not possible (tryRepair is 0)"
                     : "the record is not the one of aclrtGetErrorVerbose");
}

Status aclrtGetMemUceInfo(Call& call, int32_t deviceId, aclrtMemUceInfo* memUceInfoArray, size_t arraySize,
                          size_t* retSize) {
  Device* device = nullptr;
  BELAY_TRY(NeedDevice(call, deviceId, "deviceId", &device));
  if (arraySize > kMostRanges) return RefuseRanges(call, arraySize);
  aclrtErrorInfo record = RecordOf(*device);
  size_t written = std::min(Ranges(record), arraySize);
  for (size_t i = 0; i < written; ++i) memUceInfoArray[i] = record.detail.uceInfo.memUceInfoArray[i];
  *retSize = written;
  return Status();
}

Status aclrtMemUceRepair(Call& call, int32_t deviceId, aclrtMemUceInfo* memUceInfoArray, size_t arraySize) {
  Device* device = nullptr;
  BELAY_TRY(NeedDevice(call, deviceId, "deviceId", &device));
  if (arraySize > kMostRanges) return RefuseRanges(call, arraySize);
  aclrtErrorInfo record = RecordOf(*device);
  bool same = arraySize != 0 && Ranges(record) == arraySize;
  for (size_t i = 0; same && i < arraySize; ++i) {
    same = Same(record.detail.uceInfo.memUceInfoArray[i], memUceInfoArray[i]);
  }
  return Repair(call, *device, same, "the ranges are not those of aclrtGetMemUceInfo");
}

}  // namespace body
}  // namespace belay::abi
