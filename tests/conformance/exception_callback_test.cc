// SPEC 21 §4: the callback that hears of failed tasks, and what it can ask.
#include <stdexcept>

#include "threads.h"

namespace conformance {
namespace {

constexpr size_t kSize = 256;
constexpr uint32_t kNothing = 0xFFFFFFFF;

struct Heard {
  uint32_t task, stream, thread, device, code;
  std::thread::id on;
  aclrtExceptionInfo* info;
};

Heard Ask(aclrtExceptionInfo* info) {
  return {aclrtGetTaskIdFromExceptionInfo(info),
          aclrtGetStreamIdFromExceptionInfo(info),
          aclrtGetThreadIdFromExceptionInfo(info),
          aclrtGetDeviceIdFromExceptionInfo(info),
          aclrtGetErrorCodeFromExceptionInfo(info),
          std::this_thread::get_id(),
          info};
}

// The callback has no user data.
struct Record {
  std::mutex mutex;
  std::vector<Heard> heard;
  std::atomic<int> inside{0}, most_inside{0};
  std::function<void()> also;  // runs in the callback
} record;

void Hear(aclrtExceptionInfo* info) {
  const int inside = ++record.inside;
  if (inside > record.most_inside) record.most_inside = inside;
  std::function<void()> also;
  {
    const std::lock_guard lock(record.mutex);
    record.heard.push_back(Ask(info));
    also = record.also;
  }
  if (also) also();
  --record.inside;
}

size_t HeardCount() {
  const std::lock_guard lock(record.mutex);
  return record.heard.size();
}

void OtherCallback(aclrtExceptionInfo*) {
  ++record.most_inside;
}

class ExceptionCallback : public OnTwoDevices {
 protected:
  void SetUp() override {
    OnTwoDevices::SetUp();
    SKIP_UNLESS_BUILT(aclrtSetExceptionInfoCallback(&Hear));
    record.heard.clear();
    record.most_inside = 0;
    record.also = nullptr;
  }
  void TearDown() override {
    aclrtSetExceptionInfoCallback(nullptr);  // refused where the test was skipped
    OnTwoDevices::TearDown();
  }
  static void Set(const DeviceBlock& block, int value, aclrtStream stream) {
    ASSERT_OK(aclrtMemsetAsync(block.get(), kSize, value, kSize, stream));
  }
  static void Fail(const DeviceBlock& block, aclError code, aclrtStream stream) {
    FailNext(stream, code);
    Set(block, 99, stream);
  }
};

TEST_F(ExceptionCallback, NullInfoTellsNothing) {
  EXPECT_EQ(aclrtGetTaskIdFromExceptionInfo(nullptr), kNothing);
  EXPECT_EQ(aclrtGetStreamIdFromExceptionInfo(nullptr), kNothing);
  EXPECT_EQ(aclrtGetThreadIdFromExceptionInfo(nullptr), kNothing);
  EXPECT_EQ(aclrtGetDeviceIdFromExceptionInfo(nullptr), kNothing);
  EXPECT_EQ(aclrtGetErrorCodeFromExceptionInfo(nullptr), kNothing);
}

TEST_F(ExceptionCallback, SettingNeedsNoContext) {
  OnNewThread([] { EXPECT_OK(aclrtSetExceptionInfoCallback(&Hear)); });
  EXPECT_OK(aclrtSetExceptionInfoCallback(nullptr));
  EXPECT_OK(aclrtSetExceptionInfoCallback(nullptr));
}

TEST_F(ExceptionCallback, TellsWhoFailed) {
  Stream first, stream;  // their ids differ
  DeviceBlock block(kSize);
  for (int i = 0; i < 3; ++i) Set(block, i, stream.get());
  uint32_t submitter = 0;
  const aclrtContext context = CurrentContext();
  OnNewThread([&] {
    submitter = ThreadNumber();
    ASSERT_OK(aclrtSetCurrentContext(context));
    Fail(block, ACL_ERROR_RT_AICORE_EXCEPTION, stream.get());
  });
  Set(block, 5, stream.get());
  EXPECT_ACL(ACL_ERROR_RT_AICORE_EXCEPTION, aclrtSynchronizeStream(stream.get()));
  ASSERT_EQ(HeardCount(), 1u) << "once for the task, before the failure is reported";
  const Heard heard = record.heard[0];
  int32_t id = -1;
  ASSERT_OK(aclrtStreamGetId(stream.get(), &id));
  EXPECT_EQ(heard.task, 3u) << "counted from 0 in its stream";
  EXPECT_EQ(heard.stream, static_cast<uint32_t>(id));
  EXPECT_EQ(heard.thread, submitter);
  EXPECT_EQ(heard.device, 0u);
  EXPECT_EQ(heard.code, static_cast<uint32_t>(ACL_ERROR_RT_AICORE_EXCEPTION));
  EXPECT_NE(heard.on, std::this_thread::get_id()) << "a thread of the runtime";
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_EQ(HeardCount(), 1u);
}

TEST_F(ExceptionCallback, NamesTheDevice) {
  ASSERT_OK(aclrtSetDevice(1));
  DeviceBlock block(kSize);
  Fail(block, ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, nullptr);
  EXPECT_ACL(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, aclrtSynchronizeStream(nullptr));
  ASSERT_EQ(HeardCount(), 1u);
  EXPECT_EQ(record.heard[0].device, 1u);
  EXPECT_EQ(record.heard[0].code, static_cast<uint32_t>(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION));
}

TEST_F(ExceptionCallback, EveryFailedTaskIsHeard) {
  Stream stream;
  DeviceBlock block(kSize);
  const aclError codes[] = {ACL_ERROR_RT_AICORE_EXCEPTION, ACL_ERROR_RT_AICPU_EXCEPTION,
                            ACL_ERROR_RT_SYS_DMA};
  for (aclError code : codes) Fail(block, code, stream.get());
  EXPECT_ACL(codes[0], aclrtSynchronizeStream(stream.get()));
  ASSERT_EQ(HeardCount(), 3u) << "also those that no call returns";
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(record.heard[i].task, i);
    EXPECT_EQ(record.heard[i].code, static_cast<uint32_t>(codes[i]));
  }
}

TEST_F(ExceptionCallback, InfoDiesWithTheCall) {
  Stream stream;
  DeviceBlock block(kSize);
  Fail(block, ACL_ERROR_RT_AICORE_EXCEPTION, stream.get());
  EXPECT_ACL(ACL_ERROR_RT_AICORE_EXCEPTION, aclrtSynchronizeStream(stream.get()));
  ASSERT_EQ(HeardCount(), 1u);
  const Heard late = Ask(record.heard[0].info);
  EXPECT_EQ(late.task, kNothing);
  EXPECT_EQ(late.stream, kNothing);
  EXPECT_EQ(late.thread, kNothing);
  EXPECT_EQ(late.device, kNothing);
  EXPECT_EQ(late.code, kNothing);
}

TEST_F(ExceptionCallback, RunsBeforeTheFailureIsVisible) {
  Flag entered, go;
  record.also = [&] {
    entered.Set();
    go.Wait();
  };
  Stream stream;
  DeviceBlock block(kSize);
  aclrtEvent event = nullptr;
  ASSERT_OK(aclrtCreateEvent(&event));
  const aclrtContext context = CurrentContext();
  aclError code = -1;
  // Submits and drives the stream: with no workers and in an eager schedule the task runs in a call of this
  // thread.
  std::thread driver([&] {
    ASSERT_OK(aclrtSetCurrentContext(context));
    Fail(block, ACL_ERROR_RT_AICORE_EXCEPTION, stream.get());
    ASSERT_OK(aclrtRecordEvent(event, stream.get()));
    code = aclrtSynchronizeStream(stream.get());
  });
  entered.Wait();
  for (int i = 0; i < 100; ++i) {
    auto status = ACL_STREAM_STATUS_RESERVED;
    EXPECT_OK(aclrtStreamQuery(stream.get(), &status));
    EXPECT_EQ(status, ACL_STREAM_STATUS_NOT_READY);
  }
  EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream.get(), 0));
  go.Set();
  driver.join();
  EXPECT_ACL(ACL_ERROR_RT_AICORE_EXCEPTION, code);
  EXPECT_OK(aclrtDestroyEvent(event));
}

