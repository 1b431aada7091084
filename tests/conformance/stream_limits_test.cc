// SPEC 20 §2.1: how many streams a device has. The suites need a product with four of them; the documented
// numbers: stream_basic_test.cc and stream_profile_test.cc.
#include "steering.h"

namespace conformance {
namespace {

constexpr uint32_t kLimit = 4;

uint32_t Available() {
  uint32_t left = 77;
  EXPECT_OK(aclrtGetStreamAvailableNum(&left));
  return left;
}

class FourStreams : public OnTwoDevices {
 protected:
  void SetUp() override {
    if (Variant() != "small limits" && Variant() != "old code")
      GTEST_SKIP() << "needs a product of four streams";
    OnTwoDevices::SetUp();
    code_ = Variant() == "old code" ? ACL_ERROR_RT_RESOURCE_ALLOC_FAIL : ACL_ERROR_RT_NO_STREAM_RESOURCE;
  }
  aclError code_ = 0;
};

TEST_F(FourStreams, TheLimitCountsEveryStream) {
  EXPECT_EQ(Available(), kLimit - 1) << "the default stream counts";
  aclrtStream streams[3] = {};
  ASSERT_OK(aclrtCreateStream(&streams[0]));
  EXPECT_EQ(Available(), 2u);
  ASSERT_OK(aclrtCreateStreamWithConfig(&streams[1], 0, ACL_STREAM_PERSISTENT));
  EXPECT_EQ(Available(), 1u);
  ASSERT_OK(aclrtCreateStreamWithConfig(&streams[2], 0, ACL_STREAM_DEVICE_USE_ONLY));
  EXPECT_EQ(Available(), 0u);
  aclrtStream extra = UntouchedPointer();
  EXPECT_ACL(code_, aclrtCreateStream(&extra));
  EXPECT_ACL(code_, aclrtCreateStreamWithConfig(&extra, 0, ACL_STREAM_FAST_LAUNCH));
  EXPECT_EQ(extra, UntouchedPointer());
  EXPECT_EQ(Available(), 0u);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCreateStream(nullptr)) << "resources come last";
  for (aclrtStream stream : streams) EXPECT_OK(aclrtDestroyStream(stream));
  EXPECT_EQ(Available(), kLimit - 1);
}

TEST_F(FourStreams, ContextsTakeOneEach) {
  {
    OtherContext a;
    EXPECT_EQ(Available(), kLimit - 2);
    OtherContext b;
    EXPECT_EQ(Available(), kLimit - 3);
    Stream last;
    EXPECT_EQ(Available(), 0u);
    aclrtContext context = UntouchedPointer();
    EXPECT_ACL(code_, aclrtCreateContext(&context, 0)) << "it would bring a default stream";
    EXPECT_EQ(context, UntouchedPointer());
  }
  EXPECT_EQ(Available(), kLimit - 1) << "given back with the contexts";
}

TEST_F(FourStreams, TheLimitIsTheDevices) {
  Stream a, b, c;
  EXPECT_EQ(Available(), 0u);
  ASSERT_OK(aclrtSetDevice(1));
  EXPECT_EQ(Available(), kLimit - 1);
  { Stream there; }
  ASSERT_OK(aclrtSetDevice(0));
}

TEST_F(FourStreams, NumbersAreReused) {
  Stream a, b, c;
  ASSERT_OK(aclrtDestroyStream(a.release()));
  ASSERT_OK(aclrtDestroyStream(c.release()));
  int32_t id = -1;
  Stream lower;
  ASSERT_OK(aclrtStreamGetId(lower.get(), &id));
  EXPECT_EQ(id, 1) << "the lowest free number";
  Stream higher;
  ASSERT_OK(aclrtStreamGetId(higher.get(), &id));
  EXPECT_EQ(id, 3);
}

}  // namespace
}  // namespace conformance
