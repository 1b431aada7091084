// SPEC 21 §6.3: the process ends with failures that no call reported.
#include <gmock/gmock.h>

#include "steering.h"

namespace conformance {
namespace {

constexpr size_t kSize = 256;

[[noreturn]] void EndWithAFailure() {
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  {
    DeviceBlock block(kSize);
    Stream stream;
    Hold held(stream.get());
    FailNext(stream.get(), ACL_ERROR_RT_AICORE_EXCEPTION);
    EXPECT_OK(aclrtMemsetAsync(block.get(), kSize, 2, kSize, stream.get()));
    EXPECT_TRUE(held.Land());
  }
  EXPECT_OK(aclrtResetDeviceForce(0));
  EXPECT_OK(aclFinalize());
  std::exit(testing::Test::HasFailure() ? 1 : 0);
}

TEST(Lifecycle, UnreportedFailuresArePrinted) {
  // The dying process starts anew and reads this.
  setenv("BELAY", "product=atlas-800t-a2 cann=9.0 quiet=off color=off workers=1", 1);
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(EndWithAFailure(), testing::ExitedWithCode(0),
              testing::AllOf(testing::HasSubstr("507015"), testing::HasSubstr("aclrtMemsetAsync")));
}

}  // namespace
}  // namespace conformance
