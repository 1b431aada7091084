// Handles that configure a stream before it is created: SPEC 20 §3. They are plain structs; no product
// creates streams from them (SPEC 20 §9).
#include <cstdlib>
#include <cstring>

#include "abi/call.h"
#include "abi/resolve.h"
#include "belay/abi/bodies.h"

namespace belay::abi::body {
using check::FindingId;

aclrtStreamConfigHandle* aclrtCreateStreamConfigHandle(Call&) {
  return static_cast<aclrtStreamConfigHandle*>(calloc(1, sizeof(aclrtStreamConfigHandle)));
}

Status aclrtSetStreamConfigOpt(Call& call, aclrtStreamConfigHandle* handle, aclrtStreamConfigAttr attr,
                               const void* attrValue, size_t valueSize) {
  struct Field {
    size_t offset, size;
  };
  static constexpr Field kFields[] = {
      {offsetof(aclrtStreamConfigHandle, workptr), sizeof(handle->workptr)},
      {offsetof(aclrtStreamConfigHandle, workSize), sizeof(handle->workSize)},
      {offsetof(aclrtStreamConfigHandle, flag), sizeof(handle->flag)},
      {offsetof(aclrtStreamConfigHandle, priority), sizeof(handle->priority)},
  };
  auto index = static_cast<size_t>(attr);
  if (index >= std::size(kFields)) {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("attr is %d", static_cast<int>(attr))
        .Rule("attr is one of aclrtStreamConfigAttr, 0 to 3 (SPEC 20 §3)")
        .Fix("pass ACL_RT_STREAM_WORK_ADDR_PTR, _WORK_SIZE, _FLAG or _PRIORITY")
        .End();
  }
  const Field& field = kFields[index];
  if (valueSize != field.size) {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("valueSize is %zu, but attribute %zu has %zu bytes", valueSize, index, field.size)
        .Rule("valueSize is the size of the attribute's type (SPEC 20 §3)")
        .Fix("pass sizeof of the value")
        .End();
  }
  memcpy(reinterpret_cast<char*>(handle) + field.offset, attrValue, field.size);
  return Status();
}

Status aclrtDestroyStreamConfigHandle(Call&, aclrtStreamConfigHandle* handle) {
  free(handle);
  return Status();
}

}  // namespace belay::abi::body