TEST_F(ExceptionCallback, OneAtATime) {
  constexpr int kStreams = 8, kEach = 5;
  Stream streams[kStreams];
  std::vector<std::unique_ptr<DeviceBlock>> blocks;
  {
    std::vector<std::unique_ptr<Hold>> held;
    for (const Stream& stream : streams) held.push_back(std::make_unique<Hold>(stream.get()));
    for (const Stream& stream : streams) {
      blocks.push_back(std::make_unique<DeviceBlock>(kSize));
      for (int i = 0; i < kEach; ++i) Fail(*blocks.back(), ACL_ERROR_RT_AICORE_EXCEPTION, stream.get());
    }
    EXPECT_EQ(HeardCount(), 0u);
  }
  for (const Stream& stream : streams) {
    EXPECT_ACL(ACL_ERROR_RT_AICORE_EXCEPTION, aclrtSynchronizeStream(stream.get()));
  }
  EXPECT_EQ(HeardCount(), size_t{kStreams * kEach});
  EXPECT_EQ(record.most_inside, 1);
}

TEST_F(ExceptionCallback, LastSetterWins) {
  Stream stream;
  DeviceBlock block(kSize);
  const auto fail = [&] {
    Fail(block, ACL_ERROR_RT_AICORE_EXCEPTION, stream.get());
    EXPECT_ACL(ACL_ERROR_RT_AICORE_EXCEPTION, aclrtSynchronizeStream(stream.get()));
  };
  ASSERT_OK(aclrtSetExceptionInfoCallback(&OtherCallback));
  fail();
  EXPECT_EQ(record.most_inside, 1) << "the other one ran";
  EXPECT_EQ(HeardCount(), 0u);
  ASSERT_OK(aclrtSetExceptionInfoCallback(nullptr));
  fail();
  EXPECT_EQ(record.most_inside, 1);
  ASSERT_OK(aclrtSetExceptionInfoCallback(&Hear));
  fail();
  EXPECT_EQ(HeardCount(), 1u);
}

