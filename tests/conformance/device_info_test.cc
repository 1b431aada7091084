// SPEC 10 §§4.6, 5.1 to 5.4: what a program can ask of a device.
#include <set>

#include "steering.h"

namespace conformance {
namespace {

constexpr aclError kBad = ACL_ERROR_INVALID_PARAM, kNone = ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                   kId = ACL_ERROR_RT_INVALID_DEVICEID;
constexpr int64_t kKept = -77;

class DeviceInfo : public Clean {};

aclError Info(uint32_t device, int attribute, int64_t* value) {
  return aclrtGetDeviceInfo(device, static_cast<aclrtDevAttr>(attribute), value);
}

TEST_F(DeviceInfo, AttributesOfTheDefaultProduct) {
  size_t free = 0, total = 0;
  ASSERT_OK(aclrtSetDevice(3));
  ASSERT_OK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
  ASSERT_OK(aclrtResetDevice(3));
  const std::pair<int, int64_t> rows[] = {
      {1, 6},           {101, 20}, {102, 20}, {201, 40}, {301, static_cast<int64_t>(total)},
      {302, 192 << 20}, {401, 0},  {402, 3},  {406, 0},  {407, 0},
      {501, 0}};
  for (const auto& [attribute, expected] : rows) {
    int64_t value = kKept;
    EXPECT_OK(Info(3, attribute, &value));
    EXPECT_EQ(value, expected) << attribute;
  }
}

TEST_F(DeviceInfo, RefusalsWriteNothing) {
  int64_t value = kKept;
  for (int attribute : {0, 2, 100, 213, 502, -1}) EXPECT_ACL(kBad, Info(0, attribute, &value)) << attribute;
  for (int attribute : {202, 204, 205, 212, 403, 404, 405, 408, 409, 601})
    EXPECT_ACL(kNone, Info(0, attribute, &value)) << attribute;
  EXPECT_ACL(kNone, Info(99, 202, &value)) << "the product comes before the id";
  EXPECT_ACL(kBad, Info(99, 0, &value)) << "and so does the number";
  for (uint32_t bad : {8u, 99u, UINT32_MAX}) EXPECT_ACL(kId, Info(bad, 101, &value)) << bad;
  EXPECT_ACL(kBad, Info(0, 101, nullptr));
  EXPECT_EQ(value, kKept);
}

TEST_F(DeviceInfo, OlderCapabilities) {
  const int64_t expected[] = {20, 40, 192 << 20};
  for (int info = 0; info < 3; ++info) {
    int64_t value = kKept;
    EXPECT_OK(aclGetDeviceCapability(7, static_cast<aclDeviceInfo>(info), &value));
    EXPECT_EQ(value, expected[info]);
  }
  int64_t value = kKept;
  for (int info : {-1, 3})
    EXPECT_ACL(kBad, aclGetDeviceCapability(0, static_cast<aclDeviceInfo>(info), &value));
  EXPECT_ACL(kId, aclGetDeviceCapability(8, ACL_DEVICE_INFO_L2_SIZE, &value));
  EXPECT_ACL(kBad, aclGetDeviceCapability(0, ACL_DEVICE_INFO_L2_SIZE, nullptr));
  EXPECT_EQ(value, kKept);
}

TEST_F(DeviceInfo, Features) {
  int32_t value = -7;
  EXPECT_OK(aclrtGetDeviceCapability(0, ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV, &value));
  EXPECT_EQ(value, 1);
  EXPECT_OK(aclrtGetDeviceCapability(0, ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV, &value));
  EXPECT_EQ(value, 0);
  value = -7;
  for (int feature : {0, 2, 22})
    EXPECT_ACL(kBad, aclrtGetDeviceCapability(0, static_cast<aclrtDevFeatureType>(feature), &value));
  EXPECT_ACL(kId, aclrtGetDeviceCapability(-1, ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV, &value));
  EXPECT_ACL(kBad, aclrtGetDeviceCapability(0, ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV, nullptr));
  EXPECT_EQ(value, -7);
}

TEST_F(DeviceInfo, CannAttributes) {
  const aclCannAttr* list = nullptr;
  size_t count = 77;
  ASSERT_OK(aclGetCannAttributeList(&list, &count));
  EXPECT_EQ(std::vector<int>(list, list + count), (std::vector<int>{0, 1, 2}));
  for (int attribute = 0; attribute < 3; ++attribute) {
    int32_t value = -7;
    EXPECT_OK(aclGetCannAttribute(static_cast<aclCannAttr>(attribute), &value));
    EXPECT_EQ(value, 1);
  }
  int32_t value = -7;
  for (int attribute : {-1, 3})
    EXPECT_ACL(kBad, aclGetCannAttribute(static_cast<aclCannAttr>(attribute), &value));
  EXPECT_ACL(kBad, aclGetCannAttribute(ACL_CANN_ATTR_BF16, nullptr));
  EXPECT_ACL(kBad, aclGetCannAttributeList(nullptr, &count));
  EXPECT_ACL(kBad, aclGetCannAttributeList(&list, nullptr));
  EXPECT_EQ(value, -7);
}

TEST_F(DeviceInfo, StreamPriorityRange) {
  int32_t least = -7, greatest = -7;
  EXPECT_ACL(kBad, aclrtDeviceGetStreamPriorityRange(nullptr, &greatest));
  EXPECT_ACL(kBad, aclrtDeviceGetStreamPriorityRange(&least, nullptr));
  EXPECT_EQ(least, -7);
  EXPECT_EQ(greatest, -7);
  EXPECT_OK(aclrtDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT_EQ(least, 7);
  EXPECT_EQ(greatest, 0);
}

TEST_F(DeviceInfo, Uuids) {
  std::set<std::string> seen;
  for (int device = 0; device < DeviceCount(); ++device) {
    aclrtUuid uuid = {};
    EXPECT_OK(aclrtDeviceGetUuid(device, &uuid));
    seen.insert(std::string(uuid.bytes, sizeof(uuid.bytes)));
  }
  EXPECT_EQ(seen.size(), static_cast<size_t>(DeviceCount()));
  // SHA-256 of "belay:Ascend910B3:0", its first half.
  aclrtUuid first = {};
  ASSERT_OK(aclrtDeviceGetUuid(0, &first));
  EXPECT_EQ(std::memcmp(first.bytes, "\121\021\264\124\130\105\067\135\142\261\201\255\275\106\033\176", 16),
            0);
  EXPECT_ACL(kId, aclrtDeviceGetUuid(8, &first));
  EXPECT_ACL(kBad, aclrtDeviceGetUuid(0, nullptr));
}

TEST_F(DeviceInfo, Topology) {
  uint64_t value = kUntouched;
  EXPECT_ACL(kBad, aclrtGetDevicesTopo(2, 2, &value));
  EXPECT_ACL(kBad, aclrtGetDevicesTopo(99, 99, &value)) << "equal ids come before their range";
  EXPECT_ACL(kId, aclrtGetDevicesTopo(0, 8, &value));
  EXPECT_ACL(kId, aclrtGetDevicesTopo(UINT32_MAX, 0, &value));
  EXPECT_ACL(kBad, aclrtGetDevicesTopo(0, 1, nullptr));
  EXPECT_EQ(value, kUntouched);
  for (uint32_t a = 0; a < 8; ++a) {
    for (uint32_t b = 0; b < 8; ++b) {
      if (a == b) continue;
      EXPECT_OK(aclrtGetDevicesTopo(a, b, &value));
      EXPECT_EQ(value, 1u) << "HCCS";
    }
  }
}

TEST_F(DeviceInfo, Utilisation) {
  aclrtUtilizationInfo info;
  std::memset(&info, 0x5a, sizeof(info));
  EXPECT_ACL(kBad, aclrtGetDeviceUtilizationRate(0, &info)) << "the reserved member";
  info.utilizationExtend = nullptr;
  EXPECT_ACL(kId, aclrtGetDeviceUtilizationRate(8, &info));
  EXPECT_ACL(kBad, aclrtGetDeviceUtilizationRate(0, nullptr));
  EXPECT_EQ(info.cubeUtilization, 0x5a5a5a5a);
  EXPECT_OK(aclrtGetDeviceUtilizationRate(0, &info));
  EXPECT_EQ(info.cubeUtilization, 0);
  EXPECT_EQ(info.vectorUtilization, 0);
  EXPECT_EQ(info.aicpuUtilization, 0);
  EXPECT_EQ(info.memoryUtilization, -1);
}

TEST_F(DeviceInfo, StatusFollowsFaults) {
  auto status = ACL_RT_DEVICE_STATUS_END;
  EXPECT_OK(aclrtQueryDeviceStatus(0, &status));
  EXPECT_EQ(status, ACL_RT_DEVICE_STATUS_NORMAL);
  ASSERT_OK(aclrtSetDevice(0));
  {
    DeviceBlock block(64);
    Stream stream;
    ASSERT_OK(belay_fail_next_task(stream.get(), ACL_ERROR_RT_DEVICE_MEM_ERROR));
    ASSERT_OK(aclrtMemsetAsync(block.get(), 64, 1, 64, stream.get()));
    EXPECT_ACL(ACL_ERROR_RT_DEVICE_MEM_ERROR, aclrtSynchronizeStream(stream.get()));
    EXPECT_OK(aclrtQueryDeviceStatus(0, &status));
    EXPECT_EQ(status, ACL_RT_DEVICE_STATUS_ABNORMAL);
    EXPECT_OK(aclrtQueryDeviceStatus(1, &status));
    EXPECT_EQ(status, ACL_RT_DEVICE_STATUS_NORMAL) << "another device";
  }
  ASSERT_OK(aclrtResetDeviceForce(0));
  EXPECT_OK(aclrtQueryDeviceStatus(0, &status));
  EXPECT_EQ(status, ACL_RT_DEVICE_STATUS_NORMAL);
  EXPECT_ACL(kId, aclrtQueryDeviceStatus(8, &status));
  EXPECT_ACL(kBad, aclrtQueryDeviceStatus(0, nullptr));
}

TEST_F(DeviceInfo, TaskSchedulers) {
  EXPECT_OK(aclrtSetTsDevice(ACL_TS_ID_AICORE));
  EXPECT_OK(aclrtSetTsDevice(ACL_TS_ID_AIVECTOR));
  for (int id : {2, 3, -1}) EXPECT_ACL(kBad, aclrtSetTsDevice(static_cast<aclrtTsId>(id)));
}

TEST_F(DeviceInfo, IdsWithoutAMask) {
  int32_t id = -7;
  for (auto convert : {&aclrtGetLogicDevIdByUserDevId, &aclrtGetUserDevIdByLogicDevId,
                       &aclrtGetLogicDevIdByPhyDevId, &aclrtGetPhyDevIdByLogicDevId}) {
    EXPECT_OK(convert(5, &id));
    EXPECT_EQ(id, 5);
    id = -7;
    for (int bad : {8, -1}) EXPECT_ACL(kId, convert(bad, &id));
    EXPECT_ACL(kBad, convert(0, nullptr));
    EXPECT_EQ(id, -7);
  }
}

// Run for every family and version; Variant() is the family.
class DeviceProfile : public Clean {
 protected:
  static bool Is(const char* families) { return std::string(families).find(Variant()) != std::string::npos; }
  static bool AtLeast(const char* version) { return Cann() >= version; }
};

TEST_F(DeviceProfile, Attributes) {
  int64_t value = kKept;
  if (!AtLeast("8.5")) {
    EXPECT_ACL(kNone, Info(0, 101, &value)) << "came with 8.2";
    EXPECT_EQ(value, kKept);
    return;
  }
  const bool pod = Is("A3 950"), newest = AtLeast("9.1");
  for (int attribute : {403, 404, 405})
    EXPECT_ACL(pod ? ACL_SUCCESS : kNone, Info(1, attribute, &value)) << attribute;
  EXPECT_ACL(Is("950") ? kNone : ACL_SUCCESS, Info(1, 406, &value));
  for (int attribute : {408, 601}) EXPECT_ACL(newest ? ACL_SUCCESS : kNone, Info(1, attribute, &value));
  EXPECT_ACL(kNone, Info(1, 409, &value));
  for (int attribute = 202; attribute <= 212; ++attribute) {
    value = kKept;
    const bool zero = newest && !Is("950");  // this 950 has no table [simt]
    EXPECT_ACL(zero ? ACL_SUCCESS : kNone, Info(1, attribute, &value)) << attribute;
    EXPECT_EQ(value, zero ? 0 : kKept);
  }
  EXPECT_OK(Info(1, 402, &value));
  EXPECT_EQ(value, Is("A3") ? 0 : 1);
  EXPECT_OK(Info(0, 201, &value));
  EXPECT_EQ(value == 0, Is("TRN"));
}

TEST_F(DeviceProfile, Features) {
  const bool newer = Is("A2 A3 950");
  for (int attribute : {0, 1}) {
    int32_t value = -7;
    EXPECT_OK(aclGetCannAttribute(static_cast<aclCannAttr>(attribute), &value));
    EXPECT_EQ(value, newer ? 1 : 0);
  }
  int32_t value = -7;
  EXPECT_OK(aclGetCannAttribute(ACL_CANN_ATTR_JIT_COMPILE, &value));
  EXPECT_EQ(value, Is("950") ? 0 : 1);
  const aclCannAttr* list = nullptr;
  size_t count = 77;
  EXPECT_OK(aclGetCannAttributeList(&list, &count));
  EXPECT_EQ(count, Is("950") ? 2u : newer ? 3u : 1u);
  for (size_t i = 0; i < count; ++i) {
    EXPECT_OK(aclGetCannAttribute(list[i], &value));
    EXPECT_EQ(value, 1);
  }
  const aclError later = AtLeast("8.5") ? ACL_SUCCESS : kNone;
  value = -7;
  EXPECT_ACL(later, aclrtGetDeviceCapability(0, ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV, &value));
  EXPECT_EQ(value, later != ACL_SUCCESS ? -7 : newer ? 1 : 0);
  int32_t least = -7, greatest = -7;
  EXPECT_ACL(later, aclrtDeviceGetStreamPriorityRange(&least, &greatest));
  if (later == ACL_SUCCESS) {
    EXPECT_EQ(least, Is("200I") ? 0 : 7);
    EXPECT_EQ(greatest, 0);
  }
}

TEST_F(DeviceProfile, IdentityAndLinks) {
  aclrtUuid uuid = {};
  const bool named = Is("A2 A3 950") && AtLeast("8.5");
  EXPECT_ACL(named ? ACL_SUCCESS : kNone, aclrtDeviceGetUuid(0, &uuid));
  uint64_t link = kUntouched;
  const bool linked = !Is("200I") && AtLeast("8.5");  // that product is a board
  EXPECT_ACL(linked ? ACL_SUCCESS : kNone, aclrtGetDevicesTopo(0, 1, &link));
  if (linked) {
    EXPECT_EQ(link, Is("INF")   ? ACL_RT_DEVS_TOPOLOGY_PIX
                    : Is("A3")  ? ACL_RT_DEVS_TOPOLOGY_SIO
                    : Is("950") ? ACL_RT_DEVS_TOPOLOGY_HCCS_SW
                                : ACL_RT_DEVS_TOPOLOGY_HCCS);
  }
  aclrtUtilizationInfo info = {};
  EXPECT_OK(aclrtGetDeviceUtilizationRate(0, &info));
  EXPECT_EQ(info.vectorUtilization, Is("TRN") ? -1 : 0);
  int32_t id = -7;
  EXPECT_ACL(AtLeast("8.5") ? ACL_SUCCESS : kNone, aclrtGetLogicDevIdByUserDevId(0, &id));
  EXPECT_ACL(AtLeast("9.1") ? ACL_SUCCESS : kNone, aclrtGetPhyDevIdByUserDevId(0, &id));
  if (AtLeast("9.1")) {
    EXPECT_ACL(kId, aclrtGetPhyDevIdByUserDevId(99, &id));
  }
  EXPECT_ACL(kBad, aclrtGetPhyDevIdByUserDevId(0, nullptr));
}

TEST_F(DeviceProfile, Versions) {
  const std::string text = Cann() == "8.1" ? "8.1.RC1" : Cann() + ".0";
  for (int name = 0; name <= 7; ++name) {
    aclCANNPackageVersion version;
    std::memset(&version, 0x5a, sizeof(version));
    EXPECT_OK(aclsysGetCANNVersion(static_cast<aclCANNPackageName>(name), &version));
    if (name == ACL_PKG_NAME_DRIVER) {
      EXPECT_STREQ(version.version, "25.5.0");
      EXPECT_STREQ(version.majorVersion, "25");
      EXPECT_STREQ(version.minorVersion, "5");
      EXPECT_STREQ(version.releaseVersion, "0");
    } else {
      EXPECT_EQ(version.version, text);
      EXPECT_EQ(version.majorVersion, text.substr(0, 1));
      EXPECT_EQ(version.minorVersion, text.substr(2, 1));
      EXPECT_STREQ(version.releaseVersion, Cann() == "8.1" ? "RC1" : "0");
    }
    EXPECT_STREQ(version.patchVersion, "0");
  }
  aclCANNPackageVersion version;
  for (int name : {-1, 8})
    EXPECT_ACL(kBad, aclsysGetCANNVersion(static_cast<aclCANNPackageName>(name), &version));
  EXPECT_ACL(kBad, aclsysGetCANNVersion(ACL_PKG_NAME_CANN, nullptr));

  const aclError later = AtLeast("8.5") ? ACL_SUCCESS : kNone;
  char name[16] = "runtime", room[128] = "kept";
  int32_t number = -7;
  EXPECT_ACL(later, aclsysGetVersionStr(name, room));
  EXPECT_ACL(later, aclsysGetVersionNum(name, &number));
  EXPECT_ACL(kBad, aclsysGetVersionStr(nullptr, room));
  EXPECT_ACL(kBad, aclsysGetVersionStr(name, nullptr));
  EXPECT_ACL(kBad, aclsysGetVersionNum(nullptr, &number));
  EXPECT_ACL(kBad, aclsysGetVersionNum(name, nullptr));
  if (later != ACL_SUCCESS) {
    EXPECT_STREQ(room, "kept");
    EXPECT_EQ(number, -7);
    return;
  }
  EXPECT_EQ(room, text);
  EXPECT_EQ(number, (text[0] - '0') * 10000000 + (text[2] - '0') * 100000);
  for (const char* driver : {"driver", "firmware"}) {
    std::strcpy(name, driver);
    EXPECT_OK(aclsysGetVersionStr(name, room));
    EXPECT_STREQ(room, "25.5.0");
    EXPECT_OK(aclsysGetVersionNum(name, &number));
    EXPECT_EQ(number, 250500000);
  }
  std::strcpy(name, "no such");
  EXPECT_ACL(ACL_ERROR_INVALID_FILE, aclsysGetVersionStr(name, room));
  EXPECT_ACL(ACL_ERROR_INVALID_FILE, aclsysGetVersionNum(name, &number));
  EXPECT_STREQ(room, "25.5.0");
}

}  // namespace
}  // namespace conformance
