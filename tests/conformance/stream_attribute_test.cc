// SPEC 20 §3.2: stream attributes, and the overflow switch that is one of them. What differs by product and
// version: stream_profile_test.cc.
#include "steering.h"

namespace conformance {
namespace {

constexpr auto kUnknown = static_cast<aclrtStreamAttr>(6);

aclrtStreamAttrValue Filled() {
  aclrtStreamAttrValue value;
  std::memset(&value, 0x5a, sizeof(value));
  return value;
}
bool IsUntouched(const aclrtStreamAttrValue& value) {
  const aclrtStreamAttrValue filled = Filled();
  return std::memcmp(&value, &filled, sizeof(value)) == 0;
}

aclError SetAttribute(aclrtStream stream, aclrtStreamAttr attr, uint64_t number) {
  aclrtStreamAttrValue value;
  std::memset(&value, 0, sizeof(value));
  if (attr == ACL_STREAM_ATTR_FAILURE_MODE) {
    value.failureMode = number;
  } else {
    value.userCustomTag = static_cast<uint32_t>(number);
  }
  return aclrtSetStreamAttribute(stream, attr, &value);
}

uint64_t Attribute(aclrtStream stream, aclrtStreamAttr attr) {
  aclrtStreamAttrValue value = Filled();
  EXPECT_OK(aclrtGetStreamAttribute(stream, attr, &value)) << attr;
  return attr == ACL_STREAM_ATTR_FAILURE_MODE ? value.failureMode : value.userCustomTag;
}

uint32_t OverflowSwitch(aclrtStream stream) {
  uint32_t flag = 77;
  EXPECT_OK(aclrtGetStreamOverflowSwitch(stream, &flag));
  return flag;
}

class StreamAttribute : public OnTwoDevices {};

TEST_F(StreamAttribute, Defaults) {
  Stream stream;
  for (aclrtStream s : {stream.get(), aclrtStream{nullptr}}) {
    EXPECT_EQ(Attribute(s, ACL_STREAM_ATTR_FAILURE_MODE), 0u);
    EXPECT_EQ(Attribute(s, ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK), 0u);
    EXPECT_EQ(Attribute(s, ACL_STREAM_ATTR_CACHE_OP_INFO), 0u);
    EXPECT_EQ(OverflowSwitch(s), 0u);
  }
}

TEST_F(StreamAttribute, ValuesAreKeptPerStream) {
  Stream stream, other;
  aclrtStream by_handle = nullptr;
  ASSERT_OK(aclrtCtxGetCurrentDefaultStream(&by_handle));
  EXPECT_OK(SetAttribute(stream.get(), ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK, 1));
  EXPECT_OK(SetAttribute(stream.get(), ACL_STREAM_ATTR_CACHE_OP_INFO, 1));
  EXPECT_OK(SetAttribute(stream.get(), ACL_STREAM_ATTR_USER_CUSTOM_TAG, 0xdeadbeef));
  EXPECT_OK(SetAttribute(other.get(), ACL_STREAM_ATTR_USER_CUSTOM_TAG, 0));
  EXPECT_OK(SetAttribute(nullptr, ACL_STREAM_ATTR_USER_CUSTOM_TAG, UINT32_MAX));
  EXPECT_EQ(Attribute(stream.get(), ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK), 1u);
  EXPECT_EQ(Attribute(stream.get(), ACL_STREAM_ATTR_CACHE_OP_INFO), 1u);
  EXPECT_EQ(Attribute(stream.get(), ACL_STREAM_ATTR_USER_CUSTOM_TAG), 0xdeadbeefu);
  EXPECT_EQ(Attribute(other.get(), ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK), 0u);
  EXPECT_EQ(Attribute(other.get(), ACL_STREAM_ATTR_CACHE_OP_INFO), 0u);
  EXPECT_EQ(Attribute(other.get(), ACL_STREAM_ATTR_USER_CUSTOM_TAG), 0u);
  EXPECT_EQ(Attribute(by_handle, ACL_STREAM_ATTR_USER_CUSTOM_TAG), UINT32_MAX);
  EXPECT_OK(SetAttribute(stream.get(), ACL_STREAM_ATTR_CACHE_OP_INFO, 0));
  EXPECT_EQ(Attribute(stream.get(), ACL_STREAM_ATTR_CACHE_OP_INFO), 0u);
}

TEST_F(StreamAttribute, TheOverflowSwitchIsOne) {
  Stream stream;
  EXPECT_OK(aclrtSetStreamOverflowSwitch(stream.get(), 1));
  EXPECT_EQ(Attribute(stream.get(), ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK), 1u);
  EXPECT_OK(SetAttribute(stream.get(), ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK, 0));
  EXPECT_EQ(OverflowSwitch(stream.get()), 0u);
  EXPECT_OK(aclrtSetStreamOverflowSwitch(nullptr, 1));
  EXPECT_EQ(OverflowSwitch(nullptr), 1u);
  EXPECT_EQ(OverflowSwitch(stream.get()), 0u);
}

TEST_F(StreamAttribute, TheFailureModeIsOne) {
  Stream stream, other;
  EXPECT_OK(aclrtSetStreamFailureMode(stream.get(), 1));
  EXPECT_EQ(Attribute(stream.get(), ACL_STREAM_ATTR_FAILURE_MODE), 1u);
  EXPECT_OK(SetAttribute(stream.get(), ACL_STREAM_ATTR_FAILURE_MODE, 1)) << "the same again";
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, SetAttribute(stream.get(), ACL_STREAM_ATTR_FAILURE_MODE, 0));
  EXPECT_EQ(Attribute(stream.get(), ACL_STREAM_ATTR_FAILURE_MODE), 1u);
  EXPECT_OK(SetAttribute(other.get(), ACL_STREAM_ATTR_FAILURE_MODE, 0));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtSetStreamFailureMode(other.get(), 1));
}

