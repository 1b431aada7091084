// SPEC 20 §6: counters of the family 950. All suites but the last need a product of that family.
#include "event_notify.h"
#include "steering.h"

namespace conformance {
namespace {

class CntNotify {
 public:
  CntNotify() { EXPECT_OK(aclrtCntNotifyCreate(&counter_, 0)); }
  ~CntNotify() {
    if (counter_ == nullptr) return;
    EXPECT_OK(aclrtCntNotifyDestroy(counter_));
  }
  CntNotify(const CntNotify&) = delete;
  CntNotify& operator=(const CntNotify&) = delete;
  aclrtCntNotify get() const { return counter_; }
  aclrtCntNotify release() { return std::exchange(counter_, nullptr); }

 private:
  aclrtCntNotify counter_ = nullptr;
};

constexpr auto kSet = ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE;
constexpr auto kAdd = ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE;
constexpr auto kOr = ACL_RT_CNT_NOTIFY_RECORD_BIT_OR_MODE;
constexpr auto kAnd = ACL_RT_CNT_NOTIFY_RECORD_BIT_AND_MODE;
constexpr auto kLess = ACL_RT_CNT_NOTIFY_WAIT_LESS_MODE;
constexpr auto kEqual = ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE;
constexpr auto kBigger = ACL_RT_CNT_NOTIFY_WAIT_BIGGER_MODE;
constexpr auto kBiggerOrEqual = ACL_RT_CNT_NOTIFY_WAIT_BIGGER_OR_EQUAL_MODE;
constexpr auto kMask = ACL_RT_CNT_NOTIFY_WAIT_EQUAL_WITH_BITMASK_MODE;

aclrtCntNotifyWaitInfo WaitInfo(aclrtCntNotifyWaitMode mode, uint32_t value, uint8_t clear = 0,
                                uint32_t seconds = 0) {
  return {mode, value, seconds, clear, {0xff, 0xff, 0xff}};  // the reserved bytes are ignored
}

aclError Record(aclrtCntNotify counter, aclrtStream stream, aclrtCntNotifyRecordMode mode, uint32_t value) {
  aclrtCntNotifyRecordInfo info = {mode, value};
  const aclError code = aclrtCntNotifyRecord(counter, stream, &info);
  info = {kSet, 0xeeeeeeee};  // copied in the call
  return code;
}

aclError Wait(aclrtCntNotify counter, aclrtStream stream, aclrtCntNotifyWaitInfo info) {
  const aclError code = aclrtCntNotifyWaitWithTimeout(counter, stream, &info);
  std::memset(&info, 0, sizeof(info));
  return code;
}

class CntNotify950 : public OnTwoDevices {
 protected:
  void SetUp() override {
    if (Variant() != "950") GTEST_SKIP() << "needs a product of the family 950";
    OnTwoDevices::SetUp();
  }
  static void RecordNow(aclrtCntNotify counter, aclrtCntNotifyRecordMode mode, uint32_t value) {
    ASSERT_OK(Record(counter, nullptr, mode, value));
    ASSERT_OK(aclrtSynchronizeStream(nullptr));
  }
  // Whether a wait passes at once; a wait that does not is aborted.
  static bool Passes(aclrtCntNotify counter, aclrtCntNotifyWaitInfo info) {
    Stream stream;
    Hold hold(stream.get());
    EXPECT_OK(Wait(counter, stream.get(), info));
    const bool landed = hold.Land();
    EXPECT_OK(aclrtStreamAbort(stream.get()));
    return landed;
  }
  static bool Is(aclrtCntNotify counter, uint32_t value) { return Passes(counter, WaitInfo(kEqual, value)); }
};

TEST_F(CntNotify950, TheFourRecordModes) {
  CntNotify counter;
  EXPECT_TRUE(Is(counter.get(), 0)) << "initially";
  RecordNow(counter.get(), kSet, 0x0f);
  EXPECT_TRUE(Is(counter.get(), 0x0f));
  RecordNow(counter.get(), kAdd, 3);
  EXPECT_TRUE(Is(counter.get(), 0x12));
  RecordNow(counter.get(), kOr, 0x21);
  EXPECT_TRUE(Is(counter.get(), 0x33));
  RecordNow(counter.get(), kAnd, 0x1e);
  EXPECT_TRUE(Is(counter.get(), 0x12));
  RecordNow(counter.get(), kSet, UINT32_MAX);
  EXPECT_TRUE(Is(counter.get(), UINT32_MAX));
  RecordNow(counter.get(), kAdd, 3);
  EXPECT_TRUE(Is(counter.get(), 2)) << "it wraps";
  EXPECT_FALSE(Is(counter.get(), 3));
}

TEST_F(CntNotify950, TheFiveWaitModes) {
  struct Case {
    uint32_t counter, value;
    bool less, equal, bigger, bigger_or_equal, mask;
  };
  const Case cases[] = {{5, 4, false, false, true, true, true},
                        {5, 5, false, true, false, true, true},
                        {5, 6, true, false, false, false, false},
                        {6, 5, false, false, true, true, false},
                        {0, 0, false, true, false, true, true},
                        {UINT32_MAX, 0x80000000, false, false, true, true, true},
                        {0x7fffffff, 0x80000000, true, false, false, false, false}};
  CntNotify counter;
  for (const Case& c : cases) {
    SCOPED_TRACE(testing::Message() << c.counter << " and " << c.value);
    RecordNow(counter.get(), kSet, c.counter);
    EXPECT_EQ(Passes(counter.get(), WaitInfo(kLess, c.value)), c.less);
    EXPECT_EQ(Passes(counter.get(), WaitInfo(kEqual, c.value)), c.equal);
    EXPECT_EQ(Passes(counter.get(), WaitInfo(kBigger, c.value)), c.bigger);
    EXPECT_EQ(Passes(counter.get(), WaitInfo(kBiggerOrEqual, c.value)), c.bigger_or_equal);
    EXPECT_EQ(Passes(counter.get(), WaitInfo(kMask, c.value)), c.mask);
    EXPECT_TRUE(Is(counter.get(), c.counter)) << "no wait consumed it";
  }
}

TEST_F(CntNotify950, ARecordReleasesEveryWaiterThatItSatisfies) {
  CntNotify counter;
  Stream recorder, a, b, c;
  Hold recording(recorder.get()), hold_a(a.get()), hold_b(b.get()), hold_c(c.get());
  ASSERT_OK(Wait(counter.get(), a.get(), WaitInfo(kBiggerOrEqual, 2)));
  ASSERT_OK(Wait(counter.get(), b.get(), WaitInfo(kEqual, 2)));
  ASSERT_OK(Wait(counter.get(), c.get(), WaitInfo(kBigger, 2)));
  for (int i = 0; i < 3; ++i) ASSERT_OK(Record(counter.get(), recorder.get(), kAdd, 1));
  EXPECT_FALSE(hold_a.Land());
  ASSERT_TRUE(recording.Land());
  EXPECT_FALSE(hold_a.Land());
  EXPECT_FALSE(hold_b.Land());
  ASSERT_TRUE(recording.Land());
  EXPECT_TRUE(hold_a.Land());
  EXPECT_TRUE(hold_b.Land());
  EXPECT_FALSE(hold_c.Land());
  ASSERT_TRUE(recording.Land());
  EXPECT_TRUE(hold_c.Land());
}

TEST_F(CntNotify950, AWaiterThatWaitsIsReleasedByTheRecordOrReset) {
  CntNotify counter;
  RecordNow(counter.get(), kSet, 7);
  Stream for_zero, for_nine;
  ASSERT_OK(Wait(counter.get(), for_zero.get(), WaitInfo(kEqual, 0)));
  ASSERT_OK(Wait(counter.get(), for_nine.get(), WaitInfo(kEqual, 9)));
  UntilBlocked(for_zero.get());
  UntilBlocked(for_nine.get());
  ASSERT_OK(Record(counter.get(), nullptr, kAdd, 2));
  EXPECT_OK(aclrtSynchronizeStream(for_nine.get()));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(for_zero.get(), 0));
  ASSERT_OK(aclrtCntNotifyReset(counter.get(), nullptr));
  EXPECT_OK(aclrtSynchronizeStream(for_zero.get()));
  EXPECT_TRUE(Is(counter.get(), 0));
}

TEST_F(CntNotify950, AResetRunsInStreamOrder) {
  CntNotify counter;
  RecordNow(counter.get(), kSet, 7);
  Stream stream;
  Hold hold(stream.get());
  ASSERT_OK(aclrtCntNotifyReset(counter.get(), stream.get()));
  EXPECT_TRUE(Is(counter.get(), 7));
  ASSERT_TRUE(hold.Land());
  EXPECT_TRUE(Is(counter.get(), 0));
}

TEST_F(CntNotify950, AWaitThatClears) {
  CntNotify counter;
  RecordNow(counter.get(), kSet, 7);
  EXPECT_FALSE(Passes(counter.get(), WaitInfo(kEqual, 8, 1)));
  EXPECT_TRUE(Is(counter.get(), 7)) << "not released, so nothing is cleared";
  EXPECT_TRUE(Passes(counter.get(), WaitInfo(kEqual, 7, 1)));
  EXPECT_TRUE(Is(counter.get(), 0));
}

TEST_F(CntNotify950, OrdersData) {
  CntNotify counter;
  DeviceBlock block(4096);
  PinnedBlock out(4096);
  Stream producer, consumer;
  for (uint32_t value = 1; value <= 20; ++value) {
    ASSERT_OK(FillAsync(block, static_cast<int>(value), producer.get()));
    ASSERT_OK(Record(counter.get(), producer.get(), kSet, value));
    ASSERT_OK(Wait(counter.get(), consumer.get(), WaitInfo(kEqual, value)));
    ASSERT_OK(
        aclrtMemcpyAsync(out.get(), 4096, block.get(), 4096, ACL_MEMCPY_DEVICE_TO_HOST, consumer.get()));
    ASSERT_OK(aclrtSynchronizeStream(consumer.get()));
    ASSERT_EQ(out.Read(), Bytes(4096, static_cast<uint8_t>(value)));
  }
}

TEST_F(CntNotify950, AnExpiredWaitFails) {
  CntNotify counter;
  Stream stream, in_time;
  ASSERT_OK(Wait(counter.get(), in_time.get(), WaitInfo(kEqual, 9, 0, 600)));
  ASSERT_OK(Wait(counter.get(), stream.get(), WaitInfo(kLess, 0, 1, 1)));
  EXPECT_ACL(ACL_ERROR_RT_TASK_TIMEOUT, aclrtSynchronizeStream(stream.get()));
  EXPECT_OK(aclrtSynchronizeStream(stream.get())) << "reported once";
  RecordNow(counter.get(), kSet, 9);
  EXPECT_OK(aclrtSynchronizeStream(in_time.get()));
  EXPECT_TRUE(Is(counter.get(), 9)) << "the expired wait clears nothing";
}

TEST_F(CntNotify950, Creation) {
  aclrtCntNotify counter = UntouchedPointer();
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCntNotifyCreate(nullptr, 0));
  for (uint64_t bad : {uint64_t{1}, uint64_t{1} << 32, UINT64_MAX}) {
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCntNotifyCreate(&counter, bad)) << bad;
  }
  OnNewThread([&] { EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtCntNotifyCreate(&counter, 0)); });
  EXPECT_EQ(counter, UntouchedPointer());
  CntNotify a, b;
  uint32_t id_a = 77, id_b = 77;
  EXPECT_OK(aclrtCntNotifyGetId(a.get(), &id_a));
  EXPECT_OK(aclrtCntNotifyGetId(b.get(), &id_b));
  EXPECT_NE(id_a, id_b);
  OnNewThread([&] {
    uint32_t id = 77;
    EXPECT_OK(aclrtCntNotifyGetId(a.get(), &id)) << "the handle is enough";
    EXPECT_EQ(id, id_a);
    EXPECT_OK(aclrtCntNotifyDestroy(b.release()));
  });
}

