// SPEC 20 §2.1, §4, §5, §8: what differs between product families and versions for events, notifies and
// limits of time. CONFORMANCE_VARIANT names the family; the runner makes a product of each.
#include "event_notify.h"
#include "steering.h"

namespace conformance {
namespace {

constexpr aclError kNone = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;

bool AtLeast(const char* version) {
  return Cann() >= version;
}
aclError From(const char* version, aclError code = ACL_SUCCESS) {
  return AtLeast(version) ? code : kNone;
}
bool Is(const char* family) {
  return Variant() == family;
}
bool IsTraining() {
  return Is("950") || Is("A3") || Is("A2");
}

// Runs first, while nobody has set a limit in this process.
class TimeoutProfile : public OnTwoDevices {};

TEST_F(TimeoutProfile, ExecutionLimits) {
  const uint64_t max_ms = Is("INF") ? 547'000 : Is("TRN") ? 2'176'000 : 1'091'000;
  const uint32_t by_default = Is("TRN") ? 68'000 : static_cast<uint32_t>(max_ms);
  uint32_t ms = 77;
  uint64_t actual = kUntouched, interval = kUntouched;
  EXPECT_ACL(From("8.5"), aclrtGetOpExecuteTimeout(&ms));
  EXPECT_EQ(ms, AtLeast("8.5") ? by_default : 77u);
  EXPECT_ACL(From("8.5"), aclrtGetOpTimeOutInterval(&interval));
  EXPECT_ACL(From("8.5"), aclrtGetOpTimeoutInterval(&interval));
  EXPECT_EQ(interval, AtLeast("8.5") ? 1'000'000 : kUntouched);
  EXPECT_ACL(From("8.5"), aclrtSetOpExecuteTimeOutV2(UINT64_MAX, &actual));
  EXPECT_EQ(actual, AtLeast("8.5") ? max_ms * 1000 : kUntouched);
  EXPECT_ACL(From("8.5"), aclrtSetOpExecuteTimeOutV2(0, &actual));
  EXPECT_EQ(actual, AtLeast("8.5") ? max_ms * 1000 : kUntouched);
  EXPECT_OK(aclrtSetOpExecuteTimeOut(5));
  if (AtLeast("8.5")) {
    EXPECT_OK(aclrtGetOpExecuteTimeout(&ms));
    EXPECT_EQ(ms, 5000u);
  }
  EXPECT_ACL(kNone, aclrtSetOpExecuteTimeOutWithMs(5000));
  EXPECT_OK(aclrtSetOpExecuteTimeOut(0));
}

TEST_F(TimeoutProfile, WaitLimits) {
  const aclError code = Is("INF") ? kNone : ACL_SUCCESS;
  EXPECT_ACL(code, aclrtSetOpWaitTimeout(600));
  OnNewThread([&] { EXPECT_ACL(code, aclrtSetOpWaitTimeout(0)); });
  Event event = PlainEvent();
  Stream stream;
  ASSERT_OK(aclrtRecordEvent(event.get(), stream.get()));
  EXPECT_ACL(From("9.0"), aclrtStreamWaitEventWithTimeout(stream.get(), event.get(), 100));
  EXPECT_ACL(From("9.0", ACL_ERROR_INVALID_PARAM),
             aclrtStreamWaitEventWithTimeout(stream.get(), event.get(), 0));
  if (AtLeast("9.0")) {
    Event flag = FlagEvent();
    EXPECT_OK(aclrtStreamWaitEventWithTimeout(stream.get(), flag.get(), 1)) << "milliseconds up to 9.1";
    EXPECT_ACL(ACL_ERROR_RT_TASK_TIMEOUT, aclrtSynchronizeStream(stream.get()));
  }
}

class EventProfile : public OnTwoDevices {};

TEST_F(EventProfile, FlagsOfAFamily) {
  aclrtEvent event = UntouchedPointer();
  const bool device_only = IsTraining() || Is("INF");
  EXPECT_ACL(device_only ? ACL_SUCCESS : kNone, aclrtCreateEventWithFlag(&event, ACL_EVENT_DEVICE_USE_ONLY));
  if (device_only) {
    EXPECT_OK(aclrtDestroyEvent(std::exchange(event, UntouchedPointer())));
  } else {
    OnNewThread([&] { EXPECT_ACL(kNone, aclrtCreateEventWithFlag(&event, ACL_EVENT_DEVICE_USE_ONLY)); });
  }
  const bool shared = AtLeast("8.5") && (Is("A3") || Is("A2"));
  if (!shared) {
    EXPECT_ACL(kNone, aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC));
    OnNewThread([&] {
      EXPECT_ACL(kNone, aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC)) << "before the context";
    });
  }
  EXPECT_EQ(event, UntouchedPointer());
}

TEST_F(EventProfile, NumberOfEvents) {
  uint32_t left = 77;
  EXPECT_ACL(From("8.5"), aclrtGetEventAvailNum(&left));
  EXPECT_EQ(left, !AtLeast("8.5") ? 77u : Is("INF") ? 1023u : Is("TRN") ? 65535u : 65536u);
}

TEST_F(EventProfile, FunctionsThatCameLater) {
  Event event = PlainEvent();
  uint64_t timestamp = kUntouched;
  uint32_t id = 77;
  float ms = -1;
  ASSERT_OK(aclrtRecordEvent(event.get(), nullptr));
  ASSERT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_OK(aclrtEventElapsedTime(&ms, event.get(), event.get()));
  EXPECT_ACL(From("8.5"), aclrtEventGetTimestamp(event.get(), &timestamp));
  EXPECT_ACL(From("8.5"), aclrtGetEventId(event.get(), &id));
  if (!AtLeast("8.5")) {
    EXPECT_EQ(timestamp, kUntouched);
    EXPECT_EQ(id, 77u);
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetEventId(event.get(), nullptr)) << "null pointers come first";
  }
}

TEST_F(EventProfile, Notifies) {
  aclrtNotify notify = UntouchedPointer();
  uint32_t id = 77;
  EXPECT_ACL(From("8.5"), aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
  if (!AtLeast("8.5")) {
    EXPECT_EQ(notify, UntouchedPointer());
    EXPECT_ACL(kNone, aclrtRecordNotify(UntouchedPointer(), nullptr));
    EXPECT_ACL(kNone, aclrtWaitAndResetNotify(UntouchedPointer(), nullptr, 0));
    EXPECT_ACL(kNone, aclrtGetNotifyId(UntouchedPointer(), &id));
    EXPECT_ACL(kNone, aclrtNotifyBatchReset(&notify, 1));
    EXPECT_ACL(kNone, aclrtDestroyNotify(UntouchedPointer()));
    return;
  }
  EXPECT_OK(aclrtRecordNotify(notify, nullptr));
  EXPECT_OK(aclrtWaitAndResetNotify(notify, nullptr, 0));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_OK(aclrtGetNotifyId(notify, &id));
  EXPECT_OK(aclrtNotifyBatchReset(&notify, 1));
  EXPECT_OK(aclrtDestroyNotify(notify));
}

TEST_F(EventProfile, CntNotifies) {
  aclrtCntNotify counter = UntouchedPointer();
  const aclError code = Is("950") ? From("8.5") : kNone;
  EXPECT_ACL(code, aclrtCntNotifyCreate(&counter, 0));
  EXPECT_TRUE(code != ACL_SUCCESS || aclrtCntNotifyDestroy(counter) == ACL_SUCCESS);
}

}  // namespace
}  // namespace conformance
