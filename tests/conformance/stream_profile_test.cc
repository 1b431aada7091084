// SPEC 20 §2.1, §3: what differs between product families and versions for streams. CONFORMANCE_VARIANT names
// the family; the runner makes a product of each.
#include <algorithm>

#include "steering.h"

namespace conformance {
namespace {

constexpr aclError kNone = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;

class StreamProfile : public OnTwoDevices {
 protected:
  static bool AtLeast(const char* version) { return Cann() >= version; }
  static aclError From(const char* version, aclError code = ACL_SUCCESS) {
    return AtLeast(version) ? code : kNone;
  }
  static bool Is(const char* family) { return Variant() == family; }
  static bool IsTraining() { return Is("950") || Is("A3") || Is("A2"); }

  static aclError SetAttribute(aclrtStream stream, aclrtStreamAttr attr, uint32_t number) {
    aclrtStreamAttrValue value;
    std::memset(&value, 0, sizeof(value));
    value.userCustomTag = number;
    return aclrtSetStreamAttribute(stream, attr, &value);
  }
  static aclError GetAttribute(aclrtStream stream, aclrtStreamAttr attr, uint32_t* number) {
    aclrtStreamAttrValue value;
    std::memset(&value, 0x5a, sizeof(value));
    const aclError code = aclrtGetStreamAttribute(stream, attr, &value);
    *number = value.userCustomTag;
    return code;
  }
};

TEST_F(StreamProfile, NumberOfStreams) {
  uint32_t limit = 1984;
  if (Is("A2") && !AtLeast("8.5")) limit = 2048;
  if (Is("200I")) limit = 512;
  if (Is("INF")) limit = 1024;
  if (Is("TRN")) limit = 2048;
  uint32_t left = 77;
  const bool counted = AtLeast("8.5");
  EXPECT_ACL(From("8.5"), aclrtGetStreamAvailableNum(&left));
  EXPECT_EQ(left, counted ? limit - 1 : 77);
  std::vector<aclrtStream> streams(limit - 1);
  for (aclrtStream& stream : streams) ASSERT_OK(aclrtCreateStream(&stream));
  aclrtStream extra = UntouchedPointer();
  EXPECT_ACL(ACL_ERROR_RT_NO_STREAM_RESOURCE, aclrtCreateStream(&extra));
  EXPECT_EQ(extra, UntouchedPointer());
  for (aclrtStream stream : streams) ASSERT_OK(aclrtDestroyStream(stream));
}

TEST_F(StreamProfile, FunctionsThatCameLater) {
  Stream stream;
  uint32_t value = 77;
  int32_t id = 77;
  EXPECT_ACL(From("8.5"), aclrtStreamGetId(stream.get(), &id));
  EXPECT_ACL(From("9.0"), aclrtStreamGetPriority(stream.get(), &value));
  EXPECT_ACL(From("9.0"), aclrtStreamGetFlags(stream.get(), &value));
  EXPECT_ACL(From("8.5", ACL_ERROR_RT_PARAM_INVALID), aclrtPersistentTaskClean(stream.get()));
  EXPECT_ACL(From("8.5"), SetAttribute(stream.get(), ACL_STREAM_ATTR_USER_CUSTOM_TAG, 5));
  EXPECT_ACL(From("8.5"), GetAttribute(stream.get(), ACL_STREAM_ATTR_USER_CUSTOM_TAG, &value));
  EXPECT_ACL(From("8.5"), SetAttribute(stream.get(), ACL_STREAM_ATTR_CACHE_OP_INFO, 1));
  EXPECT_OK(aclrtSetStreamOverflowSwitch(stream.get(), 1));
  EXPECT_OK(aclrtSetStreamFailureMode(stream.get(), 0));
  aclrtStreamConfigHandle* handle = aclrtCreateStreamConfigHandle();
  aclrtStream none = UntouchedPointer();
  EXPECT_ACL(kNone, aclrtCreateStreamV2(&none, handle)) << "in no profile";
  EXPECT_EQ(none, UntouchedPointer());
  EXPECT_OK(aclrtDestroyStreamConfigHandle(handle));
  EXPECT_OK(aclrtDestroyStreamForce(stream.release()));
}

TEST_F(StreamProfile, Priority) {
  if (!AtLeast("9.0") || Is("200I")) GTEST_SKIP() << "nothing to read";
  const bool used = AtLeast("9.1") || Is("INF");
  for (uint32_t priority : {0u, 3u, 7u, 8u, 1000u, UINT32_MAX}) {
    aclrtStream stream = nullptr;
    ASSERT_OK(aclrtCreateStreamWithConfig(&stream, priority, 0)) << priority;
    uint32_t got = 77;
    EXPECT_OK(aclrtStreamGetPriority(stream, &got));
    EXPECT_EQ(got, used ? std::min(priority, 7u) : 0u) << priority;
    EXPECT_OK(aclrtDestroyStream(stream));
  }
}

TEST_F(StreamProfile, PriorityOfTheInferenceFamilyBefore90) {
  if (Cann() != "8.5" || !Is("INF")) GTEST_SKIP() << "INF in 8.5 only";
  aclrtStream stream = UntouchedPointer();
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCreateStreamWithConfig(&stream, 8, 0));
  EXPECT_EQ(stream, UntouchedPointer());
  ASSERT_OK(aclrtCreateStreamWithConfig(&stream, 7, 0));
  EXPECT_OK(aclrtDestroyStream(stream));
}

TEST_F(StreamProfile, DeviceOnlyStreams) {
  if (Is("200I")) GTEST_SKIP() << "the call equals aclrtCreateStream there";
  aclrtStream stream = UntouchedPointer();
  if (!IsTraining()) {
    const uint32_t both = ACL_STREAM_DEVICE_USE_ONLY | ACL_STREAM_FAST_SYNC;
    EXPECT_ACL(kNone, aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_DEVICE_USE_ONLY));
    EXPECT_ACL(kNone, aclrtCreateStreamWithConfig(&stream, 0, both)) << "before the combination";
    OnNewThread([&] {
      EXPECT_ACL(kNone, aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_DEVICE_USE_ONLY))
          << "before the context";
    });
    EXPECT_EQ(stream, UntouchedPointer());
    return;
  }
  ASSERT_OK(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_DEVICE_USE_ONLY));
  EXPECT_OK(aclrtDestroyStream(stream));
}

