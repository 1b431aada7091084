// SPEC 10 §1, §2, §7.1: initialising and finalising. Every test here needs a process of its own.
#include <atomic>

#include "support.h"

namespace conformance {
namespace {

constexpr aclError kGone = ACL_ERROR_UNINITIALIZE;

TEST(Lifecycle, NeverInitialised) {
  uint64_t count = 77;
  EXPECT_ACL(kGone, aclFinalize());
  EXPECT_ACL(kGone, aclFinalizeReference(&count));
  EXPECT_EQ(count, 0u);
  EXPECT_ACL(kGone, aclFinalizeReference(nullptr));
}

TEST(Lifecycle, RepeatedInitIsCounted) {
  uint64_t count = 77;
  ASSERT_OK(aclInit(nullptr));
  EXPECT_ACL(ACL_ERROR_REPEAT_INITIALIZE, aclInit(nullptr));
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
  EXPECT_OK(aclFinalizeReference(&count));
  EXPECT_EQ(count, 1u);
  EXPECT_OK(aclrtSetDevice(0)) << "still alive";
  EXPECT_OK(aclFinalizeReference(&count));
  EXPECT_EQ(count, 0u);
  EXPECT_ACL(kGone, aclrtSetDevice(0));
  count = 77;
  EXPECT_ACL(ACL_ERROR_REPEAT_FINALIZE, aclFinalizeReference(&count));
  EXPECT_EQ(count, 0u);
  EXPECT_ACL(ACL_ERROR_REPEAT_FINALIZE, aclFinalize());
}

TEST(Lifecycle, FinalizeForgetsTheCount) {
  ASSERT_OK(aclInit(nullptr));
  for (int i = 0; i < 2; ++i) EXPECT_ACL(ACL_ERROR_REPEAT_INITIALIZE, aclInit(nullptr));
  EXPECT_OK(aclFinalize());
  EXPECT_ACL(ACL_ERROR_REPEAT_FINALIZE, aclFinalize());
}

TEST(Lifecycle, OlderVersionsDoNotCount) {
  if (Cann() != "8.1") GTEST_SKIP() << "needs profile 8.1";
  uint64_t count = 77;
  ASSERT_OK(aclInit(nullptr));
  EXPECT_ACL(ACL_ERROR_REPEAT_INITIALIZE, aclInit(nullptr));
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclFinalizeReference(&count));
  EXPECT_OK(aclFinalize());
}

TEST(Lifecycle, SecondLife) {
  ASSERT_OK(aclInit(nullptr));
  ASSERT_OK(aclrtSetDevice(0));
  void* old_block = nullptr;
  aclrtStream old_stream = nullptr;
  aclrtContext old_context = nullptr;
  ASSERT_OK(aclrtMalloc(&old_block, 64, ACL_MEM_MALLOC_HUGE_FIRST));  // LEAK
  ASSERT_OK(aclrtCreateStream(&old_stream));                          // LEAK
  ASSERT_OK(aclrtGetCurrentContext(&old_context));
  ASSERT_OK(aclFinalize());
  ASSERT_OK(aclInit(nullptr)) << "a new life, not a repetition";
  int32_t device = -7;
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&device));
  ASSERT_OK(aclrtSetDevice(0));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyStream(old_stream));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtSetCurrentContext(old_context));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(old_block));
  {
    DeviceBlock block(Pattern(4096, 1));
    EXPECT_EQ(block.Read(), Pattern(4096, 1));
  }
  EXPECT_OK(aclFinalize());
}

TEST(Lifecycle, WorksBeforeInit) {
  int32_t device = -7;
  EXPECT_EQ(DeviceCount() > 0, true);
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&device));
  ASSERT_OK(aclrtSetDevice(0));
  DeviceBlock block(Pattern(64, 1));
  EXPECT_EQ(block.Read(), Pattern(64, 1));
  ASSERT_OK(aclInit(nullptr));
  EXPECT_EQ(block.Read(), Pattern(64, 1));
}

TEST(Lifecycle, OneOfManyThreadsInitialises) {
  std::atomic<int> first{0}, repeated{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const aclError code = aclInit(nullptr);
      first += code == ACL_SUCCESS;
      repeated += code == ACL_ERROR_REPEAT_INITIALIZE;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(first, 1);
  EXPECT_EQ(repeated, 7);
  EXPECT_OK(aclFinalize());
}

TEST(Lifecycle, ExitWithEverythingOpen) {
  ASSERT_OK(aclInit(nullptr));
  ASSERT_OK(aclrtSetDevice(0));
  void* block = nullptr;
  aclrtStream stream = nullptr;
  ASSERT_OK(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST));  // LEAK
  ASSERT_OK(aclrtCreateStream(&stream));                          // LEAK
  ASSERT_OK(aclrtMemsetAsync(block, 64, 0, 64, stream));
}

}  // namespace
}  // namespace conformance
