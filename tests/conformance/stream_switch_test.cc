// SPEC 20 §3: aclrtActiveStream and aclrtSwitchStream on streams that no model binds. What they do in a
// model: chapter 22.
#include "steering.h"

namespace conformance {
namespace {

class StreamSwitch : public OnTwoDevices {
 protected:
  void SetUp() override {
    OnTwoDevices::SetUp();
    ASSERT_OK(aclrtMalloc(&left_, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    ASSERT_OK(aclrtMalloc(&right_, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    ASSERT_OK(aclrtMemset(left_, 64, 0, 64));
    ASSERT_OK(aclrtMemset(right_, 64, 0, 64));
  }
  void TearDown() override {
    EXPECT_OK(aclrtFree(left_));
    EXPECT_OK(aclrtFree(right_));
    OnTwoDevices::TearDown();
  }
  aclError Switch(aclrtStream on_true, aclrtStream stream, aclrtStream on_false = nullptr) {
    return aclrtSwitchStream(left_, ACL_RT_EQUAL, right_, ACL_RT_SWITCH_INT32, on_true, on_false, stream);
  }
  void* left_ = nullptr;
  void* right_ = nullptr;
};

TEST_F(StreamSwitch, UnboundStreams) {
  Stream target, stream;
  EXPECT_ACL(ACL_ERROR_RT_STREAM_MODEL, aclrtActiveStream(target.get(), stream.get()));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_MODEL, aclrtActiveStream(target.get(), nullptr));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_MODEL, Switch(target.get(), stream.get()));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_MODEL, Switch(target.get(), nullptr));
  EXPECT_EQ(Pending(stream.get()), 0u);
  EXPECT_OK(aclrtSynchronizeStream(stream.get())) << "nothing was submitted";
}

TEST_F(StreamSwitch, Arguments) {
  Stream target, other, stream;
  const auto call = [&](void* left, int cond, void* right, int type) {
    return aclrtSwitchStream(left, static_cast<aclrtCondition>(cond), right,
                             static_cast<aclrtCompareDataType>(type), target.get(), nullptr, stream.get());
  };
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, call(nullptr, ACL_RT_EQUAL, right_, ACL_RT_SWITCH_INT64));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, call(left_, ACL_RT_EQUAL, nullptr, ACL_RT_SWITCH_INT64));
  for (int bad : {-1, 6, 1000}) {
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, call(left_, bad, right_, ACL_RT_SWITCH_INT64)) << bad;
  }
  for (int bad : {-1, 2, 1000}) {
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, call(left_, ACL_RT_LESS, right_, bad)) << bad;
  }
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Switch(nullptr, stream.get()));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Switch(target.get(), stream.get(), other.get())) << "reserved in 9.0";
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtActiveStream(nullptr, stream.get()));
}

TEST_F(StreamSwitch, BadStreams) {
  Stream live, other;
  for (aclrtStream dead : DeadStreams()) {
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtActiveStream(dead, live.get()));
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtActiveStream(live.get(), dead));
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, Switch(dead, live.get()));
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, Switch(live.get(), dead));
  }
  InOtherContext([&] {
    EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtActiveStream(live.get(), other.get()));
    EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, Switch(live.get(), other.get()));
  });
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtActiveStream(live.get(), other.get()));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, Switch(live.get(), other.get()));
  });
}

}  // namespace
}  // namespace conformance
