// SPEC 31 §0.5, 21 §6: host RAM for device bytes is used up. The process runs with 64 MiB of it.
#include "support.h"

namespace conformance {
namespace {

constexpr size_t kStep = 2 * kMiB;
constexpr size_t kBudget = 64 * kMiB;

class HostBudget : public OnDevice0 {
 protected:
  void SetUp() override {
    if (Variant() != "64MiB") GTEST_SKIP() << "needs host-memory=64MiB";
    OnDevice0::SetUp();
    ASSERT_OK(aclrtMalloc(&block_, 4 * kBudget, ACL_MEM_MALLOC_HUGE_ONLY));
  }
  void TearDown() override {
    EXPECT_TRUE(block_ == nullptr || aclrtFree(block_) == ACL_SUCCESS);
    OnDevice0::TearDown();
  }

  // Writes step after step until no room is left; gives the first step that failed.
  size_t Exhaust() {
    size_t step = 0;
    while (step < 4 * kBudget / kStep && aclrtMemset(At(step), kStep, 1, kStep) == ACL_SUCCESS) ++step;
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_MEMORY_ALLOCATION);
    EXPECT_GT(step, 0u);
    EXPECT_LE(step, kBudget / kStep);
    return step;
  }
  void* At(size_t step) const { return static_cast<uint8_t*>(block_) + step * kStep; }

  void* block_ = nullptr;
};

TEST_F(HostBudget, SynchronousCallsAreRefused) {
  const size_t step = Exhaust();
  const Bytes host(kStep, 7);
  EXPECT_ACL(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMemset(At(step), kStep, 1, kStep));
  EXPECT_ACL(ACL_ERROR_RT_MEMORY_ALLOCATION,
             aclrtMemcpy(At(step), kStep, host.data(), kStep, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_ACL(ACL_ERROR_RT_MEMORY_ALLOCATION,
             aclrtMemcpy2d(At(step), kKiB, host.data(), kKiB, kKiB, kStep / kKiB, ACL_MEMCPY_HOST_TO_DEVICE));
  Bytes back(kStep);
  EXPECT_OK(aclrtMemcpy(back.data(), kStep, At(0), kStep, ACL_MEMCPY_DEVICE_TO_HOST))
      << "what was written stays";
  EXPECT_TRUE(back == Bytes(kStep, 1));
  EXPECT_OK(aclrtMemcpy(At(0), kStep, host.data(), kStep, ACL_MEMCPY_HOST_TO_DEVICE))
      << "and can be written again";
}

TEST_F(HostBudget, TasksFailAndTheFirstCallThatWaitsSaysSo) {
  const size_t step = Exhaust();
  PinnedBlock host(Bytes(kStep, 7));
  const auto fail = [&] {
    EXPECT_OK(aclrtMemcpyAsync(At(step), kStep, host.get(), kStep, ACL_MEMCPY_HOST_TO_DEVICE, nullptr));
  };
  fail();
  EXPECT_ACL(ACL_ERROR_RT_DEVICE_OOM, aclrtSynchronizeStream(nullptr));
  EXPECT_OK(aclrtSynchronizeStream(nullptr)) << "said once";
  EXPECT_OK(aclrtMemsetAsync(At(step), kStep, 1, kStep, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_DEVICE_OOM, aclrtSynchronizeDevice());
  EXPECT_OK(aclrtMemcpy2dAsync(At(step), kKiB, host.get(), kKiB, kKiB, kStep / kKiB,
                               ACL_MEMCPY_HOST_TO_DEVICE, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_DEVICE_OOM, aclrtSynchronizeStreamWithTimeout(nullptr, 60'000));
  aclrtEvent event = nullptr;
  ASSERT_OK(aclrtCreateEvent(&event));
  fail();
  EXPECT_OK(aclrtRecordEvent(event, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_DEVICE_OOM, aclrtSynchronizeEvent(event));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_OK(aclrtDestroyEvent(event));
}

TEST_F(HostBudget, LaterTasksOfTheStreamRun) {
  const size_t step = Exhaust();
  PinnedBlock host(Bytes(kStep, 7)), out(kStep);
  ASSERT_OK(aclrtMemcpyAsync(At(step), kStep, host.get(), kStep, ACL_MEMCPY_HOST_TO_DEVICE, nullptr));
  ASSERT_OK(aclrtMemcpyAsync(At(0), kStep, host.get(), kStep, ACL_MEMCPY_HOST_TO_DEVICE, nullptr));
  ASSERT_OK(aclrtMemcpyAsync(out.get(), kStep, At(0), kStep, ACL_MEMCPY_DEVICE_TO_HOST, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_DEVICE_OOM, aclrtSynchronizeStream(nullptr));
  EXPECT_TRUE(out.Read() == Bytes(kStep, 7));
}

TEST_F(HostBudget, SynchronisingFreesReportAndFree) {
  const size_t step = Exhaust();
  void* other = nullptr;
  ASSERT_OK(aclrtMalloc(&other, 64, ACL_MEM_MALLOC_NORMAL_ONLY));
  PinnedBlock host(Bytes(kStep, 7)), spare(64);
  ASSERT_OK(aclrtMemcpyAsync(At(step), kStep, host.get(), kStep, ACL_MEMCPY_HOST_TO_DEVICE, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_DEVICE_OOM, aclrtFreeWithDevSync(other));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(other)) << "it was freed all the same";
  ASSERT_OK(aclrtMemcpyAsync(At(step), kStep, host.get(), kStep, ACL_MEMCPY_HOST_TO_DEVICE, nullptr));
  void* gone = spare.release();
  EXPECT_ACL(ACL_ERROR_RT_DEVICE_OOM, aclrtFreeHostWithDevSync(gone));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtFreeHost(gone));
}

TEST_F(HostBudget, ReadingUnwrittenMemoryTakesNone) {
  const size_t step = Exhaust();
  Bytes host(kStep, 7);
  EXPECT_OK(aclrtMemcpy(host.data(), kStep, At(step), kStep, ACL_MEMCPY_DEVICE_TO_HOST));
}

TEST_F(HostBudget, FreeingMakesRoom) {
  Exhaust();
  ASSERT_OK(aclrtFree(std::exchange(block_, nullptr)));
  block_ = nullptr;
  DeviceBlock block(Bytes(kStep, 9));
  EXPECT_TRUE(block.Read() == Bytes(kStep, 9));
}

}  // namespace
}  // namespace conformance
