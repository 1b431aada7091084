// SPEC 20 §3: the configuration handle and aclrtCreateStreamV2, which no product has.
#include "support.h"

namespace conformance {
namespace {

class StreamConfig : public OnDevice0 {
 protected:
  void SetUp() override {
    OnDevice0::SetUp();
    handle_ = aclrtCreateStreamConfigHandle();
    ASSERT_NE(handle_, nullptr);
  }
  void TearDown() override {
    EXPECT_TRUE(handle_ == nullptr || aclrtDestroyStreamConfigHandle(handle_) == ACL_SUCCESS);
    OnDevice0::TearDown();
  }

  template <typename Value>
  aclError Set(aclrtStreamConfigAttr attr, const Value& value, size_t size = sizeof(Value)) {
    return aclrtSetStreamConfigOpt(handle_, attr, &value, size);
  }

  aclrtStreamConfigHandle* handle_ = nullptr;
};

TEST_F(StreamConfig, AttributesAreStored) {
  void* work = UntouchedPointer();
  EXPECT_OK(Set(ACL_RT_STREAM_WORK_ADDR_PTR, work));
  EXPECT_OK(Set(ACL_RT_STREAM_WORK_SIZE, size_t{4096}));
  EXPECT_OK(Set(ACL_RT_STREAM_FLAG, size_t{ACL_STREAM_FAST_LAUNCH}));
  EXPECT_OK(Set(ACL_RT_STREAM_PRIORITY, uint32_t{3}));
  EXPECT_EQ(handle_->workptr, work);
  EXPECT_EQ(handle_->workSize, 4096u);
  EXPECT_EQ(handle_->flag, ACL_STREAM_FAST_LAUNCH);
  EXPECT_EQ(handle_->priority, 3u);
  EXPECT_OK(Set(ACL_RT_STREAM_PRIORITY, uint32_t{5})) << "the last one counts";
  EXPECT_EQ(handle_->priority, 5u);
  EXPECT_EQ(handle_->workSize, 4096u);
}

TEST_F(StreamConfig, RefusalsChangeNothing) {
  ASSERT_OK(Set(ACL_RT_STREAM_WORK_SIZE, size_t{64}));
  ASSERT_OK(Set(ACL_RT_STREAM_PRIORITY, uint32_t{2}));
  const size_t size = 128;
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
             aclrtSetStreamConfigOpt(nullptr, ACL_RT_STREAM_WORK_SIZE, &size, sizeof(size)));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
             aclrtSetStreamConfigOpt(handle_, ACL_RT_STREAM_WORK_SIZE, nullptr, sizeof(size)));
  for (int attr : {-1, 4, 1000}) {
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Set(static_cast<aclrtStreamConfigAttr>(attr), size)) << attr;
  }
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Set(ACL_RT_STREAM_WORK_ADDR_PTR, UntouchedPointer(), 4));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Set(ACL_RT_STREAM_FLAG, size, 1));
  for (size_t wrong : {size_t{0}, size_t{4}, size_t{16}}) {
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Set(ACL_RT_STREAM_WORK_SIZE, size, wrong)) << wrong;
  }
  for (size_t wrong : {size_t{0}, size_t{2}, size_t{8}}) {
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Set(ACL_RT_STREAM_PRIORITY, uint64_t{7}, wrong)) << wrong;
  }
  EXPECT_EQ(handle_->workSize, 64u);
  EXPECT_EQ(handle_->priority, 2u);
}

TEST_F(StreamConfig, HandlesAreIndependent) {
  aclrtStreamConfigHandle* other = aclrtCreateStreamConfigHandle();
  ASSERT_NE(other, nullptr);
  ASSERT_NE(other, handle_);
  const uint32_t priority = 6;
  ASSERT_OK(Set(ACL_RT_STREAM_PRIORITY, uint32_t{1}));
  ASSERT_OK(aclrtSetStreamConfigOpt(other, ACL_RT_STREAM_PRIORITY, &priority, sizeof(priority)));
  EXPECT_EQ(handle_->priority, 1u);
  EXPECT_EQ(other->priority, 6u);
  EXPECT_OK(aclrtDestroyStreamConfigHandle(other));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtDestroyStreamConfigHandle(nullptr));
}

TEST_F(StreamConfig, NeedsNoDevice) {
  OnNewThread([&] {
    EXPECT_OK(Set(ACL_RT_STREAM_PRIORITY, uint32_t{4}));
    aclrtStreamConfigHandle* other = aclrtCreateStreamConfigHandle();
    EXPECT_NE(other, nullptr);
    EXPECT_OK(aclrtDestroyStreamConfigHandle(other));
  });
  EXPECT_EQ(handle_->priority, 4u);
}

TEST_F(StreamConfig, NoProductCreatesFromIt) {
  ASSERT_OK(Set(ACL_RT_STREAM_FLAG, size_t{0}));
  aclrtStream stream = UntouchedPointer();
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtCreateStreamV2(&stream, handle_));
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtCreateStreamV2(&stream, handle_))
        << "comes before the context";
  });
  EXPECT_EQ(stream, UntouchedPointer());
}

}  // namespace
}  // namespace conformance
