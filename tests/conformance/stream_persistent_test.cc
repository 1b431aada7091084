// SPEC 20 §3, §3.1: streams whose tasks do not run on submission, and aclrtPersistentTaskClean.
#include "steering.h"

namespace conformance {
namespace {

constexpr size_t kSize = 4096;

class StreamPersistent : public OnTwoDevices {
 protected:
  void SetUp() override {
    OnTwoDevices::SetUp();
    ASSERT_OK(aclrtCreateStreamWithConfig(&stream_, 0, ACL_STREAM_PERSISTENT));
  }
  void TearDown() override {
    EXPECT_TRUE(stream_ == nullptr || aclrtDestroyStream(stream_) == ACL_SUCCESS);
    OnTwoDevices::TearDown();
  }
  aclrtStream stream_ = nullptr;
};

TEST_F(StreamPersistent, TasksAreStoredAndNotRun) {
  DeviceBlock block(Bytes(kSize, 1));
  ASSERT_OK(FillAsync(block, 2, stream_));
  EXPECT_OK(aclrtSynchronizeStream(stream_)) << "nothing is queued for execution";
  EXPECT_OK(aclrtSynchronizeStreamWithTimeout(stream_, 0));
  EXPECT_OK(aclrtSynchronizeDevice());
  EXPECT_TRUE(Holds(block, 1));
  uint32_t flags = 77;
  EXPECT_OK(aclrtStreamGetFlags(stream_, &flags));
  EXPECT_EQ(flags, ACL_STREAM_PERSISTENT);
  EXPECT_OK(aclrtDestroyStream(std::exchange(stream_, nullptr)));
  EXPECT_TRUE(Holds(block, 1)) << "they live until the stream is destroyed";
}

TEST_F(StreamPersistent, CleanDropsWhatIsStored) {
  DeviceBlock block(Bytes(kSize, 1));
  EXPECT_OK(aclrtPersistentTaskClean(stream_)) << "an empty one";
  ASSERT_OK(FillAsync(block, 2, stream_));
  EXPECT_OK(aclrtPersistentTaskClean(stream_));
  EXPECT_OK(aclrtSynchronizeStream(stream_));
  EXPECT_TRUE(Holds(block, 1));
  ASSERT_OK(FillAsync(block, 3, stream_)) << "the stream is usable";
}

TEST_F(StreamPersistent, CleanIsForPersistentStreams) {
  DeviceBlock block(Bytes(kSize, 1));
  Stream ordinary;
  Hold hold(ordinary.get());
  ASSERT_OK(FillAsync(block, 2, ordinary.get()));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtPersistentTaskClean(ordinary.get()));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtPersistentTaskClean(nullptr)) << "the default stream";
  hold.Release();
  EXPECT_OK(aclrtSynchronizeStream(ordinary.get()));
  EXPECT_TRUE(Holds(block, 2));
  for (aclrtStream dead : DeadStreams()) {
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtPersistentTaskClean(dead));
  }
  const auto foreign = [&] { EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtPersistentTaskClean(stream_)); };
  InOtherContext(foreign);
  ASSERT_OK(aclrtSetDevice(1));
  foreign();
  ASSERT_OK(aclrtSetDevice(0));
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtPersistentTaskClean(stream_));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtPersistentTaskClean(nullptr));
  });
}

}  // namespace
}  // namespace conformance
