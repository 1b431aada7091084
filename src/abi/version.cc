// Versions: SPEC 11 §5.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "abi/call.h"
#include "belay/abi/bodies.h"

namespace belay::abi::body {
using check::FindingId;

namespace {
// The parts of "9.0.0" or "8.1.RC1"; a missing one is "0".
struct Parts {
  std::string part[4];
  explicit Parts(const char* text) {
    size_t count = 0;
    for (const char* at = text; count < 4; ++count) {
      const char* end = strchrnul(at, '.');
      part[count].assign(at, end);
      if (*end == '\0') break;
      at = end + 1;
    }
    for (std::string& each : part) {
      if (each.empty()) each = "0";
    }
  }
};

// Directories of share/info; all but the last two follow the version of the profile.
constexpr const char* kPackages[] = {"runtime", "compiler",   "hccl",   "toolkit",
                                     "opp",     "opp_kernel", "driver", "firmware"};

const char* VersionOf(const Call& call, const char* package) {
  for (const char* known : kPackages) {
    if (strcmp(known, package) != 0) continue;
    bool driver = strcmp(package, "driver") == 0 || strcmp(package, "firmware") == 0;
    return driver ? machine::kDriverVersionText : machine::CannVersionText(call.machine().cann());
  }
  return nullptr;
}

Status RefusePackage(const Call& call, const char* package) {
  return call.Refuse(code::kInvalidFile, FindingId::kBadArgument)
      .Say("pkgName is \"%.64s\", and there is no such package", package)
      .Rule("A package is a directory of share/info, or driver or firmware (SPEC 11 §5)")
      .Fix("pass runtime, compiler, hccl, toolkit, opp, opp_kernel, driver or firmware")
      .End();
}

template <size_t N>
void Put(char (&room)[N], const std::string& text) {
  snprintf(room, N, "%s", text.c_str());
}
}  // namespace

Status aclrtGetVersion(Call& call, int32_t* majorVersion, int32_t* minorVersion, int32_t* patchVersion) {
  machine::AclVersion version = call.machine().acl_version();
  *majorVersion = version.major;
  *minorVersion = version.minor;
  *patchVersion = version.patch;
  return Status();
}

Status aclsysGetCANNVersion(Call& call, aclCANNPackageName name, aclCANNPackageVersion* version) {
  if (name < ACL_PKG_NAME_CANN || name > ACL_PKG_NAME_DRIVER) {
    return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
        .Say("name is %d", static_cast<int>(name))
        .Rule("The packages are numbered 0 to 7 (SPEC 11 §5)")
        .Fix("pass a value of aclCANNPackageName")
        .End();
  }
  const char* text = name == ACL_PKG_NAME_DRIVER ? machine::kDriverVersionText
                                                 : machine::CannVersionText(call.machine().cann());
  const Parts parts(text);
  *version = {};
  Put(version->version, text);
  Put(version->majorVersion, parts.part[0]);
  Put(version->minorVersion, parts.part[1]);
  Put(version->releaseVersion, parts.part[2]);
  Put(version->patchVersion, parts.part[3]);
  return Status();
}

Status aclsysGetVersionStr(Call& call, char* pkgName, char* versionStr) {
  const char* text = VersionOf(call, pkgName);
  if (text == nullptr) return RefusePackage(call, pkgName);
  memcpy(versionStr, text, strlen(text) + 1);  // the caller has 128 bytes
  return Status();
}

Status aclsysGetVersionNum(Call& call, char* pkgName, int32_t* versionNum) {
  const char* text = VersionOf(call, pkgName);
  if (text == nullptr) return RefusePackage(call, pkgName);
  const Parts parts(text);
  // A release such as RC1 counts as 0.
  auto number = [&](int i) { return static_cast<int32_t>(strtol(parts.part[i].c_str(), nullptr, 10)); };
  *versionNum = number(0) * 10'000'000 + number(1) * 100'000 + number(2) * 1000 + number(3);
  return Status();
}

}  // namespace belay::abi::body
