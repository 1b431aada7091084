// SPEC 21 §6.3 for the calls of chapter 20: in a context stopped by a failure every submission and every wait
// gives the code of that failure. The stop itself: chapter 21.
#include "event_notify.h"
#include "steering.h"

namespace conformance {
namespace {

constexpr aclError kFault = ACL_ERROR_RT_AICORE_EXCEPTION;

// Stops the context on the way in; its objects exist before.
class StoppedSubmission : public OnDevice0 {
 protected:
  void SetUp() override {
    OnDevice0::SetUp();
    ASSERT_OK(aclrtCreateStream(&stream_));
    ASSERT_OK(aclrtCreateStream(&other_));
  }
  void Stop() {
    DeviceBlock block(64);
    ASSERT_OK(aclrtSetStreamFailureMode(stream_, 1));
    ASSERT_OK(belay_fail_next_task(stream_, kFault));
    ASSERT_OK(FillAsync(block, 1, stream_));
    ASSERT_ACL(kFault, aclrtSynchronizeStream(stream_));
  }
  // In the stopped context whatever the stream.
  template <typename Call>
  void Everywhere(Call call) {
    for (aclrtStream stream : {stream_, other_, aclrtStream{nullptr}}) {
      for (int i = 0; i < 2; ++i) EXPECT_ACL(kFault, call(stream));
    }
  }
  aclrtStream stream_ = nullptr;
  aclrtStream other_ = nullptr;
};

TEST_F(StoppedSubmission, Events) {
  Event plain = PlainEvent(), flag = FlagEvent();
  ASSERT_OK(aclrtRecordEvent(plain.get(), other_));
  ASSERT_OK(aclrtSynchronizeStream(other_));
  Stop();
  Everywhere([&](aclrtStream s) { return aclrtRecordEvent(plain.get(), s); });
  Everywhere([&](aclrtStream s) { return aclrtStreamWaitEvent(s, plain.get()); });
  Everywhere([&](aclrtStream s) { return aclrtStreamWaitEventWithTimeout(s, plain.get(), 100); });
  Everywhere([&](aclrtStream s) { return aclrtResetEvent(flag.get(), s); });
}

TEST_F(StoppedSubmission, Notifies) {
  Notify notify;
  Stop();
  Everywhere([&](aclrtStream s) { return aclrtRecordNotify(notify.get(), s); });
  Everywhere([&](aclrtStream s) { return aclrtWaitAndResetNotify(notify.get(), s, 0); });
}

TEST_F(StoppedSubmission, StreamsOfModels) {
  DeviceBlock left(64), right(64);
  Stop();
  EXPECT_ACL(kFault, aclrtActiveStream(other_, stream_)) << "before the missing model";
  EXPECT_ACL(kFault, aclrtSwitchStream(left.get(), ACL_RT_EQUAL, right.get(), ACL_RT_SWITCH_INT32, other_,
                                       nullptr, stream_));
}

TEST_F(StoppedSubmission, ArgumentsComeFirst) {
  Event event = PlainEvent(), ex = ExEvent(ACL_EVENT_TIME_LINE);
  Stop();
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtRecordEvent(nullptr, stream_));
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtStreamWaitEvent(stream_, ex.get()));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtRecordEvent(event.get(), UntouchedPointer()));
}

class StoppedSubmission950 : public StoppedSubmission {
 protected:
  void SetUp() override {
    if (Variant() != "950") GTEST_SKIP() << "needs a product of the family 950";
    StoppedSubmission::SetUp();
  }
};

TEST_F(StoppedSubmission950, CntNotifies) {
  aclrtCntNotify counter = nullptr;
  ASSERT_OK(aclrtCntNotifyCreate(&counter, 0));
  Stop();
  aclrtCntNotifyRecordInfo record = {ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE, 1};
  aclrtCntNotifyWaitInfo wait = {ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, 0, 0, 0, {}};
  Everywhere([&](aclrtStream s) { return aclrtCntNotifyRecord(counter, s, &record); });
  Everywhere([&](aclrtStream s) { return aclrtCntNotifyWaitWithTimeout(counter, s, &wait); });
  Everywhere([&](aclrtStream s) { return aclrtCntNotifyReset(counter, s); });
  EXPECT_OK(aclrtCntNotifyDestroy(counter));
}

}  // namespace
}  // namespace conformance
