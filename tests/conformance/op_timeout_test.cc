// SPEC 20 §8: the execution limit of operators. It is the process's, so the suite of the default runs in a
// process of its own; what differs by family: event_profile_test.cc.
#include "support.h"

namespace conformance {
namespace {

constexpr uint32_t kMaxMs = 1'091'000;  // A2
constexpr uint64_t kStepUs = 1'000'000;

uint32_t LimitMs() {
  uint32_t ms = 77;
  EXPECT_OK(aclrtGetOpExecuteTimeout(&ms));
  return ms;
}

class OpTimeoutDefault : public Clean {};

TEST_F(OpTimeoutDefault, IsTheLongest) {
  EXPECT_EQ(LimitMs(), kMaxMs);
}

// No device is set: the calls need none.
class OpTimeout : public Clean {
 protected:
  void TearDown() override {
    EXPECT_OK(aclrtSetOpExecuteTimeOut(0));
    Clean::TearDown();
  }
};

TEST_F(OpTimeout, Seconds) {
  for (uint32_t seconds : {1u, 5u, 60u, 1091u}) {
    EXPECT_OK(aclrtSetOpExecuteTimeOut(seconds));
    EXPECT_EQ(LimitMs(), seconds * 1000);
  }
  for (uint32_t large : {1092u, 5'000'000u, UINT32_MAX}) {
    EXPECT_OK(aclrtSetOpExecuteTimeOut(1));
    EXPECT_OK(aclrtSetOpExecuteTimeOut(large));
    EXPECT_EQ(LimitMs(), kMaxMs) << large;
  }
  EXPECT_OK(aclrtSetOpExecuteTimeOut(1));
  EXPECT_OK(aclrtSetOpExecuteTimeOut(0));
  EXPECT_EQ(LimitMs(), kMaxMs) << "0 is the longest";
}

TEST_F(OpTimeout, MicrosecondsAreRoundedUpAndClamped) {
  const std::pair<uint64_t, uint64_t> cases[] = {{1, kStepUs},
                                                 {kStepUs - 1, kStepUs},
                                                 {kStepUs, kStepUs},
                                                 {kStepUs + 1, 2 * kStepUs},
                                                 {90'500'000, 91'000'000},
                                                 {1'090'999'999, 1'091'000'000},
                                                 {1'091'000'000, 1'091'000'000},
                                                 {1'091'000'001, 1'091'000'000},
                                                 {UINT64_MAX, 1'091'000'000},
                                                 {0, 1'091'000'000}};
  for (const auto& [wanted, used] : cases) {
    uint64_t actual = kUntouched;
    EXPECT_OK(aclrtSetOpExecuteTimeOut(3));
    EXPECT_OK(aclrtSetOpExecuteTimeOutV2(wanted, &actual));
    EXPECT_EQ(actual, used) << wanted;
    EXPECT_EQ(LimitMs(), used / 1000) << wanted;
  }
}

TEST_F(OpTimeout, TheLastCallCounts) {
  uint64_t actual = 0;
  EXPECT_OK(aclrtSetOpExecuteTimeOutV2(7'000'000, &actual));
  EXPECT_OK(aclrtSetOpExecuteTimeOut(2));
  EXPECT_EQ(LimitMs(), 2000u);
  EXPECT_OK(aclrtSetOpExecuteTimeOutV2(9'000'000, &actual));
  OnNewThread([] { EXPECT_EQ(LimitMs(), 9000u) << "it is the process's"; });
}

TEST_F(OpTimeout, Interval) {
  uint64_t interval = kUntouched, other = kUntouched;
  EXPECT_OK(aclrtGetOpTimeOutInterval(&interval));
  EXPECT_OK(aclrtGetOpTimeoutInterval(&other));
  EXPECT_EQ(interval, kStepUs);
  EXPECT_EQ(other, kStepUs) << "the other spelling";
}

TEST_F(OpTimeout, NullPointers) {
  EXPECT_OK(aclrtSetOpExecuteTimeOut(4));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtSetOpExecuteTimeOutV2(9'000'000, nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetOpExecuteTimeout(nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetOpTimeOutInterval(nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetOpTimeoutInterval(nullptr));
  EXPECT_EQ(LimitMs(), 4000u) << "a refusal changes nothing";
}

TEST_F(OpTimeout, MillisecondsAreNowhere) {
  EXPECT_OK(aclrtSetOpExecuteTimeOut(4));
  for (uint32_t ms : {0u, 5000u}) {
    EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtSetOpExecuteTimeOutWithMs(ms));
  }
  EXPECT_EQ(LimitMs(), 4000u);
}

}  // namespace
}  // namespace conformance
