// What a client program written in C++ relies on; compiled, never run.
#include "acl/acl.h"
#include "acl/acl_sk.h"
#include "acl/ops/acl_dvpp.h"
#include "hccl/hccl.h"

// Programs bring a type of this name of their own.
struct dim3 {
  unsigned x, y, z;
};

static_assert(ACL_SUCCESS == 0 && ACL_ERROR_INVALID_PARAM == 100000);
static_assert(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT == 507046);
static_assert(sizeof(aclskOptionType) == 4 && aclskOptionType::PRELOAD_CODE == aclskOptionType{});

int client_uses_cc(aclError code, HcclCommConfig* config);

int client_uses_cc(aclError code, HcclCommConfig* config) {
  HcclCommConfigInit(config);
  ACL_APP_LOG(ACL_WARNING, "code %d", code);
  switch (code) {
    case ACL_SUCCESS:
      return ACL_MEMCPY_DEVICE_TO_DEVICE;
    case ACL_ERROR_RT_MEMORY_ALLOCATION:
      return ACL_MEM_MALLOC_NORMAL_ONLY;
    default:
      return ::ACL_ERROR_INVALID_PARAM;
  }
}
