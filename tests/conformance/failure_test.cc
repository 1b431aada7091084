// SPEC 21 §6 and §5, 11 §2, 20 §3: a task fails in a stream that goes on; who hears of it, and how often.
#include "threads.h"

namespace conformance {
namespace {

constexpr size_t kSize = 256;
constexpr aclError kCode = ACL_ERROR_RT_AICORE_EXCEPTION, kSecond = ACL_ERROR_RT_VECTOR_CORE_TIMEOUT;

class Event {
 public:
  Event() { EXPECT_OK(aclrtCreateEvent(&event_)); }
  ~Event() { EXPECT_OK(aclrtDestroyEvent(event_)); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  aclrtEvent get() const { return event_; }

 private:
  aclrtEvent event_ = nullptr;
};

class Failure : public OnTwoDevices {
 protected:
  static void Set(const DeviceBlock& block, int value, aclrtStream stream) {
    ASSERT_OK(aclrtMemsetAsync(block.get(), kSize, value, kSize, stream));
  }
  static Bytes Filled(int value) { return Bytes(kSize, static_cast<uint8_t>(value)); }
  static void Fail(const DeviceBlock& block, aclrtStream stream, aclError code = kCode) {
    FailNext(stream, code);
    Set(block, 99, stream);
  }
  // Brings the stream to its end without reporting a failure.
  static void Finish(Hold& held) {
    held.LandAll();
    EXPECT_EQ(held.Pending(), 0u);
  }
};

// Each call that reports, on the stream that failed, with `event` recorded behind the failed task.
using Report = aclError (*)(aclrtStream stream, aclrtEvent event);
struct Reporter {
  const char* name;
  Report call;
};

void PrintTo(const Reporter& reporter, std::ostream* out) {
  *out << reporter.name;
}

template <typename Status, typename Function>
aclError Untouched(Function function) {
  auto status = static_cast<Status>(77);
  const aclError code = function(&status);
  EXPECT_EQ(code != ACL_SUCCESS, static_cast<int>(status) == 77) << "a call that fails writes no output";
  return code;
}

const Reporter kReporters[] = {
    {"SynchronizeStream", [](aclrtStream s, aclrtEvent) { return aclrtSynchronizeStream(s); }},
    {"SynchronizeStreamWithTimeout",
     [](aclrtStream s, aclrtEvent) { return aclrtSynchronizeStreamWithTimeout(s, 60'000); }},
    {"SynchronizeDevice", [](aclrtStream, aclrtEvent) { return aclrtSynchronizeDevice(); }},
    {"SynchronizeDeviceWithTimeout",
     [](aclrtStream, aclrtEvent) { return aclrtSynchronizeDeviceWithTimeout(60'000); }},
    {"SynchronizeEvent", [](aclrtStream, aclrtEvent e) { return aclrtSynchronizeEvent(e); }},
    {"SynchronizeEventWithTimeout",
     [](aclrtStream, aclrtEvent e) { return aclrtSynchronizeEventWithTimeout(e, 60'000); }},
    {"StreamQuery",
     [](aclrtStream s, aclrtEvent) {
       return Untouched<aclrtStreamStatus>([&](auto* status) { return aclrtStreamQuery(s, status); });
     }},
    {"QueryEventStatus",
     [](aclrtStream, aclrtEvent e) {
       return Untouched<aclrtEventRecordedStatus>(
           [&](auto* status) { return aclrtQueryEventStatus(e, status); });
     }},
    {"QueryEvent",
     [](aclrtStream, aclrtEvent e) {
       return Untouched<aclrtEventStatus>([&](auto* status) { return aclrtQueryEvent(e, status); });
     }},
    {"QueryEventWaitStatus",
     [](aclrtStream, aclrtEvent e) {
       return Untouched<aclrtEventWaitStatus>(
           [&](auto* status) { return aclrtQueryEventWaitStatus(e, status); });
     }},
};

class FailureReport : public Failure, public testing::WithParamInterface<Reporter> {};

INSTANTIATE_TEST_SUITE_P(Calls, FailureReport, testing::ValuesIn(kReporters),
                         [](const auto& reporter) { return std::string(reporter.param.name); });

TEST_P(FailureReport, IsReportedOnce) {
  DeviceBlock block(Filled(1)), beside(Filled(1));
  Stream stream;
  Event event;
  Hold held(stream.get());
  Fail(block, stream.get());
  Set(beside, 2, stream.get());
  ASSERT_OK(aclrtRecordEvent(event.get(), stream.get()));
  Finish(held);
  EXPECT_EQ(Peek(), ACL_SUCCESS) << "nothing is stored before a call reports it";
  EXPECT_EQ(Message(), "");
  EXPECT_ACL(kCode, GetParam().call(stream.get(), event.get()));
  EXPECT_OK(GetParam().call(stream.get(), event.get())) << "reported";
  for (const Reporter& other : kReporters) EXPECT_OK(other.call(stream.get(), event.get())) << other.name;
  EXPECT_EQ(block.Read(), Filled(1)) << "no effect";
  EXPECT_EQ(beside.Read(), Filled(2)) << "later tasks run";
}

TEST_P(FailureReport, IsStoredInTheThreadThatHears) {
  DeviceBlock block(Filled(1));
  Stream stream;
  Event event;
  Hold held(stream.get());
  Fail(block, stream.get());
  ASSERT_OK(aclrtRecordEvent(event.get(), stream.get()));
  Finish(held);
  const aclrtContext context = CurrentContext();
  OnNewThread([&] {
    ASSERT_OK(aclrtSetCurrentContext(context));
    // The code alone: a failed expectation would fetch the message.
    EXPECT_EQ(GetParam().call(stream.get(), event.get()), kCode);
    EXPECT_EQ(Peek(), kCode);
    EXPECT_EQ(Take(), kCode);
    EXPECT_EQ(Take(), ACL_SUCCESS);
    const std::string text = Message();
    EXPECT_NE(text.find("aclrtMemsetAsync"), std::string::npos) << "who submitted the task: " << text;
    EXPECT_NE(text.find(std::to_string(kCode)), std::string::npos) << text;
    EXPECT_EQ(Message(), "");
  });
  EXPECT_EQ(Peek(), ACL_SUCCESS) << "not in the thread that submitted it";
  EXPECT_EQ(Message(), "");
}

TEST_P(FailureReport, OtherStreamsHearNothing) {
  DeviceBlock block(Filled(1));
  Stream stream, other;
  Event event;
  ASSERT_OK(aclrtRecordEvent(event.get(), other.get()));
  ASSERT_OK(aclrtSynchronizeStream(other.get()));
  Hold held(stream.get());
  Fail(block, stream.get());
  Finish(held);
  const bool whole_device = std::strstr(GetParam().name, "Device") != nullptr;
  EXPECT_ACL(whole_device ? kCode : ACL_SUCCESS, GetParam().call(other.get(), event.get()));
  EXPECT_ACL(whole_device ? ACL_SUCCESS : kCode, aclrtSynchronizeStream(stream.get()));
}

TEST_F(Failure, FreeingWithASynchronisationReports) {
  void* memory = nullptr;
  ASSERT_OK(aclrtMalloc(&memory, kSize, ACL_MEM_MALLOC_HUGE_FIRST));
  void* pinned = nullptr;
  ASSERT_OK(aclrtMallocHost(&pinned, kSize));
  DeviceBlock block(Filled(1));
  Fail(block, nullptr);
  EXPECT_ACL(kCode, aclrtFreeWithDevSync(memory));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(memory)) << "freed all the same";
  Fail(block, nullptr);
  EXPECT_ACL(kCode, aclrtFreeHostWithDevSync(pinned));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
}

TEST_F(Failure, RecordsBeforeTheTaskDoNotCoverIt) {
  DeviceBlock block(Filled(1));
  Stream stream;
  Event before, after;
  Hold held(stream.get());
  ASSERT_OK(aclrtRecordEvent(before.get(), stream.get()));
  Fail(block, stream.get());
  ASSERT_OK(aclrtRecordEvent(after.get(), stream.get()));
  Finish(held);
  auto status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  EXPECT_OK(aclrtSynchronizeEvent(before.get()));
  EXPECT_OK(aclrtQueryEventStatus(before.get(), &status));
  EXPECT_EQ(status, ACL_EVENT_RECORDED_STATUS_COMPLETE);
  EXPECT_ACL(kCode, aclrtSynchronizeEvent(after.get()));
  EXPECT_OK(aclrtQueryEventStatus(after.get(), &status));
  EXPECT_EQ(status, ACL_EVENT_RECORDED_STATUS_NOT_READY) << "a failed record, already reported";
}

TEST_F(Failure, TheFirstOneIsKept) {
  DeviceBlock block(Filled(1));
  Stream stream;
  Fail(block, stream.get());
  Fail(block, stream.get(), kSecond);
  EXPECT_ACL(kCode, aclrtSynchronizeStream(stream.get()));
  EXPECT_OK(aclrtSynchronizeStream(stream.get())) << "the second went to the ledger only";
  Fail(block, stream.get(), kSecond);
  EXPECT_ACL(kSecond, aclrtSynchronizeStream(stream.get())) << "a new one after the report";
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
}

TEST_F(Failure, AnyCodeComesThrough) {
  DeviceBlock block(Filled(1));
  Stream stream;
  for (aclError code :
       {ACL_ERROR_RT_AICORE_TIMEOUT, ACL_ERROR_RT_AICORE_EXCEPTION, ACL_ERROR_RT_AICPU_TIMEOUT,
        ACL_ERROR_RT_AICPU_EXCEPTION, ACL_ERROR_RT_VECTOR_CORE_TIMEOUT, ACL_ERROR_RT_VECTOR_CORE_EXCEPTION,
        ACL_ERROR_RT_SYS_DMA, ACL_ERROR_RT_COPY_DATA, ACL_ERROR_RT_DEVICE_OOM, ACL_ERROR_RT_TASK_TIMEOUT}) {
    Fail(block, stream.get(), code);
    EXPECT_ACL(code, aclrtSynchronizeStream(stream.get()));
    EXPECT_OK(aclrtSynchronizeStream(stream.get()));
  }
  EXPECT_EQ(block.Read(), Filled(1));
}

TEST_F(Failure, EarliestOfSeveralStreams) {
  DeviceBlock block(Filled(1)), other(Filled(1));
  Stream a, b;
  Hold first(a.get()), second(b.get());
  Fail(block, a.get());
  Fail(other, b.get(), kSecond);
  EXPECT_TRUE(second.Land());
  EXPECT_TRUE(first.Land());
  EXPECT_ACL(kSecond, aclrtSynchronizeDevice()) << "the failure that happened first";
}

TEST_F(Failure, NeverAtAnUnrelatedCall) {
  DeviceBlock block(Filled(1)), beside(Filled(1));
  Stream stream, other;
  Event event;
  Hold held(stream.get());
  Fail(block, stream.get());
  Finish(held);
  void* memory = nullptr;
  size_t free = 0, total = 0;
  EXPECT_OK(aclrtMalloc(&memory, kSize, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclrtFree(memory));
  EXPECT_OK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
  Set(beside, 3, other.get());
  Set(block, 4, stream.get());
  EXPECT_OK(aclrtRecordEvent(event.get(), stream.get()));
  EXPECT_OK(aclrtStreamWaitEvent(other.get(), event.get()));
  held.Release();
  EXPECT_OK(aclrtSynchronizeStream(other.get())) << "it waited for a failed record, and did not fail itself";
  EXPECT_EQ(Peek(), ACL_SUCCESS);
  EXPECT_ACL(kCode, aclrtSynchronizeStream(stream.get()));
  EXPECT_EQ(block.Read(), Filled(4));
}

TEST_F(Failure, DestroyingForgets) {
  DeviceBlock block(Filled(1));
  {
    Stream stream;
    Fail(block, stream.get());
  }
  aclrtContext mine = CurrentContext(), context = nullptr;
  ASSERT_OK(aclrtCreateContext(&context, 0));
  Fail(block, nullptr);
  EXPECT_OK(aclrtDestroyContext(context));
  ASSERT_OK(aclrtSetCurrentContext(mine));
  EXPECT_OK(aclrtSynchronizeDevice());
  Hold held(nullptr);
  Fail(block, nullptr);
  Finish(held);
  held.Release();
  ASSERT_OK(aclrtFree(block.release()));
  EXPECT_OK(aclrtResetDevice(0)) << "the release itself worked";
  ASSERT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtSynchronizeDevice());
}

TEST_F(Failure, ExpiredWaitsReportNothing) {
  DeviceBlock block(Filled(1));
  Stream stream;
  Hold held(stream.get());
  Fail(block, stream.get());
  EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream.get(), 1));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeDeviceWithTimeout(1));
  EXPECT_EQ(Take(), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  held.Release();
  EXPECT_ACL(kCode, aclrtSynchronizeStream(stream.get()));
}

// SPEC 11 §2, 21 §5
TEST_F(Failure, EachFailingCallOverwritesTheLastError) {
  DeviceBlock block(Filled(1));
  Stream stream;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtFree(nullptr));
  Fail(block, stream.get());
  EXPECT_EQ(Peek(), ACL_ERROR_INVALID_PARAM);
  EXPECT_ACL(kCode, aclrtSynchronizeStream(stream.get()));
  EXPECT_EQ(Peek(), kCode);
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(99));
  EXPECT_EQ(Take(), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(Take(), ACL_SUCCESS);
  for (int level : {1, -1}) {
    EXPECT_EQ(aclrtPeekAtLastError(static_cast<aclrtLastErrLevel>(level)), ACL_ERROR_INVALID_PARAM);
  }
  EXPECT_EQ(Peek(), ACL_SUCCESS) << "those two calls store nothing";
}

}  // namespace
}  // namespace conformance