TEST_F(CntNotify950, Arguments) {
  CntNotify counter;
  Stream stream;
  uint32_t id = 77;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCntNotifyRecord(counter.get(), stream.get(), nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCntNotifyWaitWithTimeout(counter.get(), stream.get(), nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCntNotifyGetId(counter.get(), nullptr));
  for (int bad : {-1, 3, 5, 1000}) {
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
               Record(counter.get(), stream.get(), static_cast<aclrtCntNotifyRecordMode>(bad), 1))
        << bad;
  }
  for (int bad : {-1, 5, 1000}) {
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
               Wait(counter.get(), stream.get(), WaitInfo(static_cast<aclrtCntNotifyWaitMode>(bad), 1)))
        << bad;
  }
  Event event = PlainEvent();
  Notify notify;
  CntNotify gone;
  aclrtCntNotify dead = gone.release();
  ASSERT_OK(aclrtCntNotifyDestroy(dead));
  for (aclrtCntNotify handle : {dead, aclrtCntNotify{UntouchedPointer()}, aclrtCntNotify{event.get()},
                                aclrtCntNotify{notify.get()}, aclrtCntNotify{nullptr}}) {
    const aclError code = handle == nullptr ? ACL_ERROR_INVALID_PARAM : ACL_ERROR_RT_INVALID_HANDLE;
    EXPECT_ACL(code, Record(handle, stream.get(), kSet, 1));
    EXPECT_ACL(code, Wait(handle, stream.get(), WaitInfo(kEqual, 1)));
    EXPECT_ACL(code, aclrtCntNotifyReset(handle, stream.get()));
    EXPECT_ACL(code, aclrtCntNotifyGetId(handle, &id));
    EXPECT_ACL(code, aclrtCntNotifyDestroy(handle));
  }
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyNotify(counter.get()));
  EXPECT_EQ(id, 77u);
  EXPECT_TRUE(Is(counter.get(), 0));
}