TEST_F(ExceptionCallback, SilentForWhatDidNotFail) {
  Stream stream, stopped;
  DeviceBlock block(kSize), dropped(kSize);
  {
    Hold held(stream.get());
    Set(block, 1, stream.get());
    EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream.get(), 1));
  }
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_EQ(HeardCount(), 0u) << "a wait that expires";
  {
    Hold held(stream.get());
    Set(block, 1, stream.get());
    SKIP_UNLESS_BUILT(aclrtDeviceTaskAbort(0, 0));
  }
  EXPECT_EQ(HeardCount(), 0u) << "aborted tasks";
  ASSERT_OK(aclrtSetStreamFailureMode(stream.get(), ACL_STOP_ON_FAILURE));
  Hold held(stopped.get());
  for (int i = 0; i < 3; ++i) Set(dropped, i, stopped.get());
  Fail(block, ACL_ERROR_RT_AICORE_EXCEPTION, stream.get());
  EXPECT_ACL(ACL_ERROR_RT_AICORE_EXCEPTION, aclrtSynchronizeStream(stream.get()));
  EXPECT_EQ(HeardCount(), 1u) << "the failed task, not the dropped ones";
}

TEST_F(ExceptionCallback, MayNotWaitForItsStream) {
  Stream stream;
  DeviceBlock block(kSize);
  const aclrtContext context = CurrentContext();
  aclError codes[2] = {-1, -1};
  std::string text = "-";
  record.also = [&] {
    EXPECT_OK(aclrtSetCurrentContext(context));
    codes[0] = aclrtSynchronizeStream(stream.get());
    codes[1] = aclrtSynchronizeDevice();
    text = Message();
  };
  Fail(block, ACL_ERROR_RT_AICORE_EXCEPTION, stream.get());
  EXPECT_ACL(ACL_ERROR_RT_AICORE_EXCEPTION, aclrtSynchronizeStream(stream.get()));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, codes[0]);
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, codes[1]);
  EXPECT_NE(text, "");
}

TEST_F(ExceptionCallback, ThrowingDoesNoHarm) {
  Stream stream;
  DeviceBlock block(kSize);
  record.also = [] {
    --record.inside;
    throw std::runtime_error("from the exception callback");
  };
  Fail(block, ACL_ERROR_RT_AICORE_EXCEPTION, stream.get());
  EXPECT_ACL(ACL_ERROR_RT_AICORE_EXCEPTION, aclrtSynchronizeStream(stream.get()));
  EXPECT_EQ(HeardCount(), 1u);
}

}  // namespace
}  // namespace conformance
