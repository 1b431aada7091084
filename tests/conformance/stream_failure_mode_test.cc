// SPEC 20 §3: the arguments of aclrtSetStreamFailureMode. What the modes do: chapter 21.
#include "steering.h"

namespace conformance {
namespace {

constexpr uint64_t kContinue = 0;
constexpr uint64_t kStop = 1;

class StreamFailureMode : public OnTwoDevices {};

TEST_F(StreamFailureMode, OncePerStream) {
  for (uint64_t mode : {kContinue, kStop}) {
    Stream stream, other;
    EXPECT_OK(aclrtSetStreamFailureMode(stream.get(), mode));
    EXPECT_OK(aclrtSetStreamFailureMode(stream.get(), mode)) << "the same again";
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSetStreamFailureMode(stream.get(), 1 - mode));
    EXPECT_OK(aclrtSetStreamFailureMode(stream.get(), mode)) << "the refusal changed nothing";
    EXPECT_OK(aclrtSetStreamFailureMode(other.get(), mode)) << "each stream has its own";
  }
}

TEST_F(StreamFailureMode, Modes) {
  Stream stream;
  for (uint64_t bad : {uint64_t{2}, uint64_t{1} << 32, UINT64_MAX}) {
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtSetStreamFailureMode(stream.get(), bad)) << bad;
  }
  EXPECT_OK(aclrtSetStreamFailureMode(stream.get(), kStop)) << "no refusal was the first call";
}

TEST_F(StreamFailureMode, TheDefaultStream) {
  aclrtStream handle = nullptr;
  ASSERT_OK(aclrtCtxGetCurrentDefaultStream(&handle));
  EXPECT_OK(aclrtSetStreamFailureMode(nullptr, kContinue));
  EXPECT_OK(aclrtSetStreamFailureMode(handle, kContinue));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSetStreamFailureMode(handle, kStop)) << "the same stream";
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSetStreamFailureMode(nullptr, kStop));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtSetStreamFailureMode(nullptr, 2));
}

TEST_F(StreamFailureMode, BadStreams) {
  for (aclrtStream dead : DeadStreams()) {
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtSetStreamFailureMode(dead, kStop));
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtSetStreamFailureMode(dead, 2)) << "values come before handles";
  }
  Stream stream;
  const auto foreign = [&] {
    EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtSetStreamFailureMode(stream.get(), kStop));
  };
  InOtherContext(foreign);
  ASSERT_OK(aclrtSetDevice(1));
  foreign();
  ASSERT_OK(aclrtSetDevice(0));
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtSetStreamFailureMode(stream.get(), kStop));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtSetStreamFailureMode(nullptr, kStop));
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtSetStreamFailureMode(nullptr, 2))
        << "values come before the context";
  });
  EXPECT_OK(aclrtSetStreamFailureMode(stream.get(), kContinue)) << "no refusal was the first call";
}

}  // namespace
}  // namespace conformance