TEST_F(CntNotify950, BadStreams) {
  CntNotify counter;
  Stream stream;
  const auto all = [&](aclError code, aclrtStream s) {
    EXPECT_ACL(code, Record(counter.get(), s, kSet, 1));
    EXPECT_ACL(code, Wait(counter.get(), s, WaitInfo(kEqual, 1)));
    EXPECT_ACL(code, aclrtCntNotifyReset(counter.get(), s));
  };
  for (aclrtStream dead : DeadStreams()) all(ACL_ERROR_RT_INVALID_HANDLE, dead);
  InOtherContext([&] { all(ACL_ERROR_RT_STREAM_CONTEXT, stream.get()); });
  ASSERT_OK(aclrtSetDevice(1));
  all(ACL_ERROR_RT_STREAM_CONTEXT, stream.get());
  ASSERT_OK(aclrtSetDevice(0));
  OnNewThread([&] {
    all(ACL_ERROR_RT_CONTEXT_NULL, stream.get());
    all(ACL_ERROR_RT_CONTEXT_NULL, nullptr);
  });
  EXPECT_TRUE(Is(counter.get(), 0));
}

class FourCntNotifies : public OnDevice0 {
 protected:
  void SetUp() override {
    if (Variant() != "950 small limits")
      GTEST_SKIP() << "needs a product of the family 950 with four notifies";
    OnDevice0::SetUp();
  }
};

