// SPEC 10 §6: contexts, made and lost.
#include <set>

#include "support.h"

namespace conformance {
namespace {

int Current() {
  int32_t device = -7;
  EXPECT_OK(aclrtGetDevice(&device));
  return device;
}

aclrtContext CurrentContext() {
  aclrtContext context = nullptr;
  EXPECT_OK(aclrtGetCurrentContext(&context));
  return context;
}

class Contexts : public Clean {};

TEST_F(Contexts, CreatedOnesBecomeCurrent) {
  ASSERT_OK(aclrtSetDevice(0));
  const aclrtContext standard = CurrentContext();
  aclrtContext a = nullptr, b = nullptr;
  ASSERT_OK(aclrtCreateContext(&a, 0));
  EXPECT_EQ(CurrentContext(), a);
  ASSERT_OK(aclrtCreateContext(&b, 1));
  EXPECT_EQ(CurrentContext(), b);
  EXPECT_EQ(Current(), 1);
  ASSERT_OK(aclrtSetCurrentContext(a));
  EXPECT_EQ(Current(), 0);
  ASSERT_OK(aclrtDestroyContext(a));
  aclrtContext none = UntouchedPointer();
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetCurrentContext(&none))
      << "no falling back to the default context";
  EXPECT_EQ(none, UntouchedPointer());
  ASSERT_OK(aclrtSetCurrentContext(standard));
  EXPECT_EQ(Current(), 0);
  EXPECT_OK(aclrtDestroyContext(b));
  EXPECT_EQ(Current(), 0) << "it was not current here";
}

TEST_F(Contexts, BadArguments) {
  ASSERT_OK(aclrtSetDevice(0));
  const aclrtContext standard = CurrentContext();
  aclrtContext context = UntouchedPointer();
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCreateContext(nullptr, 0));
  for (int bad : {8, -1}) EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtCreateContext(&context, bad));
  EXPECT_EQ(context, UntouchedPointer());
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtDestroyContext(nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtSetCurrentContext(nullptr));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtDestroyContext(standard)) << "a default context";
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtSetCurrentContext(UntouchedPointer()));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyContext(UntouchedPointer()));
  EXPECT_EQ(CurrentContext(), standard);
  ASSERT_OK(aclrtCreateContext(&context, 0));
  ASSERT_OK(aclrtDestroyContext(context));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtSetCurrentContext(context));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyContext(context));
}

TEST_F(Contexts, HandlesAreNeverReused) {
  std::set<aclrtContext> seen;
  for (int i = 0; i < 100; ++i) {
    aclrtContext context = nullptr;
    ASSERT_OK(aclrtCreateContext(&context, i % 2));
    EXPECT_NE(context, nullptr);
    EXPECT_TRUE(seen.insert(context).second);
    ASSERT_OK(aclrtDestroyContext(context));
    if (i % 10 == 0) {
      ASSERT_OK(aclrtSetDevice(0));
      EXPECT_TRUE(seen.insert(CurrentContext()).second);
      ASSERT_OK(aclrtResetDeviceForce(0));
    }
  }
}

TEST_F(Contexts, DoNotCountAsSelections) {
  aclrtContext context = nullptr;
  ASSERT_OK(aclrtCreateContext(&context, 0));
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, aclrtResetDevice(0));
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, aclrtResetDeviceForce(0));
  DeviceBlock block(64);
  ASSERT_OK(aclrtFree(block.release()));
  EXPECT_OK(aclrtDestroyContext(context));
}

TEST_F(Contexts, DestructionTakesStreamsAndLeavesMemory) {
  ASSERT_OK(aclrtSetDevice(0));
  aclrtContext context = nullptr;
  ASSERT_OK(aclrtCreateContext(&context, 0));
  const size_t size = 2 * kMiB;
  PinnedBlock out(size);
  DeviceBlock block(Pattern(size, 1));
  aclrtStream stream = nullptr;
  ASSERT_OK(aclrtCreateStream(&stream));
  ASSERT_OK(aclrtMemcpyAsync(out.get(), size, block.get(), size, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  EXPECT_OK(aclrtDestroyContext(context));
  EXPECT_TRUE(out.Read() == Pattern(size, 1)) << "it waited for queued work";
  ASSERT_OK(aclrtSetDevice(0));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(stream));
  EXPECT_TRUE(block.Read() == Pattern(size, 1)) << "memory belongs to the device";
}

TEST_F(Contexts, OtherThreadsLoseADestroyedOne) {
  ASSERT_OK(aclrtSetDevice(0));
  aclrtContext context = nullptr;
  ASSERT_OK(aclrtCreateContext(&context, 0));
  OnNewThread([&] {
    ASSERT_OK(aclrtSetCurrentContext(context));
    EXPECT_EQ(CurrentContext(), context) << "current in two threads at once";
    OnNewThread([&] { EXPECT_OK(aclrtDestroyContext(context)); });
    aclrtContext none = UntouchedPointer();
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetCurrentContext(&none));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtSynchronizeDevice());
  });
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtSynchronizeDevice());
}

TEST_F(Contexts, ResetTakesExplicitOnesAlong) {
  ASSERT_OK(aclrtSetDevice(0));
  aclrtContext context = nullptr;
  ASSERT_OK(aclrtCreateContext(&context, 0));
  ASSERT_OK(aclrtResetDevice(0));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtSetCurrentContext(context));
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtSynchronizeDevice());
}

}  // namespace
}  // namespace conformance
