/* What a client program written in C relies on; compiled, never run. */
#include "acl/acl.h"
#include "acl/acl_dump.h"
#include "hccl/hccl.h"

#if ACL_MAJOR_VERSION != 1
#error "version macros must be usable by the preprocessor"
#endif

#if ACL_ERROR_RT_FEATURE_NOT_SUPPORT != 207000
#error "codes of the runtime layer must be usable by the preprocessor"
#endif

_Static_assert(sizeof(acldumpChunk) == 4120, "the chunk's bytes follow it");
_Static_assert(sizeof(aclrtMemUsageInfo) == 112, "layout");

int client_uses_c(void* dst, const void* src, struct HcclCommConfigDef* config);

int client_uses_c(void* dst, const void* src, struct HcclCommConfigDef* config) {
  aclError code = aclrtMemcpy(dst, 8, src, 8, ACL_MEMCPY_HOST_TO_DEVICE);
  if (code != ACL_SUCCESS) ACL_APP_LOG(ACL_ERROR, "no arguments");
  if (code == ACL_ERROR_RT_PARAM_INVALID) ACL_APP_LOG(ACL_ERROR, "code %d", code);
  HcclCommConfigInit(config);
  return ACL_MEM_MALLOC_HUGE_FIRST_P2P;
}
