// SPEC 21 §9: groups, which this machine does not have, and the number of the last task.
#include "threads.h"

namespace conformance {
namespace {

constexpr size_t kSize = 64;

class Group : public Clean {
 protected:
  void SetUp() override {
    Clean::SetUp();
    uint32_t count = 0;
    SKIP_UNLESS_BUILT(aclrtGetGroupCount(&count));
  }
};

TEST_F(Group, ThereIsNone) {
  uint32_t count = 77;
  EXPECT_OK(aclrtGetGroupCount(&count));
  EXPECT_EQ(count, 0u);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetGroupCount(nullptr));
  for (int32_t id : {0, 1, -1, INT32_MAX}) EXPECT_ACL(ACL_ERROR_RT_GROUP_NOT_CREATE, aclrtSetGroup(id)) << id;
}

TEST_F(Group, Info) {
  aclrtGroupInfo* info = aclrtCreateGroupInfo();
  ASSERT_NE(info, nullptr);
  aclrtGroupInfo* other = aclrtCreateGroupInfo();
  EXPECT_NE(info, other);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetAllGroupInfo(nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtDestroyGroupInfo(nullptr));
  EXPECT_OK(aclrtGetAllGroupInfo(info));
  int32_t value = 77;
  size_t size = 77;
  const auto attr = ACL_GROUP_GROUPID_INT;
  for (int32_t index : {0, 1, -1}) {
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
               aclrtGetGroupInfoDetail(info, index, attr, &value, sizeof value, &size));
  }
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetGroupInfoDetail(nullptr, 0, attr, &value, sizeof value, &size));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetGroupInfoDetail(info, 0, attr, nullptr, sizeof value, &size));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetGroupInfoDetail(info, 0, attr, &value, sizeof value, nullptr));
  EXPECT_OK(aclrtDestroyGroupInfo(info));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyGroupInfo(info));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtGetAllGroupInfo(info));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE,
             aclrtGetGroupInfoDetail(info, 0, attr, &value, sizeof value, &size));
  auto* garbage = static_cast<aclrtGroupInfo*>(UntouchedPointer());
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyGroupInfo(garbage));
  EXPECT_OK(aclrtDestroyGroupInfo(other));
  EXPECT_EQ(value, 77);
  EXPECT_EQ(size, 77u);
}

class LastTask : public OnDevice0 {
 protected:
  static constexpr uint32_t kNone = 0xFFFFFFFF;
  void SetUp() override {
    OnDevice0::SetUp();
    SKIP_UNLESS_BUILT(aclrtGetThreadLastTaskId(nullptr));
    Take();
    Message();
  }
  static uint32_t Ask() {
    uint32_t id = 77;
    EXPECT_OK(aclrtGetThreadLastTaskId(&id));
    return id;
  }
  static void Submit(const DeviceBlock& block, aclrtStream stream) {
    ASSERT_OK(aclrtMemsetAsync(block.get(), kSize, 1, kSize, stream));
  }
};

TEST_F(LastTask, IsTheThreads) {
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetThreadLastTaskId(nullptr));
  const aclrtContext context = CurrentContext();
  DeviceBlock block(kSize), other(kSize);
  Stream a, b;
  OnNewThread([&] {
    EXPECT_EQ(Ask(), kNone) << "without a context too";
    ASSERT_OK(aclrtSetCurrentContext(context));
    EXPECT_EQ(Ask(), kNone);
    for (uint32_t i = 0; i < 3; ++i) {
      Submit(block, a.get());
      EXPECT_EQ(Ask(), i) << "counted from 0 in its stream";
    }
    Submit(other, b.get());
    EXPECT_EQ(Ask(), 0u);
    OnNewThread([] { EXPECT_EQ(Ask(), kNone); });
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtMemsetAsync(nullptr, kSize, 1, kSize, a.get()));
    EXPECT_EQ(Ask(), 0u) << "a refused call submits nothing";
    Submit(block, a.get());
    EXPECT_EQ(Ask(), 3u);
    EXPECT_OK(aclrtSynchronizeDevice());
    EXPECT_EQ(Ask(), 3u) << "waiting is no task";
  });
  Submit(block, a.get());
  EXPECT_EQ(Ask(), 4u) << "the stream's count goes over all threads";
  EXPECT_OK(aclrtSynchronizeDevice());
}

}  // namespace
}  // namespace conformance