TEST_F(StreamProfile, FailureModeOfTheDefaultStream) {
  bool allowed = false;
  if (AtLeast("9.0")) allowed = Is("A3") || Is("A2");
  if (AtLeast("9.1")) allowed = IsTraining();
  EXPECT_ACL(allowed ? ACL_SUCCESS : kNone, aclrtSetStreamFailureMode(nullptr, 0));
  EXPECT_ACL(allowed ? ACL_ERROR_INVALID_PARAM : kNone, aclrtSetStreamFailureMode(nullptr, 2));
  Stream stream;
  EXPECT_OK(aclrtSetStreamFailureMode(stream.get(), 1)) << "an explicit one";
}

TEST_F(StreamProfile, AttributesOfTheDefaultStream) {
  if (!AtLeast("8.5")) GTEST_SKIP() << "no attributes";
  const aclError code = IsTraining() ? ACL_SUCCESS : kNone;
  uint32_t value = 77;
  EXPECT_ACL(code, SetAttribute(nullptr, ACL_STREAM_ATTR_USER_CUSTOM_TAG, 5));
  EXPECT_ACL(code, GetAttribute(nullptr, ACL_STREAM_ATTR_USER_CUSTOM_TAG, &value));
  EXPECT_EQ(value, IsTraining() ? 5u : 0x5a5a5a5au);
  value = 77;
  EXPECT_ACL(code, aclrtSetStreamOverflowSwitch(nullptr, 1));
  EXPECT_ACL(code, aclrtGetStreamOverflowSwitch(nullptr, &value));
  EXPECT_EQ(value, IsTraining() ? 1u : 77u);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtGetStreamOverflowSwitch(nullptr, nullptr))
      << "null pointers first";
}

