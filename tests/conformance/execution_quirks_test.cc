// Switches of SPEC 21 that change what a call answers; each suite runs in a process that sets one.
#include "threads.h"

namespace conformance {
namespace {

// SPEC 21 §3.1: quirk callback_strict=on.
class CallbackStrict : public OnTwoDevices {
 protected:
  void SetUp() override {
    if (Variant() != "strict callbacks") GTEST_SKIP() << "needs quirk=callback_strict=on";
    OnTwoDevices::SetUp();
    SKIP_UNLESS_BUILT(aclrtLaunchHostFunc(nullptr, nullptr, nullptr));
  }
};

TEST_F(CallbackStrict, EveryCallInAHostFunctionIsRefused) {
  struct Answers {
    aclrtContext context;
    uint32_t count = 77;
    aclError codes[4] = {-1, -1, -1, -1};
  } answers;
  answers.context = CurrentContext();
  const auto body = [](void* args) {
    auto* self = static_cast<Answers*>(args);
    self->codes[0] = aclrtSetCurrentContext(self->context);
    self->codes[1] = aclrtSetDevice(0);
    self->codes[2] = aclrtGetDeviceCount(&self->count);
    self->codes[3] = aclrtDeviceTaskAbort(0, 0);
  };
  Stream stream;
  ASSERT_OK(aclrtLaunchHostFunc(stream.get(), body, &answers));
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
  for (aclError code : answers.codes) EXPECT_EQ(code, ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(answers.count, 77u);
}

// README 13: quirk fatal_alloc_code=507899.
class FatalAllocCode : public OnTwoDevices {
 protected:
  void SetUp() override {
    if (Variant() != "507899") GTEST_SKIP() << "needs quirk=fatal_alloc_code=507899";
    OnTwoDevices::SetUp();
  }
};

TEST_F(FatalAllocCode, IsWhatAllocationsReturn) {
  ASSERT_OK(belay_fail_device(0, ACL_ERROR_RT_LINK_ERROR, nullptr));
  void* memory = UntouchedPointer();
  EXPECT_ACL(ACL_ERROR_RT_DRV_INTERNAL_ERROR, aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_EQ(memory, UntouchedPointer());
  EXPECT_ACL(ACL_ERROR_RT_LINK_ERROR, aclrtSynchronizeDevice()) << "other calls tell the fault";
}

}  // namespace
}  // namespace conformance