TEST_F(FourCntNotifies, CreationFailsAtTheLimit) {
  for (int round = 0; round < 2; ++round) {
    aclrtCntNotify counters[4] = {};
    for (aclrtCntNotify& counter : counters) ASSERT_OK(aclrtCntNotifyCreate(&counter, 0));
    aclrtCntNotify extra = UntouchedPointer();
    EXPECT_ACL(ACL_ERROR_RT_NO_NOTIFY_RESOURCE, aclrtCntNotifyCreate(&extra, 0));
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCntNotifyCreate(&extra, 1)) << "resources come last";
    EXPECT_EQ(extra, UntouchedPointer());
    for (aclrtCntNotify counter : counters) EXPECT_OK(aclrtCntNotifyDestroy(counter));
  }
}

// A2, the product of most suites, has none.
class CntNotifyElsewhere : public OnDevice0 {};

TEST_F(CntNotifyElsewhere, IsNotThere) {
  constexpr aclError kNone = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  aclrtCntNotify counter = UntouchedPointer();
  uint32_t id = 77;
  const auto all = [&] {
    EXPECT_ACL(kNone, aclrtCntNotifyCreate(&counter, 0));
    EXPECT_ACL(kNone, aclrtCntNotifyCreate(&counter, 1)) << "before other values";
    EXPECT_ACL(kNone, Record(UntouchedPointer(), nullptr, kSet, 1));
    EXPECT_ACL(kNone, Wait(UntouchedPointer(), nullptr, WaitInfo(kEqual, 1)));
    EXPECT_ACL(kNone, aclrtCntNotifyReset(UntouchedPointer(), nullptr));
    EXPECT_ACL(kNone, aclrtCntNotifyGetId(UntouchedPointer(), &id));
    EXPECT_ACL(kNone, aclrtCntNotifyDestroy(UntouchedPointer()));
  };
  all();
  OnNewThread(all);
  EXPECT_EQ(counter, UntouchedPointer());
  EXPECT_EQ(id, 77u);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCntNotifyCreate(nullptr, 0)) << "null pointers come first";
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCntNotifyGetId(UntouchedPointer(), nullptr));
}

}  // namespace
}  // namespace conformance
