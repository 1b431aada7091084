// aclInit, aclFinalize, errors and versions: SPEC 10 §§1, 2 and 11 §§2, 3, 5.
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "abi/call.h"
#include "belay/abi/bodies.h"

namespace belay::abi::body {
using check::FindingId;
using runtime::Runtime;

namespace {
constexpr off_t kMostBytes = 10 << 20;  // SPEC 10 §1.2

Status RefuseFile(const Call& call, int32_t code, const char* path, const char* why) {
  return call.Refuse(code, FindingId::kBadArgument)
      .Say("configPath \"%s\": %s", path, why)
      .Rule("The configuration is a readable JSON file with an object at top level (SPEC 10 §1.2)")
      .Fix("correct the path or the file, or pass a null pointer for the defaults")
      .End();
}

// An empty object means the defaults. The keys of others are built later, and are not passed over silently.
Status ReadConfiguration(const Call& call, const char* path) {
  struct stat info;
  if (stat(path, &info) != 0) return RefuseFile(call, code::kInvalidFile, path, strerror(errno));
  if (S_ISDIR(info.st_mode)) return RefuseFile(call, code::kInvalidFile, path, "is a directory");
  if (info.st_size > kMostBytes)
    return RefuseFile(call, code::kInvalidFileSize, path, "is larger than 10 MiB");
  FILE* file = fopen(path, "re");
  if (file == nullptr) return RefuseFile(call, code::kInvalidFile, path, strerror(errno));
  std::string text;
  for (int c; (c = fgetc(file)) != EOF;) {
    if (strchr(" \t\r\n", c) == nullptr) text += static_cast<char>(c);
  }
  fclose(file);
  if (text == "{}") return Status();
  if (text.empty() || text.front() != '{' || text.back() != '}') {
    return RefuseFile(call, code::kParseFile, path, "is not a JSON object");
  }
  return call.Refuse(code::kNotSupported, FindingId::kUnsupported)
      .Say("configPath \"%s\" sets keys, which is not built yet in this version of Belay", path)
      .Rule("What is not there answers 207000 and never succeeds silently (SPEC 00 rule 7)")
      .Fix("pass a null pointer or a file with {} for now")
      .End();
}
}  // namespace

Status aclInit(Call& call, const char* configPath) {
  call.runtime().NoteFirstCall(call.now());
  if (configPath != nullptr) BELAY_TRY(ReadConfiguration(call, configPath));
  if (call.runtime().Init(call.now()) == Runtime::InitResult::kFirst) return Status();
  return call.Refuse(code::kRepeatInitialize, FindingId::kBadArgument)
      .Say("the process is initialised already")
      .Benign()
      .Plain()
      .End();
}

namespace {
Status Finalize(Call& call, bool all, uint64_t* left) {
  switch (call.runtime().Finalize(all, call.now(), left)) {
    case Runtime::FinalizeResult::kDone:
    case Runtime::FinalizeResult::kStillReferenced:
      return Status();
    case Runtime::FinalizeResult::kNeverInitialised:
      return call.Refuse(code::kUninitialized, FindingId::kBadArgument)
          .Say("%s without a successful aclInit", call.name())
          .Rule("Finalising ends what aclInit began (SPEC 10 §2.2)")
          .Fix("call aclInit first, or leave out %s", call.name())
          .End();
    case Runtime::FinalizeResult::kAlreadyFinalised:
      return call.Refuse(code::kRepeatFinalize, FindingId::kAfterFinalize)
          .Say("the runtime was finalised before")
          .Rule("Each initialisation is finalised once (SPEC 10 §2.2)")
          .Fix("leave out the second %s", call.name())
          .With("finalised", call.runtime().finalised())
          .End();
  }
  return Status();
}
}  // namespace

Status aclFinalize(Call& call) {
  uint64_t left = 0;
  return Finalize(call, true, &left);
}

Status aclFinalizeReference(Call& call, uint64_t* refCount) {
  uint64_t left = 0;
  Status status = Finalize(call, false, &left);
  if (refCount != nullptr) *refCount = left;  // SPEC 10 §2.2: also when refused
  return status;
}

namespace {
Status RefuseLevel(Call& call, aclrtLastErrLevel level) {
  // SPEC 11 §2: the variable is neither read nor set.
  return call.Refuse(code::kInvalidParam, FindingId::kBadArgument)
      .Say("level is %d", static_cast<int>(level))
      .Rule("The only level is ACL_RT_THREAD_LEVEL, 0 (SPEC 11 §2)")
      .Fix("pass ACL_RT_THREAD_LEVEL")
      .Benign()
      .End();
}
}  // namespace

Status aclrtGetLastError(Call& call, aclrtLastErrLevel level) {
  if (level != ACL_RT_THREAD_LEVEL) return RefuseLevel(call, level);
  return Status(std::exchange(call.thread().last_error, 0));
}

Status aclrtPeekAtLastError(Call& call, aclrtLastErrLevel level) {
  if (level != ACL_RT_THREAD_LEVEL) return RefuseLevel(call, level);
  return Status(call.thread().last_error);
}

const char* aclGetRecentErrMsg(Call& call) {
  return call.thread().errors.Take(call.machine().cann());
}

Status aclrtGetVersion(Call& call, int32_t* majorVersion, int32_t* minorVersion, int32_t* patchVersion) {
  machine::AclVersion version = call.machine().acl_version();
  *majorVersion = version.major;
  *minorVersion = version.minor;
  *patchVersion = version.patch;
  return Status();
}

}  // namespace belay::abi::body
