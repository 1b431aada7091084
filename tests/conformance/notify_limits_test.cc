// SPEC 20 §2.1: how many notifies a device has. FourNotifies needs a product with four of them.
#include "event_notify.h"

namespace conformance {
namespace {

void FillUp(uint32_t limit) {
  std::vector<aclrtNotify> notifies(limit);
  for (aclrtNotify& notify : notifies) ASSERT_OK(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
  aclrtNotify extra = UntouchedPointer();
  EXPECT_ACL(ACL_ERROR_RT_NO_NOTIFY_RESOURCE, aclrtCreateNotify(&extra, ACL_NOTIFY_DEFAULT));
  EXPECT_ACL(ACL_ERROR_RT_NO_NOTIFY_RESOURCE, aclrtCreateNotify(&extra, ACL_NOTIFY_DEVICE_USE_ONLY));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCreateNotify(&extra, 2)) << "resources come last";
  EXPECT_EQ(extra, UntouchedPointer());
  ASSERT_OK(aclrtSetDevice(1));
  { Notify elsewhere; }
  ASSERT_OK(aclrtSetDevice(0));
  ASSERT_OK(aclrtDestroyNotify(notifies[limit / 2]));
  ASSERT_OK(aclrtCreateNotify(&notifies[limit / 2], ACL_NOTIFY_DEFAULT));
  EXPECT_ACL(ACL_ERROR_RT_NO_NOTIFY_RESOURCE, aclrtCreateNotify(&extra, ACL_NOTIFY_DEFAULT));
  for (aclrtNotify notify : notifies) EXPECT_OK(aclrtDestroyNotify(notify));
}

class FourNotifies : public OnTwoDevices {
 protected:
  void SetUp() override {
    if (Variant() != "small limits") GTEST_SKIP() << "needs a product of four notifies";
    OnTwoDevices::SetUp();
  }
};

TEST_F(FourNotifies, CreationFailsAtTheLimit) {
  for (int round = 0; round < 2; ++round) FillUp(4);
}

class NotifyLimits : public OnTwoDevices {};

TEST_F(NotifyLimits, TheDocumentedNumber) {
  FillUp(OnSoc("Ascend310P") ? 1024 : 8192);
}

}  // namespace
}  // namespace conformance
