// libhccl.so: the collective library that client builds link and open. There are no collectives in Belay:
// every function answers HCCL_E_NOT_SUPPORT, and the first call of the process says what this library is.
//
// Its functions ignore their arguments, so they have none. Threading: any.
#include <atomic>
#include <cstdint>
#include <cstdio>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

constexpr int32_t kNotSupported = 5;  // HCCL_E_NOT_SUPPORT

int32_t Refuse(const char* function) {
  static std::atomic<bool> said{false};
  if (!said.exchange(true)) {
    fprintf(
        stderr,
        "belay: error: %s: this libhccl.so belongs to Belay, a software Ascend without collectives; every "
        "function "
        "of it\nanswers HCCL_E_NOT_SUPPORT (5). Copies between devices work: aclrtDeviceEnablePeerAccess and "
        "aclrtMemcpy.\n",
        function);
  }
  return kNotSupported;
}

}  // namespace

#define REFUSED(name)     \
  EXPORT int32_t name() { \
    return Refuse(#name); \
  }

REFUSED(HcclAllGather)
REFUSED(HcclAllGatherV)
REFUSED(HcclAllReduce)
REFUSED(HcclAlltoAll)
REFUSED(HcclAlltoAllV)
REFUSED(HcclBarrier)
REFUSED(HcclBatchSendRecv)
REFUSED(HcclBroadcast)
REFUSED(HcclCommActivateCommMemory)
REFUSED(HcclCommDeactivateCommMemory)
REFUSED(HcclCommDeregister)
REFUSED(HcclCommDestroy)
REFUSED(HcclCommExchangeMem)
REFUSED(HcclCommGetHandleWithName)
REFUSED(HcclCommInitAll)
REFUSED(HcclCommInitClusterInfo)
REFUSED(HcclCommInitClusterInfoConfig)
REFUSED(HcclCommInitRootInfo)
REFUSED(HcclCommInitRootInfoConfig)
REFUSED(HcclCommRegister)
REFUSED(HcclCommResume)
REFUSED(HcclCommSetMemoryRange)
REFUSED(HcclCommSuspend)
REFUSED(HcclCommSymWinDeregister)
REFUSED(HcclCommSymWinGet)
REFUSED(HcclCommSymWinRegister)
REFUSED(HcclCommUnsetMemoryRange)
REFUSED(HcclCommWorkingDevNicSet)
REFUSED(HcclCreateSubCommConfig)
REFUSED(HcclGetCommAsyncError)
REFUSED(HcclGetCommName)
REFUSED(HcclGetConfig)
REFUSED(HcclGetRankId)
REFUSED(HcclGetRankSize)
REFUSED(HcclGetRootInfo)
REFUSED(HcclGroupEnd)
REFUSED(HcclGroupStart)
REFUSED(HcclRecv)
REFUSED(HcclReduce)
REFUSED(HcclReduceScatter)
REFUSED(HcclReduceScatterV)
REFUSED(HcclScatter)
REFUSED(HcclSend)
REFUSED(HcclSetConfig)

// No field of a configuration is understood.
EXPORT uint32_t HcclGetCommConfigCapability() {
  Refuse("HcclGetCommConfigCapability");
  return 0;
}

EXPORT const char* HcclGetErrorString(int32_t code) {
  switch (code) {
    case 0:
      return "HCCL_SUCCESS";
    case 1:
      return "HCCL_E_PARA";
    case 2:
      return "HCCL_E_PTR";
    case 3:
      return "HCCL_E_MEMORY";
    case 4:
      return "HCCL_E_INTERNAL";
    case 5:
      return "HCCL_E_NOT_SUPPORT";
    case 6:
      return "HCCL_E_NOT_FOUND";
    case 7:
      return "HCCL_E_UNAVAIL";
    case 8:
      return "HCCL_E_SYSCALL";
    case 9:
      return "HCCL_E_TIMEOUT";
    case 10:
      return "HCCL_E_OPEN_FILE_FAILURE";
    case 11:
      return "HCCL_E_TCP_CONNECT";
    case 12:
      return "HCCL_E_ROCE_CONNECT";
    case 13:
      return "HCCL_E_TCP_TRANSFER";
    case 14:
      return "HCCL_E_ROCE_TRANSFER";
    case 15:
      return "HCCL_E_RUNTIME";
    case 16:
      return "HCCL_E_DRV";
    case 17:
      return "HCCL_E_PROFILING";
    case 18:
      return "HCCL_E_CCE";
    case 19:
      return "HCCL_E_NETWORK";
    case 20:
      return "HCCL_E_AGAIN";
    case 21:
      return "HCCL_E_REMOTE";
    case 22:
      return "HCCL_E_RESERVED";
    default:
      return "unknown";
  }
}
