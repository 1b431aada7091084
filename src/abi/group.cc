// Groups of compute resources, of which no product has any: SPEC 21 §9.
#include <set>

#include "abi/call.h"
#include "base/thread_annotations.h"
#include "belay/abi/bodies.h"

namespace belay::abi::body {
using check::FindingId;

namespace {
// The infos that live, so that a stale one is told apart. Leaked, like the runtime.
struct Infos {
  Mutex mutex;
  std::set<const void*> live BELAY_GUARDED_BY(mutex);
};
Infos& TheInfos() {
  static auto* infos = new Infos;
  return *infos;
}

bool Lives(const void* info) {
  Infos& infos = TheInfos();
  MutexLock lock(infos.mutex);
  return infos.live.contains(info);
}

Status RefuseStale(const Call& call, const void* info) {
  return call.Refuse(code::kHandle, FindingId::kBadHandle)
      .Say("groupInfo %p is none, or was destroyed", info)
      .Rule("A group info lives from its create call to its destroy call (SPEC 21 §9)")
      .Fix("pass what aclrtCreateGroupInfo returned")
      .End();
}
}  // namespace

Status aclrtGetGroupCount(Call&, uint32_t* count) {
  *count = 0;
  return Status();
}

Status aclrtSetGroup(Call& call, int32_t groupId) {
  return call.Refuse(code::kGroupNotCreated, FindingId::kBadArgument)
      .Say("groupId is %d, but there are 0 groups", groupId)
      .Rule("A group is one of those that aclrtGetGroupCount counts (SPEC 21 §9)")
      .Fix("leave the groups alone when the count is 0")
      .End();
}

aclrtGroupInfo* aclrtCreateGroupInfo(Call&) {
  auto* info = new char;  // only its address means something
  Infos& infos = TheInfos();
  MutexLock lock(infos.mutex);
  infos.live.insert(info);
  return reinterpret_cast<aclrtGroupInfo*>(info);
}

Status aclrtDestroyGroupInfo(Call& call, aclrtGroupInfo* groupInfo) {
  Infos& infos = TheInfos();
  {
    MutexLock lock(infos.mutex);
    if (infos.live.erase(groupInfo) != 0) {
      delete reinterpret_cast<char*>(groupInfo);
      return Status();
    }
  }
  return RefuseStale(call, groupInfo);
}

Status aclrtGetAllGroupInfo(Call& call, aclrtGroupInfo* groupInfo) {
  return Lives(groupInfo) ? Status() : RefuseStale(call, groupInfo);
}

Status aclrtGetGroupInfoDetail(Call& call, const aclrtGroupInfo* groupInfo, int32_t groupIndex,
                               aclrtGroupAttr, void*, size_t, size_t*) {
  if (!Lives(groupInfo)) return RefuseStale(call, groupInfo);
  return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
      .Say("groupIndex is %d, but there are 0 groups", groupIndex)
      .Rule("groupIndex is less than the number of groups (SPEC 21 §9)")
      .Fix("ask aclrtGetGroupCount first")
      .End();
}

}  // namespace belay::abi::body