TEST_F(StreamAttribute, NumbersAndValues) {
  Stream stream;
  ASSERT_OK(SetAttribute(stream.get(), ACL_STREAM_ATTR_CACHE_OP_INFO, 1));
  ASSERT_OK(aclrtSetStreamOverflowSwitch(stream.get(), 1));
  for (int attr : {-1, 0, 6, 1000}) {
    aclrtStreamAttrValue value = Filled();
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, SetAttribute(stream.get(), static_cast<aclrtStreamAttr>(attr), 0))
        << attr;
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
               aclrtGetStreamAttribute(stream.get(), static_cast<aclrtStreamAttr>(attr), &value))
        << attr;
    EXPECT_TRUE(IsUntouched(value)) << attr;
  }
  for (uint64_t bad : {uint64_t{2}, uint64_t{UINT32_MAX}}) {
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, SetAttribute(stream.get(), ACL_STREAM_ATTR_FAILURE_MODE, bad));
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
               SetAttribute(stream.get(), ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK, bad));
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, SetAttribute(stream.get(), ACL_STREAM_ATTR_CACHE_OP_INFO, bad));
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
               aclrtSetStreamOverflowSwitch(stream.get(), static_cast<uint32_t>(bad)));
  }
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
             SetAttribute(stream.get(), ACL_STREAM_ATTR_FAILURE_MODE, uint64_t{1} << 32))
      << "64 bits count";
  EXPECT_EQ(Attribute(stream.get(), ACL_STREAM_ATTR_FAILURE_MODE), 0u);
  EXPECT_EQ(Attribute(stream.get(), ACL_STREAM_ATTR_CACHE_OP_INFO), 1u);
  EXPECT_EQ(OverflowSwitch(stream.get()), 1u);
  EXPECT_OK(SetAttribute(stream.get(), ACL_STREAM_ATTR_FAILURE_MODE, 1)) << "no refusal was the first call";
}

TEST_F(StreamAttribute, NullValues) {
  Stream stream;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
             aclrtSetStreamAttribute(stream.get(), ACL_STREAM_ATTR_USER_CUSTOM_TAG, nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
             aclrtGetStreamAttribute(stream.get(), ACL_STREAM_ATTR_USER_CUSTOM_TAG, nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetStreamOverflowSwitch(stream.get(), nullptr));
}

TEST_F(StreamAttribute, BadStreams) {
  for (aclrtStream dead : DeadStreams()) {
    aclrtStreamAttrValue value = Filled();
    uint32_t flag = 77;
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, SetAttribute(dead, ACL_STREAM_ATTR_USER_CUSTOM_TAG, 1));
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE,
               aclrtGetStreamAttribute(dead, ACL_STREAM_ATTR_USER_CUSTOM_TAG, &value));
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtSetStreamOverflowSwitch(dead, 1));
    EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtGetStreamOverflowSwitch(dead, &flag));
    EXPECT_TRUE(IsUntouched(value));
    EXPECT_EQ(flag, 77u);
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, SetAttribute(dead, kUnknown, 1)) << "values come before handles";
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtSetStreamOverflowSwitch(dead, 2));
  }
}

TEST_F(StreamAttribute, ForeignStreamsCanOnlyBeRead) {
  Stream stream;
  ASSERT_OK(SetAttribute(stream.get(), ACL_STREAM_ATTR_USER_CUSTOM_TAG, 5));
  const auto foreign = [&] {
    uint32_t flag = 77;
    EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, SetAttribute(stream.get(), ACL_STREAM_ATTR_USER_CUSTOM_TAG, 6));
    EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtSetStreamOverflowSwitch(stream.get(), 1));
    EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, aclrtGetStreamOverflowSwitch(stream.get(), &flag));
    EXPECT_EQ(flag, 77u);
    EXPECT_EQ(Attribute(stream.get(), ACL_STREAM_ATTR_USER_CUSTOM_TAG), 5u);
  };
  InOtherContext(foreign);
  ASSERT_OK(aclrtSetDevice(1));
  foreign();
  ASSERT_OK(aclrtSetDevice(0));
}

TEST_F(StreamAttribute, NeedsADevice) {
  Stream stream;
  OnNewThread([&] {
    for (aclrtStream s : {stream.get(), aclrtStream{nullptr}}) {
      aclrtStreamAttrValue value = Filled();
      uint32_t flag = 77;
      EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, SetAttribute(s, ACL_STREAM_ATTR_USER_CUSTOM_TAG, 1));
      EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL,
                 aclrtGetStreamAttribute(s, ACL_STREAM_ATTR_USER_CUSTOM_TAG, &value));
      EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtSetStreamOverflowSwitch(s, 1));
      EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetStreamOverflowSwitch(s, &flag));
      EXPECT_ACL(ACL_ERROR_INVALID_PARAM, SetAttribute(s, kUnknown, 1)) << "values come before the context";
      EXPECT_TRUE(IsUntouched(value));
      EXPECT_EQ(flag, 77u);
    }
  });
}

// In this profile, 9.0, the attribute is one of a newer version: an observed exception to README rule 1.
TEST_F(StreamAttribute, PriorityIsNewer) {
  Stream stream;
  aclrtStreamAttrValue value = Filled();
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, SetAttribute(stream.get(), ACL_STREAM_ATTR_PRIORITY, 3));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID,
             aclrtGetStreamAttribute(stream.get(), ACL_STREAM_ATTR_PRIORITY, &value));
  EXPECT_TRUE(IsUntouched(value));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
             aclrtSetStreamAttribute(stream.get(), ACL_STREAM_ATTR_PRIORITY, nullptr));
}

}  // namespace
}  // namespace conformance
