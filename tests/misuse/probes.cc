// What careful programs ask before they rely on it. Whatever the answer, asking is no mistake.
#include <cstdio>

#include "acl/acl.h"

namespace {

bool ok = true;

// `code` is success or the one refusal that callers test for.
void Expect(aclError code, aclError refusal, const char* what) {
  if (code == ACL_SUCCESS || code == refusal) return;
  std::printf("%s: %d\n", what, code);
  ok = false;
}

void ProbeThread() {
  int32_t device = -1;
  aclrtContext context = nullptr;
  Expect(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL, "aclrtGetDevice");
  Expect(aclrtGetCurrentContext(&context), ACL_ERROR_RT_CONTEXT_NULL, "aclrtGetCurrentContext");
}

void ProbeProduct() {
  uint32_t count = 0;
  Expect(aclrtGetDeviceCount(&count), ACL_ERROR_RT_NO_DEVICE, "aclrtGetDeviceCount");
  int32_t can = 0;
  if (count > 1) {
    Expect(aclrtDeviceCanAccessPeer(&can, 0, 1), ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
           "aclrtDeviceCanAccessPeer");
  }
  int64_t value = 0;
  Expect(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_AICORE_CORE_NUM, &value), ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
         "aclrtGetDeviceInfo");
  aclrtUuid uuid;
  Expect(aclrtDeviceGetUuid(0, &uuid), ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtDeviceGetUuid");
}

void ProbeDevice() {
  aclrtEvent event = nullptr;
  const aclError created = aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC);
  Expect(created, ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtCreateEventExWithFlag");
  if (created == ACL_SUCCESS) aclrtDestroyEvent(event);

  void *device = nullptr, *host = nullptr;
  aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMallocHost(&host, 64);
  size_t size = 64, index = 0, failed = 0;
  aclrtMemcpyBatchAttr attribute = {};
  attribute.dstLoc.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  attribute.srcLoc.type = ACL_MEM_LOCATION_TYPE_HOST;
  Expect(aclrtMemcpyBatch(&device, &size, &host, &size, 1, &attribute, &index, 1, &failed),
         ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtMemcpyBatch");
  aclrtDrvMemHandle handle = nullptr;
  const aclError retained = aclrtMemRetainAllocationHandle(device, &handle);
  if (retained != ACL_ERROR_RT_PARAM_INVALID) {
    Expect(retained, ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtMemRetainAllocationHandle");
  }
  aclrtFreeHost(host);
  aclrtFree(device);
}

}  // namespace

int main() {
  aclInit(nullptr);
  for (int round = 0; round < 3; ++round) {
    ProbeThread();
    ProbeProduct();
  }
  aclrtSetDevice(0);
  for (int round = 0; round < 3; ++round) ProbeDevice();
  aclrtResetDevice(0);
  aclFinalize();
  std::puts(ok ? "ok" : "an answer that no caller tests for");
  return ok ? 0 : 1;
}