TEST_F(StreamProfile, ThePriorityAttribute) {
  if (!AtLeast("8.5")) GTEST_SKIP() << "no attributes";
  if (!AtLeast("9.1") && !IsTraining())
    GTEST_SKIP() << "too new, and not of this family: either code is right";
  aclrtStream stream = nullptr;
  ASSERT_OK(aclrtCreateStreamWithConfig(&stream, 3, 0));
  uint32_t value = 77;
  const bool there = AtLeast("9.1");
  const aclError code = !there ? ACL_ERROR_RT_PARAM_INVALID : IsTraining() ? ACL_SUCCESS : kNone;
  EXPECT_ACL(code, GetAttribute(stream, ACL_STREAM_ATTR_PRIORITY, &value));
  EXPECT_EQ(value, code == ACL_SUCCESS ? 3u : 0x5a5a5a5au);
  EXPECT_ACL(code, SetAttribute(stream, ACL_STREAM_ATTR_PRIORITY, 5));
  EXPECT_ACL(code == ACL_SUCCESS ? ACL_ERROR_INVALID_PARAM : code,
             SetAttribute(stream, ACL_STREAM_ATTR_PRIORITY, 8));
  if (code == ACL_SUCCESS) {
    EXPECT_OK(GetAttribute(stream, ACL_STREAM_ATTR_PRIORITY, &value));
    EXPECT_EQ(value, 5u);
  }
  EXPECT_OK(aclrtDestroyStream(stream));
}

TEST_F(StreamProfile, Abort) {
  Stream stream;
  EXPECT_ACL(IsTraining() ? ACL_SUCCESS : kNone, aclrtStreamAbort(stream.get()));
  if (!IsTraining()) {
    EXPECT_ACL(kNone, aclrtStreamAbort(UntouchedPointer())) << "before the handle";
    return;
  }
  const aclError refused = AtLeast("9.0") ? (Is("950") ? kNone : ACL_SUCCESS) : ACL_ERROR_INVALID_PARAM;
  EXPECT_ACL(refused, aclrtStreamAbort(nullptr));
}

TEST_F(StreamProfile, Stop) {
  Stream stream;
  const aclError ordinary = Is("950") ? From("8.5") : kNone;
  EXPECT_ACL(ordinary, aclrtStreamStop(stream.get()));
  EXPECT_OK(aclrtDestroyStreamForce(stream.release()));
  if (!IsTraining()) return;
  aclrtStream device_only = nullptr;
  ASSERT_OK(aclrtCreateStreamWithConfig(&device_only, 0, ACL_STREAM_DEVICE_USE_ONLY));
  EXPECT_ACL(From("8.5"), aclrtStreamStop(device_only));
  EXPECT_OK(aclrtDestroyStreamForce(device_only));
}

TEST_F(StreamProfile, StreamsOfModels) {
  Stream target, stream;
  DeviceBlock left(64), right(64);
  const aclError code = Is("A3") ? kNone : From("8.5", ACL_ERROR_RT_STREAM_MODEL);
  const auto change = [&](aclrtStream on_false) {
    return aclrtSwitchStream(left.get(), ACL_RT_EQUAL, right.get(), ACL_RT_SWITCH_INT32, target.get(),
                             on_false, stream.get());
  };
  EXPECT_ACL(code, aclrtActiveStream(target.get(), stream.get()));
  EXPECT_ACL(code, change(nullptr));
  const bool reserved = AtLeast("9.0") && !Is("A3");
  EXPECT_ACL(reserved ? ACL_ERROR_INVALID_PARAM : code, change(target.get())) << "an alternative before 9.0";
}

TEST_F(StreamProfile, ADeviceWaitCoversTheContextFrom90OnAndTheDeviceBefore) {
  DeviceBlock block(64);
  Stream stream;
  Hold hold(stream.get());
  ASSERT_OK(FillAsync(block, 1, stream.get()));
  InOtherContext([] {
    EXPECT_ACL(AtLeast("9.0") ? ACL_SUCCESS : ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
               aclrtSynchronizeDeviceWithTimeout(0));
  });
}

}  // namespace
}  // namespace conformance
